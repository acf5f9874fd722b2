// Package resourcetree answers one question: how do the objects of a module hang together, and what of each may a user see?
//
// Of builds the tree: what the module installs and its custom resources at the top, and below each what it owns. Nothing is lost, owner
// references that lead in a circle end, and the number of nodes is bounded. An object that is missing, one that may not be read, and one
// that was not looked at are three different things. Show returns an object without the values of Secrets, in a bounded size; Difference
// returns in which of the fields that a version sets the cluster differs.
//
// Non-goals: it reads no cluster (package treereader does), and judges no object: packages health and rootcause do.
package resourcetree
