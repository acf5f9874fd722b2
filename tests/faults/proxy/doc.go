// Package proxy records the traffic between a client and an API server, and can disturb it.
//
// A Proxy has its own address and certificate authority in front of one real API server, or of a registry. It uses HTTP/2 on both sides,
// records every request, and lets a test intervene: refuse, delay, hold or lose a request, a response, a connection or a single event of a
// watch stream, and answer a list as of an earlier revision.
//
// It has no knowledge of Kymas, decides nothing by itself, and without a fault it changes only the credentials, and the encoding of watch
// streams, which it requests in JSON so that it can read them.
package proxy
