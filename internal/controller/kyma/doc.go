// Package kyma answers: what has to happen on the hub so that a Kyma has its modules?
//
// One reconcile reads what the decisions need (observe.go), lets internal/module decide, writes the Manifests that differ
// (act.go) and patches the Kyma's status at most once. Before that it meets the runtime (side.go): what the Kyma there asks for is merged
// with the hub's (copy.go), and what the runtime has to hold beside modules is kept (supply.go). Modules are the Manifest controller's
// side. A reconcile that finds nothing to do makes no API call.
package kyma
