package airgap

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

// Offer is a version of a module that a hub offers, and the component version that has its content; without a component, nothing names it.
type Offer struct {
	Module, Version, Component string
}

// Offers are what a hub offers.
type Offers struct {
	Modules []Offer
	// Objects are the ModuleTemplates and ModuleReleaseMetas, as another cluster applies them.
	Objects []byte
}

// Read reads the ModuleTemplates and ModuleReleaseMetas of a hub.
func Read(ctx context.Context, hub client.Reader, where ...client.ListOption) (Offers, error) {
	var templates v1beta2.ModuleTemplateList
	var releases v1beta2.ModuleReleaseMetaList
	if err := hub.List(ctx, &templates, where...); err != nil {
		return Offers{}, fmt.Errorf("list the ModuleTemplates: %w", err)
	}
	if err := hub.List(ctx, &releases, where...); err != nil {
		return Offers{}, fmt.Errorf("list the ModuleReleaseMetas: %w", err)
	}
	return offersOf(templates.Items, releases.Items)
}

// offersOf pairs templates with the components that the releases of their modules name.
func offersOf(templates []v1beta2.ModuleTemplate, releases []v1beta2.ModuleReleaseMeta) (found Offers, err error) {
	components := map[string]string{}
	var objects bytes.Buffer
	for i := range releases {
		release := &releases[i]
		components[release.Namespace+"/"+cmp.Or(release.Spec.ModuleName, release.Name)] = release.Spec.OCMComponentName
	}
	for i := range templates {
		template := &templates[i]
		found.Modules = append(found.Modules, Offer{
			Module: template.ModuleName(), Version: template.ModuleVersion(),
			Component: cmp.Or(components[template.Namespace+"/"+template.ModuleName()],
				template.Annotations[v1beta2.AnnotationOCMComponentName], template.Annotations[v1beta2.AnnotationFQDN]),
		})
		if err := write(&objects, template, "ModuleTemplate"); err != nil {
			return found, err
		}
	}
	for i := range releases {
		if err := write(&objects, &releases[i], "ModuleReleaseMeta"); err != nil {
			return found, err
		}
	}
	slices.SortFunc(found.Modules, func(a, b Offer) int {
		return cmp.Or(cmp.Compare(a.Module, b.Module), cmp.Compare(a.Version, b.Version))
	})
	found.Modules = slices.Compact(found.Modules)
	found.Objects = objects.Bytes()
	return found, nil
}

// write writes an object without what its cluster added to it.
func write(to *bytes.Buffer, object client.Object, kind string) error {
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
	if err != nil {
		return err
	}
	metadata := map[string]any{"name": object.GetName(), "namespace": object.GetNamespace()}
	if labels := object.GetLabels(); len(labels) > 0 {
		metadata["labels"] = labels
	}
	annotations := object.GetAnnotations()
	delete(annotations, corev1.LastAppliedConfigAnnotation)
	if len(annotations) > 0 {
		metadata["annotations"] = annotations
	}
	fields["apiVersion"], fields["kind"], fields["metadata"] = v1beta2.GroupVersion.String(), kind, metadata
	delete(fields, "status")
	text, err := yaml.Marshal(fields)
	if err != nil {
		return err
	}
	to.WriteString("---\n")
	to.Write(text)
	return nil
}
