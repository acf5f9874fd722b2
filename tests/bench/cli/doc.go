// Package cli answers one question: what does it cost to use kyma?
//
// `kyma list` looks at a hub of 1,000 Kymas and 5,000 Manifests, which no manager looks after: requests are counted exactly, and the time
// is told beside that of `kubectl get kymas,manifests -A -o json` on the same API server. The start of the program and the build of a
// module of 5 MB are timed on the clock and on the processor, since a clock runs on while other work has the machine; a goal is missed when
// both miss it. KYMA_PROGRAM names a kyma that is there already; without it one is built.
//
// What it refuses to do: it compares with no figure of another machine.
package cli
