// Package operations answers one question: what happens between the click of a user and the end of what it asked for?
//
// A Deed is a requested change. The Engine shows beforehand what it would change (Preview, by dry runs on the API server), and carries
// it out (Start) as that user, step by step, in the background. Running operations are recorded in ConfigMaps, one for each
// operation, so that a closed page, another page and another server know of it; no token is in there. When the server ends in the middle
// of an operation, the next person who may do the same resumes it: every deed may be repeated, and continues where it was.
//
// Whether something may be done at all is decided by package view (WayToInstall, NextToDelete) and by package edit, and it is written by
// packages edit and direct, exactly as for the command line.
//
// Non-goals: it knows no HTTP, keeps no credential longer than an operation runs, acts only with the permissions of the user who
// asked, and deletes nothing that was not shown.
package operations
