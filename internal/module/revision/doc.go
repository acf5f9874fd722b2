// Package revision keeps the short history of what a Manifest was asked to install: when a revision begins, how it ended, which ones are
// kept, and which one is the way back.
//
// It is pure, and it refers to content by digests.
//
// Non-goals: it keeps no content, and decides neither when a module goes back nor whether a version can take over from another one.
package revision
