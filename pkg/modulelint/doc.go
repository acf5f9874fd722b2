// Package modulelint reports whether a module would work, as far as its files show.
//
// It checks a configuration that moduleconfig has read, the manifest and the default custom resource, without a cluster: images name a
// version, the manager is in the manifest and has the version of the module, an API server accepts the definitions, and the default
// resource fits its definition, by schema and by CEL rules. [Images] lists what a component version must name.
//
// Non-goals: it opens no file and follows no link; only the given [FetchFunc], if there is one, requests links. It changes nothing and
// guesses nothing: a value that only looks like an image is none. Findings do not quote values of the default resource.
package modulelint
