// Package shards answers: do several managers that share the Kymas work on each of them once, whatever happens to one of the managers?
//
// Three real managers run in one process against a real hub and a real runtime. They are ended, cut off from the hub and stopped in the
// middle of a request; what each of them sent is recorded by manager and bucket. That no schedule at all leads to two writers is for
// the simulation in internal/manager/sharding; here the parts are the real ones.
package shards
