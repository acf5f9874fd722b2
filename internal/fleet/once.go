package fleet

// Once is true the first time that it is asked for a key on this connection: for what has to be seen to once per contact.
func (r *Runtime) Once(key string) bool {
	_, before := r.once.LoadOrStore(key, struct{}{})
	return !before
}
