package modulecontent

import (
	"bytes"
	"context"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/signcoverage"
	"github.com/kyma-project/lifecycle-manager/pkg/component/descriptor"
	"github.com/kyma-project/lifecycle-manager/pkg/render/helm"
)

// The names of the resources that describe a component's module, for messages and cache keys. No installation can have them.
const (
	partDefaultCR = "spec.resource"
	partTemplate  = "spec.template"
)

// checkDescribed checks the fields that come from a ModuleTemplate against the component: a template itself is not signed, but its
// component carries it as resource moduletemplate and its default custom resource as default-cr.
func (r *reading) checkDescribed(ctx context.Context, parts []Part) error {
	spec := &r.manifest.Spec
	if !r.judges() || len(spec.AllowCRDChanges) == 0 && spec.Manager == nil && spec.Resource == nil {
		return nil
	}
	template, err := r.signedTemplate(ctx)
	if err != nil {
		return err
	}
	objects := objectsOf(parts)
	if !r.allows(descriptor.AllowCRDChanges) {
		if err := r.report(signcoverage.CRDChanges(template, spec.AllowCRDChanges)...); err != nil {
			return err
		}
	}
	if err := r.report(signcoverage.Manager(template, objects, spec.Manager)...); err != nil || spec.Resource == nil {
		return err
	}
	signed, err := r.signedDefaultCR(ctx, template)
	if err != nil {
		return err
	}
	return r.report(signcoverage.DefaultCR(signed, spec.Resource, objects, r.allows(descriptor.AllowCustomResources))...)
}

// checkRelease checks the release name of a chart that is named after the module against the module's name in the component.
func (r *reading) checkRelease(ctx context.Context, part *parsedSource, own *helm.InstallConfig) error {
	module := r.manifest.Labels[v1beta2.LabelModuleName]
	if !r.judges() || !r.cover.Policy.Asks() || r.allows(descriptor.AllowValues) ||
		!r.Formats[part.format].Values || part.name != rawManifest || own.ReleaseName != "" || module == "" {
		return nil
	}
	component := componentOf(r.manifest).Name
	if len(signcoverage.Release(component, &v1beta2.ModuleTemplate{}, module)) == 0 {
		return nil
	}
	template, err := r.signedTemplate(ctx)
	if err != nil {
		return err
	}
	return r.report(signcoverage.Release(component, template, module)...)
}

// signedTemplate returns the ModuleTemplate that the component carries; an empty one where it has none.
func (r *reading) signedTemplate(ctx context.Context) (*v1beta2.ModuleTemplate, error) {
	template := &v1beta2.ModuleTemplate{}
	data, err := r.layer(ctx, partTemplate, r.cover.coverage.Template)
	if err == nil && yaml.Unmarshal(data, template) != nil {
		return nil, sourceInvalid("resource %s of the component cannot be read as a ModuleTemplate", descriptor.ResourceTemplate)
	}
	return template, err
}

// signedDefaultCR returns the default custom resource that the component carries, by itself or in its template; nil where it has none.
func (r *reading) signedDefaultCR(ctx context.Context, template *v1beta2.ModuleTemplate) (*unstructured.Unstructured, error) {
	data, err := r.layer(ctx, partDefaultCR, r.cover.coverage.DefaultCR)
	if err != nil {
		return nil, err
	}
	if len(bytes.TrimSpace(data)) == 0 {
		return template.Spec.Data, nil
	}
	object := &unstructured.Unstructured{}
	if yaml.Unmarshal(data, &object.Object) != nil {
		return nil, sourceInvalid("resource %s of the component cannot be read as an object", descriptor.ResourceDefaultCR)
	}
	return object, nil
}

// layer returns the file that a layer of the component holds; nil for none. It is fetched with the login of the first installation.
func (r *reading) layer(ctx context.Context, name string, layer *descriptor.Layer) ([]byte, error) {
	if layer == nil || r.cover.source == nil {
		return nil, nil
	}
	part, err := r.image(name, &v1beta2.ImageSpec{
		Repo: r.cover.source.Repo, Name: r.cover.source.Name, Ref: layer.Digest, Type: v1beta2.RefType(layer.Format),
	})
	if err != nil {
		return nil, err
	}
	part.selector = r.selector
	_, _, tree, err := r.tree(ctx, &part)
	if err != nil || len(tree.Files) == 0 {
		return nil, err
	}
	return tree.Files[0].Data, nil
}
