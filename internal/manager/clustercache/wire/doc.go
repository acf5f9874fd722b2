// Package wire answers one question: what of an API server's JSON does the cluster cache need?
//
// It cuts watch streams into objects (Splitter), and reads events, lists and failures at the least Depth that the caller needs: metadata,
// the full object, or its whole text. Buffers are pooled: a stream at rest holds none.
//
// Non-goals: it makes no calls, knows no kinds, and keeps nothing of what it reads.
package wire
