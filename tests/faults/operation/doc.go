// Package operation answers one question: what do users do with a Kyma, step by step, and when is it done?
//
// The operations of the fault matrix are values: install, upgrade, channel switch, disable, unmanage and manage, delete, catalog
// and definitions, credential rotation; and those in which something ends: a deletion while the second of two kinds is in use, one amid an
// installation, a module by a new name, a version of a kind that is no longer served, an object that two modules drop. Each runs on a
// Scene: a Kyma and modules of its own, with names that nothing else has, so that thousands of them follow each other on one rig; one at a
// time, because a runtime has one synchronised Kyma.
//
// What it refuses to do: it injects no fault and judges no outcome; a step is settled when what was requested is there, which says nothing
// of what else there is.
package operation
