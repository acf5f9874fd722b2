// Package engine has the algorithm of an installation that the Manifest controller and pkg/installer have in common: in which order the
// objects of several parts are applied, what a part waits for, what a failure stops, and how a wave of deletions is followed.
//
// Its callers are adapters: they render the parts, observe the cluster (by watch streams or by reads), store the record (in a status or in
// Secrets) and report. See docs/adr/0023-engine.md.
//
// Non-goals: it reads and writes no cluster itself, keeps no state between calls, and words no status. Writes are pkg/apply's, decisions
// about single objects pkg/inventory's.
package engine
