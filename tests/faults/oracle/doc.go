// Package oracle answers one question: did everything end as it would have without the fault, and did nothing happen that never may?
//
// It has three parts. A State is what the hub and the runtime hold in the end, without what differs from run to run, and is compared
// with that of a run without faults. The never-list is checked on every call that a manager made: nothing is deleted that is not
// marked as ours, no version goes down, nothing is applied that was not published, nothing is written to a cluster that is not the
// Kyma's, and objects of others stay as they are. Bounds hold the log, the calls and the memory.
//
// What it refuses to do: it repairs nothing, and it does not know which fault there was.
package oracle
