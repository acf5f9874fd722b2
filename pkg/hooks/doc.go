// Package hooks answers three questions about the hooks of a Helm chart: which of them run at an event of its life, which one is next, and
// whether one that was begun has completed.
//
// Everything follows from two records. [Progress] is stored with the inventory and says how far one release has got: the event, and how
// many of its hooks completed. The ticket on the object of a hook says for which event of which release it was written, so that a pass that
// follows a crash recognises what the one before it began.
//
// The package is pure. It does not read or write a cluster, which RunHooks of pkg/installer/engine does, and it does not decide whether an
// object of another owner may be touched.
package hooks
