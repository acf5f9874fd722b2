// Package operation answers one question: what do people do with a Kyma, step by step, and when is it done?
//
// The eight operations of the fault matrix are values: install, upgrade, channel switch, disable, unmanage and manage, delete, catalog
// and definitions, credential rotation. Each runs on a Scene: a Kyma and two modules of its own, with names that nothing else has, so
// that thousands of them follow each other on one rig; one at a time, because a runtime has one synchronised Kyma.
//
// What it refuses to do: it injects no fault and judges no outcome; a step is settled when what was asked for is there, which says nothing
// of what else there is.
package operation
