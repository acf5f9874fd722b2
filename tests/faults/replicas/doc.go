// Package replicas checks an operation while one of several managers that share the Kymas is started, dies, ends or is stopped in the
// middle of it.
//
// Three real managers share the work by short leases. A clean run of an operation shows how many writes it makes. At any of them the write
// is held on the wire, and one of the three is struck: the owner of the Kyma, or the replica that assigns. Afterwards everything must be as
// after the clean run, with the help of the other replicas only. No bucket may have moved without need, and the writes that a replica still
// had in flight when its lease expired must have been refused, and counted.
//
// The package does not prove that no schedule leads to two writers (the simulation in internal/manager/sharding does), and it does not
// promise that a write never arrives late: a request on the wire cannot be recalled.
package replicas
