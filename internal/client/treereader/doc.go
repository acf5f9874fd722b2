// Package treereader answers one question: which objects are below those of a module, as far as the user may read them?
//
// It reads what the workloads own, what the operator made for the custom resources (owner references among the objects of the module's own
// kinds and of the usual ones), and the pods below all of it. Requests, objects and bytes are bounded, and what the bounds cut is part of
// the answer, as is what may not be read.
//
// Non-goals: it does not read the objects of the module themselves, arranges nothing (package resourcetree does), and keeps nothing.
package treereader
