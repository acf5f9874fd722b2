package versioncontent

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/installable"
	"github.com/kyma-project/lifecycle-manager/internal/module"
	"github.com/kyma-project/lifecycle-manager/pkg/content"
	"github.com/kyma-project/lifecycle-manager/pkg/installer/engine"
	"github.com/kyma-project/lifecycle-manager/pkg/render"
	"github.com/kyma-project/lifecycle-manager/pkg/render/formats"
	"github.com/kyma-project/lifecycle-manager/pkg/render/helm"
)

// rendered is what a spec declares.
type rendered struct {
	objects, conditional []*unstructured.Unstructured
	untried              bool
	images               []string
	caveats              []string
	secrets              []*unstructured.Unstructured
}

// rendering renders one spec, as the manager's package modulecontent does.
type rendering struct {
	*Loader
	at     place
	module string
	spec   *v1beta2.ManifestSpec
	config helm.Config
	values map[string]any
	// conditional are the objects for other clusters, in their namespaces as far as these are known.
	conditional []placedObject
	untried     bool
	// namespace of the Kyma. caveats say what is rendered otherwise than by the manager, secrets are what must not be shown.
	namespace string
	caveats   []string
	secrets   []*unstructured.Unstructured
}

// placedObject is an object with the namespace that it goes to when it names none.
type placedObject struct {
	object    *unstructured.Unstructured
	namespace string
}

// componentOf returns the content of a spec as a Snapshot of package module holds it.
func componentOf(spec *v1beta2.ManifestSpec) module.Component {
	source := &v1beta2.ImageSpec{}
	if err := json.Unmarshal(spec.Install.Source.Raw, source); err != nil {
		return module.Component{}
	}
	return module.Component{
		Source: source, LocalizedImages: spec.LocalizedImages,
		Extras: module.Extras{Additional: spec.AdditionalInstalls, Config: spec.Config, CRDs: spec.CRDs},
	}
}

// objects returns what the spec declares: definitions first, then the installations in their order.
func (r *rendering) objects(ctx context.Context) (*rendered, error) {
	if err := r.readValues(ctx); err != nil {
		return nil, err
	}
	var parts []engine.Part
	if r.spec.CRDs != nil {
		part, err := r.part(ctx, "spec.crds", r.spec.CRDs)
		if err != nil {
			return nil, err
		}
		parts = append(parts, part)
	}
	for _, info := range append([]v1beta2.InstallInfo{r.spec.Install}, r.spec.AdditionalInstalls...) {
		source := &v1beta2.ImageSpec{}
		if err := json.Unmarshal(info.Source.Raw, source); err != nil || source.Ref == "" {
			return nil, foreignSource(info.Name)
		}
		part, err := r.part(ctx, info.Name, source)
		if err != nil {
			return nil, err
		}
		parts = append(parts, part)
	}
	return r.arranged(parts)
}

// arranged places the objects of all parts, and gives them the images of the component.
func (r *rendering) arranged(parts []engine.Part) (*rendered, error) {
	var all []*unstructured.Unstructured
	for _, part := range parts {
		all = append(all, slices.Concat(part.Steps...)...)
		all = append(all, part.Hooks...)
	}
	if len(all) > maxObjects {
		return nil, errTooMany
	}
	scope := render.FirstKnown(render.Scopes(all).Scope, render.BuiltinScope)
	made, err := engine.Arrange(parts, engine.Placing{
		Own: func(objects []*unstructured.Unstructured, namespace string) ([]*unstructured.Unstructured, error) {
			return render.Normalise(objects, namespace, scope)
		},
	})
	if err != nil {
		return nil, err
	}
	declared := slices.Concat(made.Objects, slices.Concat(made.Hooks...))
	objects, err := render.LocaliseImages(declared, r.spec.LocalizedImages)
	if err != nil {
		return nil, err
	}
	is := &rendered{objects: objects, untried: r.untried, images: imagesOf(objects), caveats: r.caveats, secrets: r.secrets}
	for _, one := range r.conditional {
		// One by one, since an object may be there in several forms.
		placed, err := render.Normalise([]*unstructured.Unstructured{one.object}, one.namespace, scope)
		if err == nil {
			placed, err = render.LocaliseImages(placed, r.spec.LocalizedImages)
		}
		is.untried = is.untried || err != nil // it could not be installed like that
		is.conditional = append(is.conditional, placed...)
	}
	return is, nil
}

// readValues reads the config layer and the values of the spec.
func (r *rendering) readValues(ctx context.Context) error {
	if err := r.readEntryValues(ctx); err != nil {
		return err
	}
	if r.spec.Values != nil {
		own, err := helm.Values(r.spec.Values.Raw)
		if err != nil {
			return err
		}
		r.values = helm.MergeValues(r.values, own)
	}
	if r.spec.Config == nil {
		return nil
	}
	tree, err := r.tree(ctx, r.spec.Config, false)
	if err != nil {
		return err
	}
	var data []byte
	if len(tree.Files) > 0 {
		data = tree.Files[0].Data
	}
	r.config, err = helm.ParseConfig(data)
	return err
}

// part reads and renders one source.
func (r *rendering) part(ctx context.Context, name string, source *v1beta2.ImageSpec) (engine.Part, error) {
	format := cmp.Or(string(source.Type), string(v1beta2.RefTypeOCI))
	renderer, known := formats.Builtin()[format]
	if !known {
		return engine.Part{}, unknownFormat(name, format)
	}
	own, err := r.config.For(installable.ConfigName(r.config.Installs(), r.module, name))
	if err != nil {
		return engine.Part{}, err
	}
	tree, err := r.tree(ctx, source, format != string(v1beta2.RefTypeOCI))
	if err != nil {
		return engine.Part{}, err
	}
	input := render.Input{}
	if format == string(v1beta2.RefTypeHelmChart) {
		input = render.Input{
			Name: cmp.Or(own.ReleaseName, installable.ReleaseName(r.module, name)), Namespace: cmp.Or(own.Namespace, r.spec.TargetNamespace),
			Values: own.Values, KubeVersion: r.Capabilities.KubeVersion, APIVersions: r.Capabilities.APIVersions, Explore: true,
			Hooks: true, Generated: &render.Generated{},
		}
		if r.values != nil {
			input.Values = helm.MergeValues(own.Values, r.values)
		}
	}
	made, err := renderer.Render(ctx, tree, input)
	if err != nil {
		return engine.Part{}, render.InFile(name, err)
	}
	namespace := cmp.Or(own.Namespace, r.spec.TargetNamespace)
	for _, object := range made.Conditional {
		r.conditional = append(r.conditional, placedObject{object, namespace})
	}
	r.untried = r.untried || made.Untried
	return engine.Part{Name: name, Namespace: namespace, Steps: made.Steps, Hooks: made.Hooks}, nil
}

// tree returns the files of a layer.
func (r *rendering) tree(ctx context.Context, source *v1beta2.ImageSpec, archive bool) (*content.Tree, error) {
	reference, _, err := content.ParseReference(r.at.repository(source.Repo), source.Name, source.Ref)
	if err != nil {
		return nil, err
	}
	from := &content.LayerSource{OCI: r.oci(r.at), Ref: reference, Archive: archive}
	return from.Fetch(ctx, content.Resolved{Digest: source.Ref})
}
