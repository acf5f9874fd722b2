package directinstall

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/pkg/component/descriptor"
	"github.com/kyma-project/lifecycle-manager/pkg/content"
	"github.com/kyma-project/lifecycle-manager/pkg/installer"
	"github.com/kyma-project/lifecycle-manager/pkg/render"
	"github.com/kyma-project/lifecycle-manager/pkg/render/formats"
	"github.com/kyma-project/lifecycle-manager/pkg/render/helm"
)

// fetching reads the content of component versions.
type fetching struct {
	access  Access
	mapping descriptor.Mapping
	store   *content.Store
}

// reader returns a reader for the registry that holds a component. Its address may come from a template. Its author must not decide to skip
// TLS, since logins would then be sent in clear text: only Access decides that, and a scheme is ignored.
func (f *fetching) reader(where *Component) *descriptor.Reader {
	address := where.Registry
	if _, rest, has := strings.Cut(address, "://"); has {
		address = rest
	}
	host, below, _ := strings.Cut(strings.Trim(address, "/"), "/")
	return &descriptor.Reader{
		Registry: host, SubPath: below, Mapping: cmp.Or(f.mapping, f.access.Mapping),
		Registries: descriptor.Registries{
			PlainHTTP: f.access.plain(host), Credentials: f.access.Credentials, Policy: f.access.Policy,
			Transport: content.Transport(), // it honours content.WithDialControl
		},
	}
}

// layer returns the source of one layer.
func (f *fetching) layer(c *descriptor.Component, layer *descriptor.Layer, plainHTTP bool) (content.Source, error) {
	reference, _, err := content.ParseReference(c.Repository, c.RepositoryName, layer.Digest)
	if err != nil {
		return nil, err
	}
	oci := &content.OCI{Store: f.store, Registries: content.Registries{
		PlainHTTP:   func(host string) bool { return plainHTTP || f.access.plain(host) },
		Credentials: f.access.Credentials, Policy: f.access.Policy,
	}}
	return &content.LayerSource{OCI: oci, Ref: reference, Archive: layer.Format != descriptor.FormatFile}, nil
}

// fromComponent returns the content of a component version.
func (c *installing) fromComponent(ctx context.Context, where *Component, store *content.Store) (loaded, error) {
	fetch := &fetching{access: c.plan.Access, mapping: c.plan.mapping(), store: store}
	reader := fetch.reader(where)
	component, err := reader.Get(ctx, where.Name, where.Version)
	if err != nil {
		return loaded{}, err
	}
	contents, err := component.Contents()
	if err != nil {
		return loaded{}, err
	}
	found := loaded{images: component.Images()}
	found.source = fmt.Sprintf("%s//%s:%s@%s", strings.Trim(reader.Registry+"/"+reader.SubPath, "/"), component.Name, component.Version,
		digestOf(&contents))
	policy := c.plan.policy(component.Name)
	reading := &reading{
		fetching: fetch, component: component, contents: &contents, module: c.module, plain: reader.PlainHTTP,
		sealed: policy.Enforced() && !policy.Allows(descriptor.AllowValues),
	}
	if err := reading.verify(ctx, policy, &found); err != nil {
		return found, err
	}
	found.component = component.Name
	return found, reading.into(ctx, &found)
}

// digestOf identifies the installed content: the digest of the only layer, or one over all layers. The digest of the component version
// itself changes when it is signed.
func digestOf(contents *descriptor.Contents) string {
	layers := slices.Clone(contents.Installs)
	for _, layer := range []*descriptor.Layer{contents.Config, contents.Definitions} {
		if layer != nil {
			layers = append(layers, *layer)
		}
	}
	if len(layers) == 1 {
		return layers[0].Digest
	}
	sum := sha256.New()
	for _, layer := range layers {
		fmt.Fprintf(sum, "%s %s %s\n", layer.Resource, layer.Format, layer.Digest)
	}
	return "sha256:" + hex.EncodeToString(sum.Sum(nil))
}

// reading turns the resources of a component version into sources.
type reading struct {
	*fetching
	component *descriptor.Component
	contents  *descriptor.Contents
	module    string
	plain     bool
	// release is the release name that the module gives to a chart; empty if the component names one.
	release string
	// sealed: a signature is enforced, and does not cover what others write into the cluster.
	sealed bool
}

func (r *reading) into(ctx context.Context, found *loaded) error {
	config := helm.Config{}
	if layer := r.contents.Config; layer != nil {
		tree, err := r.tree(ctx, layer)
		if err != nil {
			return err
		}
		if config, err = helm.ParseConfig(firstFile(tree)); err != nil {
			return err
		}
	}
	if layer := r.contents.Definitions; layer != nil {
		tree, err := r.tree(ctx, layer)
		if err != nil {
			return err
		}
		rendered, err := render.Raw{}.Render(ctx, tree, render.Input{})
		if err != nil {
			return fmt.Errorf("resource %s: %w", layer.Resource, err)
		}
		for _, step := range rendered.Steps {
			found.definitions = append(found.definitions, step...)
		}
	}
	for i := range r.contents.Installs {
		source, err := r.source(i, config)
		if err != nil {
			return err
		}
		found.sources = append(found.sources, source)
	}
	if found.seal != nil {
		found.seal.release = r.release
	}
	return nil
}

