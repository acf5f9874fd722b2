package fleet

import "context"

// errand is what Once was asked to do.
type errand struct {
	door door
	done bool
}

// Once calls do, unless it succeeded before for that key on this connection: for what has to be seen to once per contact. Who asks
// meanwhile waits for it; who asks after a failure does it again.
func (r *Runtime) Once(ctx context.Context, key string, do func() error) error {
	known, _ := r.once.LoadOrStore(key, &errand{door: r.conn.door()})
	asked := known.(*errand) //nolint:errcheck,forcetypeassert // only this function stores
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

// Again has the next Once for that key do it once more.
func (r *Runtime) Again(key string) { r.once.Delete(key) }
