// Package clustercmd answers one question: how does the command line bring clusters and the lifecycle manager itself to life?
//
// What it refuses to do: it decides nothing. It reads flags, calls the package that decides, and prints the result.
package clustercmd
