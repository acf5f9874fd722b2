// Package catalog answers: does every runtime show the modules that its Kyma may have?
//
// It keeps the ModuleReleaseMetas and ModuleTemplates that a Kyma may see (internal/module says which) in the namespace kyma-system of its
// runtime, by internal/mirror. A change of what the hub offers concerns every runtime and is nobody's hurry: it goes through a budget of
// Kymas per second. What concerns one Kyma alone, such as its labels, an edit in its runtime or a new connection, is done at once. What
// was made of the hub's offers is shared by all Kymas that may see the same. At rest nothing is called.
//
// It refuses to write the status of a Kyma: State tells what there is to say, and Source when that changed. It looks at no Kyma that is
// local, and leaves alone one that is being deleted or whose label says so.
package catalog
