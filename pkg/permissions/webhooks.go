package permissions

// Interception is what a webhook or an admission policy intercepts.
type Interception struct {
	// Mutates means that it can change what it intercepts.
	Mutates bool `json:"mutates,omitempty"`
	// Operations are CREATE, UPDATE, DELETE, CONNECT or "*".
	Operations []string `json:"operations,omitempty"`
	// Group is the API group, or "*".
	Group string `json:"group,omitempty"`
	// Resource is the plural name, "*" for all, "*/*" for all with their subresources.
	Resource string `json:"resource,omitempty"`
	// Scope is Cluster, Namespaced or "*".
	Scope string `json:"scope,omitempty"`
	// Limits are the selectors and conditions that leave objects out.
	Limits string `json:"limits,omitempty"`
	// Blocks means that requests fail when it does not answer.
	Blocks bool `json:"blocks,omitempty"`
	// Outside is the host outside the cluster that gets the requests.
	Outside string `json:"outside,omitempty"`
}
