// Package workload answers: what is the manager put through, and which figures come of it?
//
// Each workload has the short name of its reference: B0 is the bare loop that everything is compared with, B1 single installations, B2 many
// at once, B3 rest, B4 a new version for everyone, B8 a restart, and so on. B2 and B4 are held to the time of the loop that also makes the
// necessary writes on the hub (bare.Necessary). Workloads of a fleet share one world of simulated runtimes: the first brings its Kymas in,
// which is B2, and the next continue from there.
//
// It refuses to build worlds and to tell results: world and report do that. A bound that is missed is a result; an error means that there
// is none.
package workload
