// Package streams answers: how much memory does one connected runtime cost, watched by internal/manager/clustercache?
//
// A child process, which has nothing else in it, connects to virtual runtimes that this process serves: each has a port, a certificate
// authority and a set of objects of its own, and answers over TLS and HTTP/2 as an API server does. The child is measured before and after.
package streams
