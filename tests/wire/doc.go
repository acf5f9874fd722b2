// Package wire holds still what others depend on: definitions, flags, JSON fields, names of metrics, labels, Leases and Secrets, reasons.
//
// It gathers these facts from the code as it is, one line each, and its test compares them with the lines in testdata. A line that is
// missing is a wire name that a rename has changed. What is new is recorded by `go run ./tests/wire/record`, which only adds lines: to give
// a wire name up on purpose, delete its line by hand and say so in CHANGELOG.md.
//
// Non-goals: it says nothing of behaviour, and does not know Go names of packages, types and functions, which may change freely.
package wire
