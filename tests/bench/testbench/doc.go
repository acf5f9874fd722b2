// Package testbench answers: what does a workload run on?
//
// A world is a hub (a real API server, etcd in memory), a registry with modules of any size, runtimes (real API servers, or thousands of
// simulated ones in this process) and the manager as a process of its own. What the manager says to each of them is counted where it
// arrives: by the audit log of real API servers, and by the simulated ones themselves. Waiting is done by one watch, so that times are
// known to the millisecond.
//
// It refuses to measure and to judge, to keep anything between runs, and to end a process that it did not start.
package testbench
