// Package task answers one question: what happens between the click of a person and the end of what it asked for?
//
// A Deed is what somebody asks for. The Engine says beforehand what it would change (Preview, by dry runs on the API server), and carries
// it out (Start) as that person, step by step, while nobody has to look on. What is under way is written into ConfigMaps, one for each
// operation, so that a closed page, another page and another server know of it; no token is in there. When the server ends in the middle
// of an operation, the next person who may do the same resumes it: every deed may be repeated, and goes on where it was.
//
// Whether something may be done at all is decided by package view (WayToInstall, NextToDelete) and by package edit, and it is written by
// packages edit and direct, exactly as for the command line.
//
// What it refuses to do: it knows no HTTP, keeps no credential longer than an operation runs, does nothing as anybody but the person who
// asked, and deletes nothing that was not shown.
package task
