// Package console answers one question: how does a command communicate with its user?
//
// Data goes to standard output, in the format that was requested; everything else (progress, questions, warnings, errors) goes to
// standard error. On a terminal progress is redrawn and questions are asked; elsewhere every change of progress is one line, and a
// question is refused with the flag that answers it, so that no script ever hangs.
//
// What it refuses to do: it decides nothing about clusters or modules, reads no flag by itself, and prints no value twice.
package console
