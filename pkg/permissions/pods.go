package permissions

// Access is something that a pod gets beyond its own container.
type Access struct {
	// What it is: privileged, hostPath, capability, ...
	What string `json:"what"`
	// Detail is the path, the capability, the name.
	Detail string `json:"detail,omitempty"`
	// Writes means that a path can be written.
	Writes bool `json:"writes,omitempty"`
	// EveryNode means that it holds on every node of the cluster.
	EveryNode bool `json:"everyNode,omitempty"`
	// Workload that gets it: "DaemonSet ns/name".
	Workload string `json:"workload,omitempty"`
}
