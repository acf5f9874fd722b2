// Package rig provides the environment of a fault run.
//
// It consists of a hub, two runtimes and a registry, all real, each API server behind its own proxy, and of the real manager as a separate
// process, which can be killed, paused and started again within a second. The rig is started once and serves thousands of points; package
// operation makes them independent of each other.
//
// The package judges nothing, injects nothing by itself, and runs no controllers in the clusters except one that marks every Deployment as
// available, so that no point waits for kubelets.
package rig
