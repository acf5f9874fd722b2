package artifact

// TryAgain forgets what failed, so that the next who asks makes a call at once: somebody mended what was in the way.
func (c *Components) TryAgain() { c.calls.forgive() }

// TryAgain forgets what failed, so that the next who asks makes a call at once: somebody mended what was in the way.
func (c *Contents) TryAgain() {
	c.calls.forgive()
	c.trees.forgive()
}

func (c *calls[K, V]) forgive() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.failed.Clear()
}
