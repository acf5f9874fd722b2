package descriptor

// HoldsNothing tells whether an access type says that a resource has no content. It is written exactly so or so: with these, and with no
// other spelling, OCM leaves the resource's digest out of what is signed, so that whatever digest stands there is worth nothing.
func HoldsNothing(accessType string) bool { return accessType == "none" || accessType == "None" }
