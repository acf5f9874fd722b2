// Package modulelint answers: would this module work, as far as its files can tell?
//
// It looks at a configuration that moduleconfig has read, at the manifest and at the default custom resource, without a cluster: images
// name a version, the manager is in the manifest and has the version of the module, the definitions are such that an API server takes
// them, and the default resource fits its definition, by schema and by CEL rules. [Images] lists what a component version must name.
//
// Non-goals: it opens no file and follows no link; links are requested by the [FetchFunc] that it is given, if there is one. It changes
// nothing and guesses nothing: a value that only looks like an image is none. Findings do not quote values of the default resource.
package modulelint
