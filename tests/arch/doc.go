// Package arch answers: does the tree still have the shape that docs/architecture.md promises?
//
// Each rule is a function from the source tree to the places that break it, each place with what to do about it. The rules
// read syntax only and never load types, so they take a second and work on a tree that does not compile. What a linter can
// see in one file stands in .golangci.yml.
package arch
