package modulecontent

import (
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/module"
	"github.com/kyma-project/lifecycle-manager/pkg/component/descriptor"
)

// rawManifest is the resource that is installed first.
const rawManifest = descriptor.ResourceManifest

// installable returns what a component version installs, in the form of a Manifest's fields: see descriptor.Component.Contents.
func installable(c *descriptor.Component) (module.Component, error) {
	contents, err := c.Contents()
	if err != nil {
		return module.Component{}, err
	}
	found := module.Component{LocalizedImages: c.Images(), Source: imageOf(c, &contents.Installs[0])}
	found.Extras.Config, found.Extras.CRDs = imageOf(c, contents.Config), imageOf(c, contents.Definitions)
	if found.Requires, err = required(c); err != nil {
		return module.Component{}, err
	}
	for i := range contents.Installs[1:] {
		layer := &contents.Installs[i+1]
		raw, err := module.EncodeSource(imageOf(c, layer))
		if err != nil {
			return found, err
		}
		found.Extras.Additional = append(found.Extras.Additional,
			v1beta2.InstallInfo{Name: layer.Resource, Source: runtime.RawExtension{Raw: raw}})
	}
	return found, nil
}

// imageOf returns a reference to a layer; nil for none.
func imageOf(c *descriptor.Component, layer *descriptor.Layer) *v1beta2.ImageSpec {
	if layer == nil {
		return nil
	}
	return &v1beta2.ImageSpec{Repo: c.Repository, Name: c.RepositoryName, Ref: layer.Digest, Type: v1beta2.RefType(layer.Format)}
}
