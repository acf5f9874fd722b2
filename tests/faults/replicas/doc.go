// Package replicas answers one question: what happens to an operation when one of several managers that share the Kymas comes, dies,
// ends or stands still in the middle of it?
//
// Three real managers share the work by short leases. A clean run of an operation tells how many writes it makes; at any of them the write
// is held on the wire, and one of the three is struck: the one that has the Kyma, or the one that assigns. Afterwards all must be as
// after the clean run, without any help but the other replicas'; no bucket may have changed hands that did not have to, and what a
// replica had still in its hands when its time was up must have been refused, and counted.
//
// What it refuses to do: it does not prove that no schedule whatever leads to two writers (the simulation in internal/manager/sharding
// does), and it does not promise that a write never arrives late: no one can take back what is on a wire.
package replicas
