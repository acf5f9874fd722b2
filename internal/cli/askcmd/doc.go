// Package askcmd answers one question: how does the command line show what a version of a module asks for: rights, and other modules?
//
// What it refuses to do: it decides nothing and changes nothing; editcmd gives consent, and adds what is missing.
package askcmd
