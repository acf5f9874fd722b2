// Package collection answers: which modules does a catalog offer, who vouches for it, and what is wrong with it?
//
// A catalog is a file, all-modules.yaml or all-modules.json, with ModuleTemplates and, if it has channels, ModuleReleaseMetas. Parse reads
// one, Fetch gets one from a web server, an OCI registry or a namespace, Lint and Check say what is wrong with one, Build makes one of the
// folder that contributors write to, and Export makes such a folder of what a cluster offers. A Shelf keeps the sources that people added.
//
// It refuses to dial addresses of private networks for somebody who is not allowed to, to follow a redirect there, to read more than its
// limits, to take a catalog whose digest or signature is another one than was asked for, and to install anything.
package collection
