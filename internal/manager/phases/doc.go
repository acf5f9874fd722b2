// Package phases measures what the time of an installation or an upgrade is spent on.
//
// The Kyma controller tells when a module waits for its maintenance window and when its Manifest asks for something new, and the Manifest
// controller how far that is. A phase is observed once, when it ends, pauses and failed attempts included: together, the phases are the
// time from the request to Ready.
//
// Non-goals: it stores nothing, and keeps in memory only what is under way. What began before this process, or on another replica, has no
// observation of the phase that it was in, rather than a wrong one.
package phases
