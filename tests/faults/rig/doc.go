// Package rig answers one question: what does a fault run stand on?
//
// On a hub, two runtimes and a registry, all real, each API server behind a proxy of its own, and on the real manager as a process of
// its own, which can be killed, paused and started again within a second. The rig is started once and serves thousands of points: what
// makes them independent of each other is package operation's business.
//
// What it refuses to do: it judges nothing, injects nothing by itself, and runs no controllers in the clusters but one that says of
// every Deployment that it is available, so that no point waits for kubelets.
package rig
