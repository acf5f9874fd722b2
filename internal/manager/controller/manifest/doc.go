// Package manifest reconciles Manifests: it installs them in a cluster, keeps them installed and removes them again.
//
// One reconcile reads what it needs (observe.go), lets pkg/inventory decide, writes with pkg/apply (act.go, remove.go) and reports
// (report.go) with at most one write of the status at its end; the planned inventory is written before the first object. A reconcile
// without a change makes no API call, neither to the hub nor to the cluster.
//
// Non-goals: it chooses no version, and does not know channels, templates or releases: a Manifest's spec defines what to install.
package manifest
