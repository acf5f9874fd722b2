// Package proxy answers one question: what was said between a client and an API server, and what happens to it on the way?
//
// A Proxy stands on an address and a certificate authority of its own in front of one real API server, or of a registry. It speaks
// HTTP/2 to both sides, writes down every request, and lets a test step in: refuse, delay, hold or lose a request, an answer, a
// connection or a single event of a watch stream, and answer a list as of an earlier moment.
//
// What it refuses to do: it knows nothing of Kymas, decides nothing by itself, and without a fault it changes nothing but the
// credentials, and the encoding of watch streams, which it asks for in JSON so that it can read them.
package proxy
