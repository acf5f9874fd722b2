// Package bare answers: how fast could anyone write these objects into these clusters?
//
// It is a plain client-go loop that applies objects server-side with as many writes under way as the manager has, and nothing else: no
// inventory, no order, no health, no status. It runs as a process of its own, as the manager does, so that both share the machine with the
// servers in the same way and the processor time of each can be told.
//
// It refuses to be clever: no discovery, no caches, no retries. An object that is refused is an error.
package bare
