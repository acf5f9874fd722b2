// Package health answers whether an object is ready and, when it is not, why, in words that a user can act on.
//
// [Of] judges by the kstatus rules (github.com/fluxcd/cli-utils), which the field agrees on, and is stricter where they would call
// ready what was not yet observed: a generation that its controller has not seen, a Job that still runs, a Pod that failed, a
// StatefulSet with the OnDelete strategy and no pod, a Ready condition that speaks of an older generation. Kinds that kstatus does not
// know (Namespace, APIService) have rules here. [ModuleState] reads the Kyma convention, status.state, which Of leaves alone: whether
// a module's own resource counts is not for this package to say. Where a module has words of its own, [MapState] maps them to states, and
// for further requirements, a [Probe] evaluates a CEL expression on the object.
//
// It is pure: no clock and no client, one object in, one verdict out. An object comes from a cluster that others write to, so nothing
// in it is taken for well-formed: what cannot be read is Unknown, never ready and never a panic.
//
// Callers with stripped objects must keep the fields that are read here: apiVersion, kind; metadata.namespace, name, generation,
// deletionTimestamp, finalizers; status as a whole; of spec replicas, progressDeadlineSeconds, paused, updateStrategy, suspend,
// type and clusterIP. A Probe and MapState read what their author names, so they need the whole object.
package health
