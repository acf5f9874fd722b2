// Package oracle checks that everything ended as it would have without the fault, and that nothing forbidden happened.
//
// It has three parts. A State is the end state of the hub and the runtime, without details that differ from run to run, and is compared
// with that of a run without faults. The never-list is checked for every call that a manager made: it deletes nothing that is not marked as
// ours, lowers no version, applies nothing that was not published, writes to no cluster but the Kyma's own, and leaves objects of others as
// they are. Bounds limit the log, the calls and the memory.
//
// The package repairs nothing, and has no knowledge of the fault.
package oracle
