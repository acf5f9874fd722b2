package helm

import "helm.sh/helm/v4/pkg/chart/common"

// cluster is a cluster that a chart is rendered for. Where templates ask it whether it serves an API, it notes the question: the answer may
// be another one tomorrow, when another module brings a definition. It takes the place of Helm's Capabilities, whose fields become methods,
// which templates call in the same way. A template that reads the served APIs as a list fails.
type cluster struct {
	*common.Capabilities

	// answers take precedence over what the cluster serves.
	answers map[string]bool
	// asked are the APIs that templates asked for, and askedVersion is true where they looked at the version of Kubernetes.
	asked        map[string]bool
	askedVersion bool
}

// APIVersions takes the place of the field.
func (c *cluster) APIVersions() *servedAPIs { return &servedAPIs{c} }

// KubeVersion takes the place of the field.
func (c *cluster) KubeVersion() *common.KubeVersion {
	c.askedVersion = true
	return &c.Capabilities.KubeVersion
}

// serves returns what the cluster answers.
func (c *cluster) serves(api string) bool {
	if answer, ok := c.answers[api]; ok {
		return answer
	}
	return c.Capabilities.APIVersions.Has(api)
}

// servedAPIs answers as Helm's VersionSet does.
type servedAPIs struct{ of *cluster }

// Has reports whether the cluster serves an API, and notes that it was asked.
func (s *servedAPIs) Has(api string) bool {
	s.of.asked[api] = true
	return s.of.serves(api)
}
