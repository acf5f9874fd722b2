// Package module answers: which modules shall this Kyma have, what must be written for it, and what must be told about it?
//
// It is the Kyma side's decisions as pure functions of one Snapshot that was read before they start:
//
//	Needed, Names   what else must be read
//	Resolve         one Verdict per module: run, keep, refuse, remove, wait, let go, each with a reason (rules.go has the table)
//	MakePlan        the Manifests to apply, adjust and delete; empty when there is nothing to do
//	Rollup          the Kyma's status from verdicts, Manifests and the outcome of the writes
//	Merge           what counts when hub and runtime both ask for modules, after CheckRuntimeSpec
//	Blocks          what blocks the deletion of a module, of everything that would lose its definition or its operator
//	NextTeardown    the next step of a Kyma that is being deleted; NextTeardownRemote of one that has a runtime
//
// It refuses to read or write anything, to look at a clock (Snapshot.Now is data), to move a module to a lower version, to remove a
// module because something about it could not be resolved, and to call a module Ready that was not observed running as asked.
package module
