// Package communitycatalog answers: which modules does a catalog offer, who vouches for it, and what is wrong with it?
//
// A catalog is a file, all-modules.yaml or all-modules.json, with ModuleTemplates and, if it has channels, ModuleReleaseMetas. Parse reads
// one, Fetch gets one from a web server, an OCI registry or a namespace, Lint and Check say what is wrong with one, Build makes one of the
// folder that contributors write to, and Export makes such a folder of what a cluster offers. A Shelf keeps the sources that users added.
//
// Non-goals: it does not dial private networks for users without that permission, follow redirects there, read more than its
// limits, accept a catalog with an unexpected digest or signature, or install anything.
package communitycatalog
