// Package installable answers one question: what does a component version install, in the words of a Manifest?
//
// The lifecycle manager writes the answer into Manifests, and the command line and the dashboard compute the same one for versions that are
// not installed yet, so that the digests that both name are equal.
//
// Non-goals: it reads no registry, verifies no signature and decides nothing about a module.
package installable
