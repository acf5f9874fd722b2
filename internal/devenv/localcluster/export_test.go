package localcluster

// Scratch returns the data folder to tests.
func (cp *ControlPlane) Scratch() string { return cp.scratch.dir }
