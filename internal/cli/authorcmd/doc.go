// Package authorcmd answers one question: how does an author make, sign and publish a module from the command line?
//
// What it refuses to do: it decides nothing. It reads flags, calls the package that decides, and prints the result.
package authorcmd
