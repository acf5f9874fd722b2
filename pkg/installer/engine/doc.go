// Package engine has the algorithm of an installation that the Manifest controller and pkg/installer have in common: in which order the
// objects of several parts are applied, what a part waits for, what a failure stops, how waves of deletions are followed, and by which
// steps a record that needs several objects is written.
//
// Its callers are adapters: they render the parts, observe the cluster (by watch streams or by reads), store the record (in a status or in
// Secrets) and report. See docs/adr/0023-engine.md.
//
// Non-goals: it has no client of its own, keeps no state between calls, and words no status. Writes are pkg/apply's, decisions
// about single objects pkg/inventory's.
package engine
