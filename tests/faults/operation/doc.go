// Package operation defines what users do with a Kyma, step by step, and when each step is done.
//
// The operations of the fault matrix are values: install, upgrade, channel switch, disable, unmanage and manage, delete, catalog and
// definitions, credential rotation, a release with a plan, the way back to the version before; and those in which something ends: a
// deletion while the second of two kinds is in use, one amid an installation, a module by a new name, a version of a kind that is no longer
// served, an object that two modules drop. Each runs on a Scenario: a Kyma and modules with unique names, so that thousands of them follow
// each other on one rig; one at a time, because a runtime has one synchronised Kyma.
//
// The package injects no fault and judges no outcome. A step is settled when the requested state is reached, whatever else exists.
package operation
