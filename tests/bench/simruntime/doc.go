// Package simruntime answers: what does the manager do when it has thousands of runtimes?
//
// It is one server with as many virtual runtimes as wanted. Each has a loopback address, a certificate authority and a token of its own, so
// that connections, dials, handshakes and bulkheads are real, and keeps its objects in memory. What a client may say to an API server
// and the manager does say is answered as an API server answers it: discovery, get, list and watch of whole objects or metadata alone,
// create, server-side apply by the library that API servers use, patch, update, delete, CustomResourceDefinitions that serve their kinds.
// A write that changes nothing makes no revision. Everything is counted, and a runtime can be made slow, silent, forgetful or gone.
//
// It refuses to be a cluster: it validates no object beyond its schema's shape, fills in no defaults of Kubernetes' own kinds, authorises
// no one beyond the token, calls no webhook and collects no garbage by owner. Workloads are scripted: their status says after a while that
// they run. What it does and an API server does not, or the other way round, is held down by the fidelity test.
package simruntime
