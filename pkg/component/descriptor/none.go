package descriptor

// HoldsNothing reports whether an access type means that a resource has no content. Only these two spellings count: only with these, OCM
// excludes the resource's digest from signing, so that any digest there is worthless.
func HoldsNothing(accessType string) bool { return accessType == "none" || accessType == "None" }
