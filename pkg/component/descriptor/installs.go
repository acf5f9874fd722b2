package descriptor

import (
	"encoding/json"
	"fmt"
	"slices"
)

// The resources of a component version that have a meaning by their name, the resource type that has one, and the label that says how a
// resource is rendered.
const (
	ResourceManifest    = "raw-manifest"
	ResourceConfig      = "config"
	ResourceDefinitions = "crds"

	TypeHelmChart = "helmChart"

	LabelRenderer = "operator.kyma-project.io/renderer"
)

// The formats in which a layer is rendered, beside those that its label names: what pkg/render calls them.
const (
	FormatFile      = "oci-ref"
	FormatDirectory = "oci-dir"
	FormatHelmChart = "helm-chart"
)

// Layer is a resource that lies in the component version itself.
type Layer struct {
	// Resource is its name.
	Resource string
	// Digest of the layer in the component's repository.
	Digest string
	// Format is how it is rendered.
	Format string
}

// Contents are the resources that are installed, and those that say how.
type Contents struct {
	// Installs in their order.
	Installs []Layer
	// Config holds values, Definitions what comes before everything else; nil for none.
	Config, Definitions *Layer
}

// Contents says what a component version installs:
//
//  1. Resource raw-manifest, and every resource of type helmChart or with the label operator.kyma-project.io/renderer, is an
//     installation; raw-manifest is the first of them, the others follow in the order of the descriptor.
//  2. How one is rendered: as its label says, as a chart when its type is helmChart, as an archive with one file when its layer
//     is a tar, as plain YAML otherwise.
//  3. Resource config is the layer with values, resource crds the one with definitions that come first.
func (c *Component) Contents() (Contents, error) {
	found := Contents{}
	first := slices.IndexFunc(c.Resources, func(r Resource) bool { return r.Name == ResourceManifest })
	order := make([]int, 0, len(c.Resources))
	if first >= 0 {
		order = append(order, first)
	}
	for i := range c.Resources {
		if i != first && c.Resources[i].Installs() {
			order = append(order, i)
		}
	}
	if len(order) == 0 {
		_, _, _, err := c.Layer(ResourceManifest) // which says what is missing
		return found, err
	}
	for _, i := range order {
		layer, err := c.layerOf(&c.Resources[i])
		if err != nil {
			return found, err
		}
		found.Installs = append(found.Installs, *layer)
	}
	var err error
	if found.Config, err = c.optional(ResourceConfig); err == nil {
		found.Definitions, err = c.optional(ResourceDefinitions)
	}
	return found, err
}

// Installs tells whether a resource that is not called raw-manifest is installed.
func (r *Resource) Installs() bool {
	return r.Name != ResourceConfig && r.Name != ResourceDefinitions && (r.Type == TypeHelmChart || r.Renderer() != "")
}

// Renderer is the value of the label that says how it is rendered; empty when there is none or it is no text.
func (r *Resource) Renderer() string {
	for _, label := range r.Labels {
		if label.Name == LabelRenderer {
			value := ""
			if json.Unmarshal(label.Value, &value) == nil {
				return value
			}
		}
	}
	return ""
}

// optional is the layer of a resource that need not be there.
func (c *Component) optional(name string) (*Layer, error) {
	at := slices.IndexFunc(c.Resources, func(r Resource) bool { return r.Name == name })
	if at < 0 {
		return nil, nil
	}
	return c.layerOf(&c.Resources[at])
}

func (c *Component) layerOf(r *Resource) (*Layer, error) {
	digest, _, directory, err := c.Layer(r.Name)
	if err != nil {
		return nil, fmt.Errorf("find the layer of resource %s: %w", r.Name, err)
	}
	layer := &Layer{Resource: r.Name, Digest: digest, Format: FormatFile}
	switch {
	case r.Renderer() != "":
		layer.Format = r.Renderer()
	case r.Type == TypeHelmChart:
		layer.Format = FormatHelmChart
	case directory:
		layer.Format = FormatDirectory
	}
	return layer, nil
}

func (c *Component) unsigned(format string, args ...any) error {
	return &Error{
		Reason: ReasonSignatureInvalid, Err: fmt.Errorf("component %s:%s: "+format, append([]any{c.Name, c.Version}, args...)...),
	}
}
