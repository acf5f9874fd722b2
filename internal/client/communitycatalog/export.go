package communitycatalog

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/pkg/content"
)

// ExportOptions select the modules to export.
type ExportOptions struct {
	// Namespace to read; empty means all.
	Namespace string
	// Modules by name; none means all.
	Modules []string
	// Releases also exports the ModuleReleaseMetas, which make modules of the catalog manageable in a cluster that has them.
	Releases bool
}

// Exported is a catalog's folder, made from the modules of a cluster.
type Exported struct {
	// Files of the folder, with their paths.
	Files []content.File
	// Skipped lists what was skipped, and why.
	Skipped []string
}

// Export makes a catalog's folder, which Lint and Build read, from the ModuleTemplates of a cluster.
//
//  1. Fields that the cluster, kubectl, the lifecycle manager or a build writes are omitted.
//  2. A template without a module or a version is skipped, and so is a version that the current definition does not accept.
//  3. The same version of a module in two namespaces is an error, since it is ambiguous.
func Export(ctx context.Context, cluster client.Reader, options ExportOptions) (Exported, error) {
	found, err := read(ctx, cluster, options.Namespace)
	if err != nil {
		return Exported{}, err
	}
	files, from := map[string][]byte{}, map[string]string{}
	var made Exported
	put := func(object client.Object, kind, module, file string) error {
		if len(options.Modules) > 0 && !slices.Contains(options.Modules, module) {
			return nil
		}
		name := path.Join(Root, module, file)
		text, err := exported(object, kind)
		if err != nil {
			return fmt.Errorf("%s %s/%s: %w", kind, object.GetNamespace(), object.GetName(), err)
		}
		if before, there := from[name]; there && before != object.GetNamespace() {
			return fmt.Errorf("%s is in the namespaces %s and %s: choose one by --namespace", name, before, object.GetNamespace())
		}
		files[name], from[name] = text, object.GetNamespace()
		return nil
	}
	for i := range found.Templates {
		t := &found.Templates[i]
		module, version := t.ModuleName(), t.ModuleVersion()
		if !moduleName.MatchString(module) || !moduleVersion.MatchString(version) {
			made.Skipped = append(made.Skipped, fmt.Sprintf("%s/%s has no name or version that a catalog takes", t.Namespace, t.Name))
			continue
		}
		t.Name, t.Spec.ModuleName, t.Spec.Version = module+"-"+version, module, version
		if err := put(t, kindTemplate, module, t.Name+yamlEnd); err != nil {
			return made, err
		}
	}
	for i := range found.Releases {
		r := &found.Releases[i]
		if !options.Releases || !moduleName.MatchString(r.Name) {
			continue
		}
		if err := put(r, kindRelease, r.Name, r.Name+yamlEnd); err != nil {
			return made, err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		made.Files = append(made.Files, content.File{Path: name, Data: files[name]})
	}
	return made, nil
}

// exported returns an object without the fields that belong to its cluster.
func exported(object client.Object, kind string) ([]byte, error) {
	text, err := json.Marshal(object)
	if err != nil {
		return nil, err
	}
	fields := map[string]any{}
	if err := utiljson.Unmarshal(text, &fields); err != nil { // keeps large numbers unchanged
		return nil, err
	}
	made := &unstructured.Unstructured{Object: map[string]any{"spec": fields["spec"]}}
	made.SetAPIVersion(v1beta2.GroupVersion.String())
	made.SetKind(kind)
	made.SetName(object.GetName())
	labels, notes := maps.Clone(object.GetLabels()), maps.Clone(object.GetAnnotations())
	delete(labels, v1beta2.LabelManagedBy)
	for _, written := range append([]string{corev1.LastAppliedConfigAnnotation, v1beta2.AnnotationModuleVersion}, writtenNotes...) {
		delete(notes, written)
	}
	if kind == kindTemplate {
		module, _, _ := unstructured.NestedString(made.Object, "spec", "moduleName")
		if labels == nil {
			labels = map[string]string{}
		}
		labels[v1beta2.LabelModuleName] = module
		forUpstream(made)
	}
	if len(labels) > 0 {
		made.SetLabels(labels)
	}
	if len(notes) > 0 {
		made.SetAnnotations(notes)
	}
	return yaml.Marshal(made.Object)
}

// forUpstream removes fields with default values, and adds the descriptor that upstream's definition requires.
func forUpstream(template *unstructured.Unstructured) {
	if readiness, _, _ := unstructured.NestedString(template.Object, "spec", "readiness"); readiness == string(v1beta2.ReadinessWorkloads) {
		unstructured.RemoveNestedField(template.Object, "spec", "readiness")
	}
	unstructured.RemoveNestedField(template.Object, "spec", "channel")
	_ = unstructured.SetNestedMap(template.Object, map[string]any{}, "spec", "descriptor") // cannot fail: spec was decoded as a map
}

// read returns the templates and releases of a namespace, or of all namespaces.
func read(ctx context.Context, cluster client.Reader, namespace string) (Catalog, error) {
	var templates v1beta2.ModuleTemplateList
	var releases v1beta2.ModuleReleaseMetaList
	for _, list := range []client.ObjectList{&templates, &releases} {
		if err := cluster.List(ctx, list, client.InNamespace(namespace)); err != nil {
			return Catalog{}, fmt.Errorf("list %s: %w", plural(list), err)
		}
	}
	return Catalog{Templates: templates.Items, Releases: releases.Items}, nil
}

func plural(list runtime.Object) string {
	if _, is := list.(*v1beta2.ModuleTemplateList); is {
		return "moduletemplates"
	}
	return "modulereleasemetas"
}
