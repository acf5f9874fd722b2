package clustercache

import "context"

// onceCall is the state of one key of Once.
type onceCall struct {
	door ctxMutex
	done bool
}

// Once calls do, unless it succeeded before for that key on this connection: for work that is needed once per connection. Concurrent
// callers wait for it; after a failure the next caller runs it again.
func (r *Runtime) Once(ctx context.Context, key string, do func() error) error {
	known, _ := r.once.LoadOrStore(key, &onceCall{door: r.conn.newMutex()})
	asked := known.(*onceCall) //nolint:errcheck,forcetypeassert // only this function stores
	leave, err := asked.door.enter(ctx)
	if err != nil {
		return err
	}
	defer leave()
	if asked.done {
		return nil
	}
	if err := do(); err != nil {
		return err
	}
	asked.done = true
	return nil
}

// ResetOnce makes the next Once for that key run again.
func (r *Runtime) ResetOnce(key string) { r.once.Delete(key) }
