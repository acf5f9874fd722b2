package packaging

import (
	"archive/tar"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/pkg/component/descriptor"
	"github.com/kyma-project/lifecycle-manager/pkg/moduleconfig"
	"github.com/kyma-project/lifecycle-manager/pkg/render"
	"github.com/kyma-project/lifecycle-manager/pkg/requirements"
)

// annotationDocURL points to the documentation, for tools that do not read spec.info.
const annotationDocURL = v1beta2.OperatorPrefix + "doc-url"

// linkManifest is the name of the link to a manifest in a ModuleTemplate.
const linkManifest = "rawManifest"

// Template returns the ModuleTemplate of the module. namespace may be empty: it is chosen when the template is applied.
func (s *Source) Template(ctx context.Context, namespace string) (*v1beta2.ModuleTemplate, error) {
	objects, err := s.tellingObjects(ctx)
	if _, unknown := errors.AsType[*render.NeedsLookups](err); unknown {
		objects, err = nil, nil // only a cluster can tell them, and where they are installed it does
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.ManifestFile, err)
	}
	return s.template(objects, namespace)
}

func (s *Source) template(objects []*unstructured.Unstructured, namespace string) (*v1beta2.ModuleTemplate, error) {
	c := s.Config
	data, err := s.defaultCR()
	if err != nil {
		return nil, err
	}
	template := &v1beta2.ModuleTemplate{
		TypeMeta: metav1.TypeMeta{APIVersion: v1beta2.GroupVersion.String(), Kind: "ModuleTemplate"},
		ObjectMeta: metav1.ObjectMeta{
			Name: TemplateName(c.ModuleName(), c.Version), Namespace: namespace,
			Labels: maps.Clone(c.Labels), Annotations: maps.Clone(c.Annotations),
		},
		Spec: v1beta2.ModuleTemplateSpec{
			ModuleName: c.ModuleName(), Version: c.Version, Data: data,
			Descriptor:       runtime.RawExtension{Raw: []byte("{}")},
			RequiresDowntime: c.RequiresDowntime, Readiness: v1beta2.Readiness(c.Readiness), RollbackTo: c.RollbackTo,
			Info: s.info(), Resources: s.links(),
		},
	}
	fillTemplate(template, c)
	mark(&template.Labels, v1beta2.LabelModuleName, c.ModuleName())
	markRequires(template, c)
	if c.Beta {
		mark(&template.Labels, v1beta2.LabelBeta, v1beta2.EnabledValue)
	}
	if c.Internal {
		mark(&template.Labels, v1beta2.LabelInternal, v1beta2.EnabledValue)
	}
	mark(&template.Annotations, v1beta2.AnnotationIsClusterScoped, strconv.FormatBool(clusterScoped(data, objects)))
	if c.Documentation != "" {
		mark(&template.Annotations, annotationDocURL, c.Documentation)
	}
	return template, nil
}

// TemplateName returns the name of the ModuleTemplate of a module's version; the operator looks for it.
func TemplateName(module, version string) string { return module + "-" + version }

func mark(values *map[string]string, key, value string) {
	if *values == nil {
		*values = map[string]string{}
	}
	(*values)[key] = value
}

// fillTemplate copies the fields that have the same shape in both.
func fillTemplate(template *v1beta2.ModuleTemplate, c *moduleconfig.Config) {
	for _, kind := range c.AssociatedResources {
		template.Spec.AssociatedResources = append(template.Spec.AssociatedResources, metav1.GroupVersionKind(kind))
	}
	for _, check := range c.CustomStateCheck {
		template.Spec.CustomStateCheck = append(template.Spec.CustomStateCheck, v1beta2.CustomStateCheck{
			JSONPath: check.JSONPath, Value: check.Value, MappedState: v1beta2.State(check.MappedState),
		})
	}
	for _, rule := range c.AllowCRDChanges {
		template.Spec.AllowCRDChanges = append(template.Spec.AllowCRDChanges, v1beta2.CRDRule(rule))
	}
	if m := c.Manager; m != nil {
		template.Spec.Manager = &v1beta2.Manager{GroupVersionKind: metav1.GroupVersionKind(m.Kind), Namespace: m.Namespace, Name: m.Name}
	}
}

// markRequires writes what the version needs into the spec, and into the annotation that clients of another lifecycle manager keep. A list
// that the author wrote into the annotation is part of it.
func markRequires(template *v1beta2.ModuleTemplate, c *moduleconfig.Config) {
	list := requiresOf(c)
	if len(list) == 0 {
		return
	}
	for _, one := range list {
		template.Spec.Requires = append(template.Spec.Requires, v1beta2.Requirement(one))
	}
	mark(&template.Annotations, v1beta2.AnnotationRequires, requirements.FormatList(list))
}

