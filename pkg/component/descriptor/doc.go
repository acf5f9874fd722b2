// Package descriptor answers one question: what does this OCM component version hold, and where do its layers lie?
//
// It reads component versions from an OCI registry with oras and a small decoder of its own, because the OCM library brings
// about 1,900 packages and 100 MiB into whoever links it, and the manager needs four HTTP requests and a YAML file of it.
// It understands the schemas v2 and ocm.software/v3alpha1, the media types that OCM uses and the older ones that it still reads,
// and both ways in which OCM maps a component name to a repository.
//
// What it refuses to do: it never writes, never fetches a resource's content (pkg/content does, by the digest that is told
// here), keeps nothing between two calls, and trusts nothing: every byte is bounded in size and checked against its digest
// before it is looked at. Every failure is an *Error whose Reason a condition can carry; only a cancelled context is passed on
// as it is, since that says nothing about the registry.
package descriptor
