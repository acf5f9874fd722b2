// Package matrix answers one question: which 37 things can break, how are they broken here, and what has the Kyma's status to say
// meanwhile?
//
// A Fault is a value: its name, what breaks and fixes it, and the words of which the status must have one. A cell of the matrix is
// a fault and an operation. Faults with several forms take them in turn, by operation and seed, so that each form meets several operations.
//
// What it refuses to do: it runs nothing (package trial) and does not count a fault that could not be injected as one that was survived.
package matrix
