// Package communitycatalog answers one question: which modules does a catalog offer, how is it verified, and which problems does it have?
//
// A catalog is a file, all-modules.yaml or all-modules.json, with ModuleTemplates and, if it has channels, ModuleReleaseMetas. Parse reads
// a catalog, Fetch fetches it from a web server, an OCI registry or a namespace, Lint and Check report its problems, Build makes one from
// the folder that contributors edit, and Export makes such a folder from the modules of a cluster. A SourceStore stores the sources that
// users added.
//
// Non-goals: it does not dial private networks for users without that permission, follow redirects there, read more than its limits, accept
// a catalog with an unexpected digest or signature, or install anything.
package communitycatalog