// source returns one installation. The first one has the name and the release name that it has in a Manifest, whatever its resource is
// called: what belongs to it goes along when the module changes hands. The config layer may refer to it by the name of the module.
func (r *reading) source(at int, config helm.Config) (installer.Source, error) {
	layer, first := &r.contents.Installs[at], at == 0
	renderer, known := formats.Builtin()[layer.Format]
	if !known {
		return installer.Source{}, refuse(ReasonUnsupported, "resource %s of component %s:%s is of the format %q, which is not known here",
			layer.Resource, r.component.Name, r.component.Version, layer.Format)
	}
	own, err := config.For(layer.Resource)
	name, release := layer.Resource, layer.Resource
	if first {
		name, release = descriptor.ResourceManifest, r.module
		for _, other := range []string{name, r.module} {
			if err == nil && own.Values == nil && own.Namespace == "" && own.ReleaseName == "" {
				own, err = config.For(other)
			}
		}
	}
	if err != nil {
		return installer.Source{}, err
	}
	if first && own.ReleaseName == "" && layer.Format == descriptor.FormatHelmChart {
		r.release = release
	}
	from, err := r.layer(r.component, layer, r.plain)
	return installer.Source{
		Name: name, Content: from, Renderer: renderer, Values: own.Values, Namespace: own.Namespace,
		ReleaseName: cmp.Or(own.ReleaseName, release), NoLookups: r.sealed,
	}, err
}

func (r *reading) tree(ctx context.Context, layer *descriptor.Layer) (*content.Tree, error) {
	from, err := r.layer(r.component, layer, r.plain)
	if err != nil {
		return nil, err
	}
	return from.Fetch(ctx, content.Resolved{Digest: layer.Digest})
}

func firstFile(tree *content.Tree) []byte {
	if len(tree.Files) == 0 {
		return nil
	}
	return tree.Files[0].Data
}

// described is the location of a component in a ModuleTemplate's descriptor, in both schemas of OCM.
type described struct {
	Component identity `json:"component"`
	identity
	Metadata identity `json:"metadata"`
}

type identity struct {
	Name               string              `json:"name"`
	Version            string              `json:"version"`
	RepositoryContexts []repositoryContext `json:"repositoryContexts"`
}

type repositoryContext struct {
	BaseURL string             `json:"baseUrl"`
	SubPath string             `json:"subPath"`
	Mapping descriptor.Mapping `json:"componentNameMapping"`
}

func (p *Plan) descriptor() (name, version string, at repositoryContext) {
	told := described{}
	if raw := p.Template.Spec.Descriptor.Raw; len(raw) == 0 || json.Unmarshal(raw, &told) != nil {
		return "", "", at
	}
	contexts := slices.Concat(told.RepositoryContexts, told.Component.RepositoryContexts)
	if len(contexts) > 0 {
		at = contexts[len(contexts)-1] // the newest
	}
	return cmp.Or(told.Component.Name, told.Metadata.Name), cmp.Or(told.Component.Version, told.Metadata.Version), at
}

// mapping returns the mapping of the descriptor, unless the Plan names a registry.
func (p *Plan) mapping() descriptor.Mapping {
	if p.Component != nil && p.Component.Registry != "" {
		return ""
	}
	_, _, at := p.descriptor()
	return at.Mapping
}

// Located returns the registry of a ModuleTemplate's component, and the mapping of its name to a repository; nil if the template does not
// name them. release may be nil.
func Located(template *v1beta2.ModuleTemplate, release *v1beta2.ModuleReleaseMeta) (*Component, descriptor.Mapping, error) {
	plan := &Plan{Template: template, Release: release}
	where, err := componentOf(plan)
	return where, plan.mapping(), err
}

// componentOf returns the component version that holds the content; nil when nothing names one.
func componentOf(plan *Plan) (*Component, error) {
	where := Component{}
	if plan.Component != nil {
		where = *plan.Component
	}
	name, version, at := plan.descriptor()
	if where.Registry == "" && at.BaseURL != "" {
		where.Registry = strings.TrimSuffix(at.BaseURL, "/") + "/" + at.SubPath
	}
	if where.Registry == "" {
		return nil, nil
	}
	if plan.Release != nil {
		where.Name = cmp.Or(where.Name, plan.Release.Spec.OCMComponentName)
	}
	notes := plan.Template.Annotations
	where.Name = cmp.Or(where.Name, notes[v1beta2.AnnotationOCMComponentName], notes[v1beta2.AnnotationFQDN], name)
	where.Version = cmp.Or(where.Version, version, plan.Template.Spec.Version)
	if where.Name == "" {
		return nil, refuse(ReasonNoContent, "the component in %s that holds module %s is not known: name it, or its ModuleReleaseMeta",
			where.Registry, plan.Template.Spec.ModuleName)
	}
	return &where, nil
}
