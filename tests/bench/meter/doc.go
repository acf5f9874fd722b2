// Package meter answers: what did a process or a server spend?
//
// It reads what the kernel, the metrics and the profiles of a program and the revision of an API server's store tell: processor time,
// memory, connections, true writes. Two readings make a cost. It also keeps the times of many operations that run at once.
//
// It refuses to start, stop or slow down what it looks at, and it never makes up a figure: what cannot be read is an error.
package meter
