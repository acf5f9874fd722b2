// Package revision keeps the short history of what a Manifest was asked to install: when a revision begins, how it ended, which ones are
// kept, and which one is the way back.
//
// It is pure, and it refers to content by digests; it neither keeps content nor decides whether a version may go back.
package revision
