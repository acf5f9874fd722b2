// Package manifest answers: what has to happen in a cluster so that a Manifest is installed there, stays whole and goes away again?
//
// One reconcile reads what it needs (observe.go), lets pkg/inventory decide, writes by pkg/apply (act.go, remove.go) and reports
// (report.go) with at most one write of the status at its end; the planned inventory is written before the first object. A reconcile that
// finds nothing to do makes no API call, neither to the hub nor to the cluster.
package manifest
