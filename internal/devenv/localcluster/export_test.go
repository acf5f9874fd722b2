package localcluster

// Scratch tells tests where the data is.
func (cp *ControlPlane) Scratch() string { return cp.scratch.dir }
