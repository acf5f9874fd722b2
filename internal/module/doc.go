// Package module decides which modules a Kyma has, which objects must be written for it, and what its status reports.
//
// The decisions are pure functions of one Snapshot that is read before they start:
//
//	Needed, Names   the component versions and names of Manifests that must be read too
//	Resolve         one Verdict per module: run, keep, refuse, remove, wait, unmanage, each with a reason (rules.go has the table)
//	MakePlan        the Manifests to apply, adjust and delete; empty when there is nothing to do
//	Rollup          the Kyma's status from verdicts, Manifests and the outcome of the writes
//	Merge           the effective spec when hub and runtime both request modules, after CheckRuntimeSpec
//	Blocks          the objects that block a module's deletion since they would lose their definition or their operator
//	NextTeardown    the next step of a Kyma that is being deleted; NextTeardownRemote of one that has a runtime
//
// Non-goals: it does not read or write anything, and does not use a clock (Snapshot.Now is data). It never moves a module to a lower
// version, never removes a module because something about it could not be resolved, and never reports a module Ready that was not observed
// running as requested.
package module
