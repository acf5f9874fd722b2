// Package causereader answers one question: what must be read of a cluster to say why a module is not Ready?
//
// For one module it reads, as the user: its workloads where they were not read yet, what these own (package ownedobjects), the
// PersistentVolumeClaims of pods that do not start, the events of what fails, and the last lines of the log of containers that ended. It
// takes at most MostRequests requests, and less than a fixed time. Of a module that is Ready it reads nothing. What may not or cannot be
// read is part of the evidence.
//
// Non-goals: it does not find the way to a runtime (package runtimeaccess does), and it concludes nothing: package rootcause does.
package causereader
