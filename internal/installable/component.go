package installable

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/module"
	"github.com/kyma-project/lifecycle-manager/pkg/component/descriptor"
	"github.com/kyma-project/lifecycle-manager/pkg/requirements"
)

// Of returns what a component version installs, in the form of a Manifest's fields, and what it requires: see
// descriptor.Component.Contents and v1beta2.AnnotationRequires.
func Of(c *descriptor.Component) (module.Component, error) {
	contents, err := c.Contents()
	if err != nil {
		return module.Component{}, err
	}
	found := module.Component{LocalizedImages: c.Images(), Source: imageOf(c, &contents.Installs[0])}
	found.Extras.Config, found.Extras.CRDs = imageOf(c, contents.Config), imageOf(c, contents.Definitions)
	for i := range contents.Installs[1:] {
		layer := &contents.Installs[i+1]
		raw, err := module.EncodeSource(imageOf(c, layer))
		if err != nil {
			return found, err
		}
		found.Extras.Additional = append(found.Extras.Additional,
			v1beta2.InstallInfo{Name: layer.Resource, Source: runtime.RawExtension{Raw: raw}})
	}
	found.Requires, err = requiredBy(c)
	return found, err
}

// requiredBy returns what the label of a component version says that it requires: a list, or a text with one.
func requiredBy(c *descriptor.Component) ([]requirements.Requirement, error) {
	at := slices.IndexFunc(c.Labels, func(label descriptor.Label) bool { return label.Name == v1beta2.AnnotationRequires })
	if at < 0 {
		return nil, nil
	}
	text := string(c.Labels[at].Value)
	var quoted string
	if json.Unmarshal(c.Labels[at].Value, &quoted) == nil {
		text = quoted
	}
	list, err := requirements.ParseList(text)
	if err == nil {
		err = errors.Join(requirements.Validate(list)...)
	}
	if err != nil {
		return nil, &descriptor.Error{Reason: descriptor.ReasonInvalid, Err: fmt.Errorf(
			"its label %s is invalid: %w; publish a corrected version",
			v1beta2.AnnotationRequires, err)}
	}
	return list, nil
}

// imageOf returns a reference to a layer; nil for none.
func imageOf(c *descriptor.Component, layer *descriptor.Layer) *v1beta2.ImageSpec {
	if layer == nil {
		return nil
	}
	return &v1beta2.ImageSpec{Repo: c.Repository, Name: c.RepositoryName, Ref: layer.Digest, Type: v1beta2.RefType(layer.Format)}
}
