// Package matrix defines 37 faults: how they are injected, and which cause the Kyma's status must report meanwhile.
//
// A Fault is a value: its name, how to break and fix it, and the words of which the status must contain one. A cell of the matrix is a
// fault and an operation. Faults with several forms alternate them, by operation and seed, so that each form meets several operations.
//
// The package runs nothing (package trial does) and does not count a fault that could not be injected as one that was survived.
package matrix
