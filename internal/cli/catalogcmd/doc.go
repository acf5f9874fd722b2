// Package catalogcmd answers one question: what does a user type to make a community catalog, to check it, and to keep its address?
//
// What it refuses to do: package communitycatalog defines what a catalog is, checks it and reads it.
package catalogcmd
