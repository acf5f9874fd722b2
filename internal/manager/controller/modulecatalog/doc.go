// Package modulecatalog reconciles catalogs: every runtime shows the modules that its Kyma may have.
//
// It keeps the ModuleReleaseMetas and ModuleTemplates that a Kyma may see (internal/module decides which) in the namespace kyma-system of
// its runtime, with internal/manager/remotesync. A change of the hub's offers concerns every runtime and is never urgent: it is limited to
// a number of Kymas per second. What concerns one Kyma alone, such as its labels, an edit in its runtime or a new connection, is done at
// once. Objects made from the hub's offers are shared by all Kymas that may see the same. Without a change it makes no call.
//
// Non-goals: it does not write the status of a Kyma: State returns what to report, and Source enqueues when that changed. It ignores Kymas
// that are local, being deleted, or excluded by their label.
package modulecatalog
