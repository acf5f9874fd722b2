// Package descriptor reads OCM component versions: what they hold, and where their layers are.
//
// It reads component versions from an OCI registry with oras and a small decoder of its own, because the OCM library adds about 1,900
// packages and 100 MiB to a program that links it, and the manager needs only four HTTP requests and a YAML file.
// It supports the schemas v2 and ocm.software/v3alpha1, the media types that OCM uses and the older ones that it still reads,
// and both of OCM's mappings of a component name to a repository.
//
// Non-goals: it never writes, never fetches a resource's content (pkg/content does, by the digest that this package returns), keeps no
// state between two calls, and trusts no input: every byte is bounded in size and checked against its digest before it is parsed. Every
// failure is an *Error whose Reason fits a condition, except that the error of a cancelled context is returned as it is, since it says
// nothing about the registry.
package descriptor
