package descriptor

import (
	"encoding/json"
	"fmt"
	"slices"
)

// The names of resources that have a meaning, the resource type that has one, and the label that determines how a resource is rendered.
const (
	ResourceManifest    = "raw-manifest"
	ResourceConfig      = "config"
	ResourceDefinitions = "crds"

	TypeHelmChart = "helmChart"

	LabelRenderer = "operator.kyma-project.io/renderer"
)

// The formats of layers without the label; pkg/render defines their meaning.
const (
	FormatFile      = "oci-ref"
	FormatDirectory = "oci-dir"
	FormatHelmChart = "helm-chart"
)

// Layer is a resource that is a layer of the component version.
type Layer struct {
	// Resource is the name of the resource.
	Resource string
	// Digest is the digest of the layer in the component's repository.
	Digest string
	// Format is the format for rendering.
	Format string
}

// Contents are the resources that are installed, and those that configure the installation.
type Contents struct {
	// Installs are the installed layers, in order.
	Installs []Layer
	// Config holds values, Definitions what is applied before everything else; nil if there is no such resource.
	Config, Definitions *Layer
}

// Contents returns what a component version installs:
//
//  1. Resource raw-manifest, and every resource of type helmChart or with the label operator.kyma-project.io/renderer, is an
//     installation; raw-manifest is the first of them, the others follow in the order of the descriptor.
//  2. The format is that of the label, or a chart for type helmChart, or an archive with one file for a tar layer, or plain YAML.
//  3. Resource config is the layer with values, resource crds the one with definitions that are applied first.
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

// Installs reports whether a resource is installed although its name is not raw-manifest.
func (r *Resource) Installs() bool {
	return r.Name != ResourceConfig && r.Name != ResourceDefinitions && (r.Type == TypeHelmChart || r.Renderer() != "")
}

// Renderer returns the value of the label that determines how it is rendered; empty if there is none or it is not a string.
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

// optional returns the layer of a resource that may be missing.
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
