// Package collectioncmd answers one question: what does a person type to make a community catalog, to check it, and to keep its address?
//
// What it refuses to do: what a catalog is, what is wrong with one and how it is read is package collection's.
package collectioncmd
