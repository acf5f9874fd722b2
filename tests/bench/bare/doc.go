// Package bare answers: how fast could anyone write these objects into these clusters?
//
// It has two plain client-go loops, with as many writes under way as the manager has. Run applies objects server-side into runtimes, and
// does nothing else: no inventory, no order, no health, no status. No operator can be that fast, because it has to record on the hub what
// it did, and a write to the hub costs a multiple of what a simulated runtime takes for an object. RunNecessary therefore also makes the
// writes to the hub that no operator can do without, which necessary.go names one by one; that is the limit which the manager is held to.
//
// Each loop runs as a process of its own, as the manager does, so that both share the machine with the servers in the same way and the
// processor time of each can be told.
//
// It refuses to be clever: no discovery, no caches, no watches, no retries. An object that is refused is an error.
package bare
