// Package editcmd answers one question: how does the command line change which modules a cluster has?
//
// What it refuses to do: it decides nothing. It reads flags, calls the package that decides, and prints the result.
package editcmd
