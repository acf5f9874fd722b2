// Package health reports whether an object is ready and, when it is not, why, in words that a user can act on.
//
// [Of] applies the kstatus rules (github.com/fluxcd/cli-utils), which are common practice, and is stricter where they would call an object
// ready that was not observed yet: a generation that its controller has not seen, a Job that still runs, a Pod that failed, a StatefulSet
// with the OnDelete strategy and no pod, a Ready condition for an older generation. Kinds that kstatus does not cover (Namespace,
// APIService) have rules here. [ModuleState] reads the Kyma convention, status.state, which Of ignores: whether a module's own resource
// counts is not decided here. Where a module has its own terms, [MapState] maps them to states, and for further requirements, a [Probe]
// evaluates a CEL expression on the object.
//
// The package is pure: no clock and no client, one object in, one verdict out. An object comes from a cluster that others write to, so
// nothing in it is assumed to be well-formed: an unreadable object is Unknown, never ready and never a panic.
//
// Callers with stripped objects must keep the fields that are read here: apiVersion, kind; metadata.namespace, name, generation,
// deletionTimestamp, finalizers; status as a whole; of spec replicas, progressDeadlineSeconds, paused, updateStrategy, suspend,
// type and clusterIP. A Probe and MapState read any field that their author names, so they need the whole object.
package health
