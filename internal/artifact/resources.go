package artifact

import (
	"encoding/json"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/module"
	"github.com/kyma-project/lifecycle-manager/pkg/component/descriptor"
)

// The resources of a component version that have a meaning by their name, and the resource type that has one.
const (
	rawManifest = "raw-manifest"
	config      = "config"
	definitions = "crds"

	typeHelmChart = "helmChart"
)

// installable says what a component version installs:
//
//  1. Resource raw-manifest, and every resource of type helmChart or with the label operator.kyma-project.io/renderer, is an
//     installation; raw-manifest is the first of them, the others follow in the order of the descriptor.
//  2. How one is rendered: as its label says, as a chart when its type is helmChart, as an archive with one file when its layer
//     is a tar, as plain YAML otherwise.
//  3. Resource config is the layer with values, resource crds the one with definitions that come first.
func installable(c *descriptor.Component) (module.Component, error) {
	first := slices.IndexFunc(c.Resources, func(r descriptor.Resource) bool { return r.Name == rawManifest })
	order := make([]int, 0, len(c.Resources))
	if first >= 0 {
		order = append(order, first)
	}
	for i := range c.Resources {
		if i != first && isInstallation(&c.Resources[i]) {
			order = append(order, i)
		}
	}
	if len(order) == 0 {
		_, _, _, err := c.Layer(rawManifest) // which says what is missing
		return module.Component{}, err
	}
	found := module.Component{LocalizedImages: c.Images()}
	var err error
	if found.Extras.Additional, err = additional(c, order[1:]); err != nil {
		return found, err
	}
	if found.Extras.Config, err = optional(c, config); err != nil {
		return found, err
	}
	if found.Extras.CRDs, err = optional(c, definitions); err != nil {
		return found, err
	}
	found.Source, err = layerOf(c, &c.Resources[order[0]])
	return found, err
}

func isInstallation(r *descriptor.Resource) bool {
	return r.Name != config && r.Name != definitions && (r.Type == typeHelmChart || renderer(r) != "")
}

// renderer is the value of the label, empty when there is none or it is no text.
func renderer(r *descriptor.Resource) string {
	for _, label := range r.Labels {
		if label.Name == v1beta2.LabelRenderer {
			value := ""
			if json.Unmarshal(label.Value, &value) == nil {
				return value
			}
		}
	}
	return ""
}

func additional(c *descriptor.Component, order []int) ([]v1beta2.InstallInfo, error) {
	var installs []v1beta2.InstallInfo
	for _, i := range order {
		resource := &c.Resources[i]
		source, err := layerOf(c, resource)
		if err != nil {
			return nil, err
		}
		raw, err := module.EncodeSource(source)
		if err != nil {
			return nil, err
		}
		installs = append(installs, v1beta2.InstallInfo{Name: resource.Name, Source: runtime.RawExtension{Raw: raw}})
	}
	return installs, nil
}

// optional is the layer of a resource that need not be there.
func optional(c *descriptor.Component, name string) (*v1beta2.ImageSpec, error) {
	at := slices.IndexFunc(c.Resources, func(r descriptor.Resource) bool { return r.Name == name })
	if at < 0 {
		return nil, nil //nolint:nilnil // most components have none
	}
	return layerOf(c, &c.Resources[at])
}

// layerOf points to the layer that holds a resource.
func layerOf(c *descriptor.Component, r *descriptor.Resource) (*v1beta2.ImageSpec, error) {
	digest, _, directory, err := c.Layer(r.Name)
	if err != nil {
		return nil, fmt.Errorf("find the layer of resource %s: %w", r.Name, err)
	}
	source := &v1beta2.ImageSpec{Repo: c.Repository, Name: c.RepositoryName, Ref: digest, Type: v1beta2.RefTypeOCI}
	switch {
	case renderer(r) != "":
		source.Type = v1beta2.RefType(renderer(r))
	case r.Type == typeHelmChart:
		source.Type = v1beta2.RefTypeHelmChart
	case directory:
		source.Type = v1beta2.RefTypeOCIDir
	}
	return source, nil
}
