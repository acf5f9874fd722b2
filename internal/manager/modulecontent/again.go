package modulecontent

// TryAgain forgets earlier failures, so that the next caller makes a request at once. It is for use after the cause was fixed.
func (c *Components) TryAgain() { c.calls.forgive() }

// TryAgain forgets earlier failures, so that the next caller makes a request at once. It is for use after the cause was fixed.
func (c *Contents) TryAgain() {
	c.calls.forgive()
	c.trees.forgive()
}

func (c *calls[K, V]) forgive() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.failed.Clear()
}
