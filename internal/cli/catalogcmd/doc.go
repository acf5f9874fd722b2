// Package catalogcmd answers one question: what does a user type to make a community catalog, to check it, and to keep its address?
//
// What it refuses to do: what a catalog is, what is wrong with one and how it is read is package collection's.
package catalogcmd
