// Package workerslot limits how many reconcile requests of a controller run at a time.
//
// Each request occupies a worker slot from the time it leaves the queue until it is done. A request that only waits for a slow runtime
// gives its slot back before that, so that another request runs meanwhile; it continues without a slot as soon as the runtime has
// responded. So runtimes that are dead or slow delay only their own requests.
//
// Non-goals: it does not order requests; the queue does, and hands out the most urgent one the moment a slot is free. It never takes a
// slot away: the waiting request gives it back. It makes no calls and has no access to runtimes; the caller decides when one is late.
package workerslot
