// Package rootcause answers one question: why is a module not Ready, in one sentence?
//
// It takes what was read about a module: its status, its objects and what these own, their events, and the last lines of the logs of
// containers that ended. A table of the usual causes recognises what is in there; the worst and deepest one wins, and equal ones are
// merged. Command line and dashboard show the sentence and the remedy as they are.
//
// Everything that a cluster says is hostile: texts are bounded, one line, without control characters, and without the data of Secrets. What
// could not be read is part of the answer, and never counts as absent.
//
// Non-goals: it reads no cluster, has no clock, and decides nothing about a module's state: package modulestatus does.
package rootcause