// requiresOf returns what the version of a configuration needs.
func requiresOf(c *moduleconfig.Config) []requirements.Requirement {
	marked, err := requirements.ParseList(c.Annotations[v1beta2.AnnotationRequires])
	if err != nil {
		marked = nil // package moduleconfig refuses it
	}
	return requirements.Union(c.Requires, marked)
}

func (s *Source) info() *v1beta2.ModuleInfo {
	c := s.Config
	if c.Repository == "" && c.Documentation == "" && len(c.Icons) == 0 {
		return nil
	}
	info := &v1beta2.ModuleInfo{Repository: c.Repository, Documentation: c.Documentation}
	for _, icon := range c.Icons {
		info.Icons = append(info.Icons, v1beta2.Named(icon))
	}
	return info
}

// links returns the links of the configuration, and the manifest if it is a link.
func (s *Source) links() []v1beta2.Named {
	var links []v1beta2.Named
	own := false
	for _, link := range s.Config.Resources {
		own = own || link.Name == linkManifest
		links = append(links, v1beta2.Named(link))
	}
	if moduleconfig.IsURL(s.Config.Manifest) && !own {
		links = append(links, v1beta2.Named{Name: linkManifest, Link: s.Config.Manifest})
	}
	return links
}

// defaultCR returns the default custom resource, nil when the module has none.
func (s *Source) defaultCR() (*unstructured.Unstructured, error) {
	if s.DefaultCR == nil {
		return nil, nil //nolint:nilnil // many modules have none
	}
	objects, err := render.Parse(bytes.NewReader(s.DefaultCR), maxFetched)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.DefaultCRFile, err)
	}
	if len(objects) != 1 {
		return nil, fmt.Errorf("%s has %d objects: the default custom resource is one", s.DefaultCRFile, len(objects))
	}
	return objects[0], nil
}

// clusterScoped reports whether the kind of the default CR has no namespace, by its definition or as a built-in kind of Kubernetes.
func clusterScoped(cr *unstructured.Unstructured, objects []*unstructured.Unstructured) bool {
	if cr == nil {
		return false
	}
	namespaced, known := render.FirstKnown(render.Scopes(objects).Scope, render.BuiltinScope)(cr.GroupVersionKind())
	return known && !namespaced
}

// Encode writes an object as YAML: the same bytes for the same object.
func Encode(object runtime.Object) ([]byte, error) {
	text, err := json.Marshal(object)
	if err != nil {
		return nil, err
	}
	return yaml.JSONToYAML(text)
}

// TemplateOf returns the ModuleTemplate of a component version: the one in its resources, or else one made from its other resources. blob
// reads a resource.
func TemplateOf(
	ctx context.Context, c *descriptor.Component, namespace string, blob func(resource string) ([]byte, error),
) (*v1beta2.ModuleTemplate, error) {
	has := func(name string) bool {
		return slices.ContainsFunc(c.Resources, func(r descriptor.Resource) bool { return r.Name == name })
	}
	if has(resourceTemplate) {
		text, err := blob(resourceTemplate)
		if err != nil {
			return nil, err
		}
		template := &v1beta2.ModuleTemplate{}
		if err := yaml.Unmarshal(text, template); err != nil || template.Kind != "ModuleTemplate" {
			return nil, fmt.Errorf("resource %s of component %s:%s is no ModuleTemplate", resourceTemplate, c.Name, c.Version)
		}
		template.Namespace = namespace
		return template, nil
	}
	config := &moduleconfig.Config{Name: c.Name, Version: c.Version}
	for _, label := range c.Labels {
		if label.Name == v1beta2.AnnotationRequires {
			mark(&config.Annotations, label.Name, string(label.Value))
		}
	}
	source := &Source{Config: config, DefaultCRFile: resourceDefaultCR}
	var objects []*unstructured.Unstructured
	for _, name := range []string{resourceDefaultCR, resourceManifest} {
		if !has(name) {
			continue
		}
		text, err := plain(blob(name))
		switch {
		case err != nil:
			return nil, fmt.Errorf("resource %s of component %s:%s: %w", name, c.Name, c.Version, err)
		case name == resourceDefaultCR:
			source.DefaultCR = text
		default:
			source.Manifest = text
			// Only determines whether the default CR has a namespace; a chart does not reveal that.
			objects, _ = source.tellingObjects(ctx)
		}
	}
	return source.template(objects, namespace)
}

// plain returns the file in a tar, as modulectl packs files, or the text itself.
func plain(text []byte, err error) ([]byte, error) {
	if err != nil {
		return nil, err
	}
	archive := tar.NewReader(bytes.NewReader(text))
	if header, err := archive.Next(); err == nil && header.Typeflag == tar.TypeReg {
		return io.ReadAll(io.LimitReader(archive, maxFetched))
	}
	return text, nil
}
