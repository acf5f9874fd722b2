// Package getcmd answers one question: what does the command line show of modules in a cluster?
//
// What it refuses to do: it decides nothing. It reads flags, calls the package that decides, and prints the result.
package getcmd
