package module

import (
	"maps"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

const kindRelease = "ModuleReleaseMeta"

// lastApplied is the annotation in which kubectl keeps the object that a user applied on the hub; it is as large as the object and has no
// meaning in a runtime.
const lastApplied = "kubectl.kubernetes.io/last-applied-configuration"

// Entry is one object of a catalog, as it must be in the runtime.
type Entry struct {
	// Object is complete for a server-side apply: namespace kyma-system, the hub's labels and annotations, the label of managed objects.
	Object *unstructured.Unstructured
}

// Catalog returns the releases and templates of a hub that a Kyma may see, sorted by kind and name:
//
//  1. A release that is being deleted or that is mandatory is not shown.
//  2. A restricted release is shown to the Kymas that may have it.
//  3. A channel is shown when the template of its version exists, is not being deleted, is not hidden from the Kyma by the labels beta and
//     internal, is not mandatory and belongs to that module and version.
//  4. A release with no channel left is not shown.
//  5. The templates are those that the shown channels name, each once.
//
// Versions that a Kyma pins or still runs are not included: the catalog lists what is available, and is the same for all Kymas with the
// same Visibility. Of the Kyma, only the labels count.
func Catalog(
	kyma *v1beta2.Kyma, releases map[string]*v1beta2.ModuleReleaseMeta, templates map[string]*v1beta2.ModuleTemplate, restricted []string,
) []Entry {
	world := Snapshot{Kyma: kyma, Releases: releases, Templates: templates, Restricted: restricted}
	var offers, versions []Entry
	named := map[string]bool{}
	for _, name := range slices.Sorted(maps.Keys(releases)) {
		release := releases[name]
		if !mayShow(world, release) {
			continue
		}
		channels := visibleChannels(world, release)
		if len(channels) == 0 {
			continue
		}
		offers = appendEntry(offers, releaseEntry(release, channels))
		for _, channel := range channels {
			named[templateName(name, channel.Version)] = true
		}
	}
	for _, name := range slices.Sorted(maps.Keys(named)) {
		versions = appendEntry(versions, templateEntry(templates[name]))
	}
	return append(offers, versions...)
}

// Visibility sums up the properties of a Kyma that Catalog depends on: Kymas with the same Visibility get the same catalog.
func Visibility(kyma *v1beta2.Kyma, releases map[string]*v1beta2.ModuleReleaseMeta, restricted []string) string {
	world := Snapshot{Kyma: kyma, Releases: releases, Restricted: restricted}
	var parts []string
	for _, label := range []string{v1beta2.LabelBeta, v1beta2.LabelInternal} {
		if strings.ToLower(kyma.Labels[label]) == v1beta2.EnabledValue {
			parts = append(parts, label)
		}
	}
	var selected []string
	for name, release := range releases {
		if release.Spec.KymaSelector != nil && restriction(world, release, name) == nil {
			selected = append(selected, name)
		}
	}
	slices.Sort(selected)
	return strings.Join(append(parts, selected...), " ")
}

// mayShow reports whether a release may be shown, apart from its channels.
func mayShow(w Snapshot, release *v1beta2.ModuleReleaseMeta) bool {
	return release.DeletionTimestamp.IsZero() && release.Spec.Mandatory == nil && restriction(w, release, release.Name) == nil
}

// visibleChannels returns the channels of a release that this Kyma may follow.
func visibleChannels(w Snapshot, release *v1beta2.ModuleReleaseMeta) []v1beta2.ChannelVersion {
	var channels []v1beta2.ChannelVersion
	for _, channel := range release.Spec.Channels {
		if template, refused := templateOf(w, release.Name, channel.Version); refused == nil && template.DeletionTimestamp.IsZero() {
			channels = append(channels, channel)
		}
	}
	return channels
}

func releaseEntry(release *v1beta2.ModuleReleaseMeta, channels []v1beta2.ChannelVersion) *unstructured.Unstructured {
	spec := release.Spec.DeepCopy()
	spec.Channels = channels
	return runtimeObject(kindRelease, &release.ObjectMeta, spec)
}

func templateEntry(template *v1beta2.ModuleTemplate) *unstructured.Unstructured {
	return runtimeObject(kindTemplate, &template.ObjectMeta, &template.Spec)
}

// runtimeObject returns an object of the hub as a runtime gets it; nil when its spec cannot be converted, which does not happen to an
// object from an API server.
func runtimeObject(kind string, meta *metav1.ObjectMeta, spec any) *unstructured.Unstructured {
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(spec)
	if err != nil {
		return nil
	}
	maps.DeleteFunc(content, func(_ string, value any) bool { return value == nil }) // an absent descriptor
	object := &unstructured.Unstructured{Object: map[string]any{"spec": content}}
	object.SetGroupVersionKind(v1beta2.GroupVersion.WithKind(kind))
	object.SetNamespace(v1beta2.RuntimeNamespace)
	object.SetName(meta.Name)
	labels := maps.Clone(meta.Labels)
	if labels == nil {
		labels = map[string]string{}
	}
	labels[v1beta2.LabelManagedBy] = v1beta2.ManagedByKyma
	object.SetLabels(labels)
	annotations := maps.Clone(meta.Annotations)
	delete(annotations, lastApplied)
	delete(annotations, v1beta2.AnnotationRollout) // the rollout is the hub's
	if len(annotations) > 0 {
		object.SetAnnotations(annotations)
	}
	return object
}

func appendEntry(entries []Entry, object *unstructured.Unstructured) []Entry {
	if object == nil {
		return entries
	}
	return append(entries, Entry{Object: object})
}
