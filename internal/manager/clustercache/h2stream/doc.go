// Package h2stream answers one question: how does one goroutine carry all watch streams of an API server over one HTTP/2 connection?
//
// A Transport is an http.RoundTripper for GETs whose responses do not end. It multiplexes them over one Conn, and opens another one when
// the server allows no more streams or sends GOAWAY. Each response body is a Stream, whose bytes are read as usual or handed over to a
// callback, so that no goroutine waits for them. Behind a proxy, or without HTTP/2, net/http takes over.
//
// Non-goals: it sends no request bodies, retries nothing, and does not know Kubernetes. docs/adr/0003-watch-streams.md has the figures.
package h2stream
