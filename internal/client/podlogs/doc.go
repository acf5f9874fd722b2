// Package podlogs answers one question: what has a container printed, in lines that are harmless to show?
//
// Open and Copy read a log as the user, in bounded steps, bytes and time. Lines is the pure part: it cuts a stream of any bytes into lines
// without escape sequences, control characters and characters that reorder text, with valid UTF-8 and a bounded length.
//
// Non-goals: it finds no pods, keeps nothing, and removes no secrets: what a program prints is what its users may read with kubectl logs.
package podlogs
