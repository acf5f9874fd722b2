// Package kyma reconciles Kymas: it does on the hub whatever a Kyma needs to have its modules.
//
// One reconcile reads what the decisions need (observe.go), lets internal/module decide, writes the Manifests that differ (act.go) and
// patches the Kyma's status at most once. Before that it prepares the runtime (remotescope.go): the spec of the Kyma there is merged with
// the hub's (runtimekyma.go), and the objects that the runtime needs beside modules are kept in sync (prerequisites.go). The Manifest
// controller installs the modules. A reconcile without a change makes no API call.
//
// Non-goals: it installs nothing in a runtime but what a Kyma needs there, and makes no decision about modules: internal/module does.
package kyma
