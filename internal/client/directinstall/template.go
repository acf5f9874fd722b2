package directinstall

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/pkg/component/descriptor"
	"github.com/kyma-project/lifecycle-manager/pkg/content"
	"github.com/kyma-project/lifecycle-manager/pkg/render"
)

// The resources of a component version that describe the module.
const (
	resourceTemplate  = "moduletemplate"
	resourceDefaultCR = "default-cr"
)

// maxCatalog limits the size of a file of ModuleTemplates.
const maxCatalog = 32 << 20

// Parse reads the ModuleTemplates and ModuleReleaseMetas of a file with YAML or JSON documents, or lists of them. It skips other objects.
func Parse(data []byte) (templates []v1beta2.ModuleTemplate, releases []v1beta2.ModuleReleaseMeta, err error) {
	objects, err := render.Parse(bytes.NewReader(data), maxCatalog)
	if err != nil {
		return nil, nil, err
	}
	for _, object := range objects {
		if object.GroupVersionKind().Group != v1beta2.GroupVersion.Group {
			continue
		}
		switch object.GetKind() {
		case "ModuleTemplate":
			templates = append(templates, v1beta2.ModuleTemplate{})
			err = convert(object, &templates[len(templates)-1])
		case "ModuleReleaseMeta":
			releases = append(releases, v1beta2.ModuleReleaseMeta{})
			err = convert(object, &releases[len(releases)-1])
		}
		if err != nil {
			return nil, nil, refuse(ReasonPlanInvalid, "%s %s cannot be read: %w", object.GetKind(), object.GetName(), err)
		}
	}
	return templates, releases, nil
}

// TemplateOf returns the ModuleTemplate of a component version: its resource moduletemplate, or else one made from the component, with the
// default custom resource of resource default-cr. A Plan with it requires the same Component.
func TemplateOf(ctx context.Context, where Component, access Access) (template *v1beta2.ModuleTemplate, err error) {
	store, done, err := storeOf("")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, done()) }()
	fetch := &fetching{access: access, store: store}
	reader := fetch.reader(&where)
	component, err := reader.Get(ctx, where.Name, where.Version)
	if err != nil {
		return nil, err
	}
	carried, err := fetch.file(ctx, component, resourceTemplate, reader.PlainHTTP)
	if err != nil {
		return nil, err
	}
	if carried != nil {
		return one(component, carried)
	}
	template = &v1beta2.ModuleTemplate{}
	template.Spec.ModuleName, template.Spec.Version = path.Base(component.Name), component.Version
	template.Name = template.Spec.ModuleName + "-" + template.Spec.Version
	data, err := fetch.file(ctx, component, resourceDefaultCR, reader.PlainHTTP)
	if err != nil || data == nil {
		return template, err
	}
	template.Spec.Data, err = single(data)
	return template, err
}

func one(component *descriptor.Component, data []byte) (*v1beta2.ModuleTemplate, error) {
	templates, _, err := Parse(data)
	if err == nil && len(templates) != 1 {
		err = fmt.Errorf("it holds %d ModuleTemplates instead of one", len(templates))
	}
	if err != nil {
		return nil, refuse(ReasonPlanInvalid, "resource %s of component %s:%s: %w", resourceTemplate, component.Name, component.Version, err)
	}
	return &templates[0], nil
}

func single(data []byte) (*unstructured.Unstructured, error) {
	objects, err := render.Parse(bytes.NewReader(data), maxCatalog)
	if err == nil && len(objects) != 1 {
		err = fmt.Errorf("it holds %d objects instead of one", len(objects))
	}
	if err != nil {
		return nil, refuse(ReasonPlanInvalid, "resource %s: %w", resourceDefaultCR, err)
	}
	return objects[0], nil
}

// file returns the content of a resource of a component version; nil when there is no such resource.
func (f *fetching) file(ctx context.Context, c *descriptor.Component, name string, plainHTTP bool) ([]byte, error) {
	if !slices.ContainsFunc(c.Resources, func(r descriptor.Resource) bool { return r.Name == name }) {
		return nil, nil
	}
	digest, _, directory, err := c.Layer(name)
	if err != nil {
		return nil, err
	}
	layer := &descriptor.Layer{Resource: name, Digest: digest, Format: descriptor.FormatFile}
	if directory {
		layer.Format = descriptor.FormatDirectory
	}
	from, err := f.layer(c, layer, plainHTTP)
	if err != nil {
		return nil, err
	}
	tree, err := from.Fetch(ctx, content.Resolved{Digest: digest})
	if err != nil {
		return nil, err
	}
	return firstFile(tree), nil
}
