package module

import (
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

const (
	namespace = "kcp-system"
	sample    = "kyma-sample"
	operator  = "template-operator"
	component = "kyma-project.io/module/template-operator"
	v1, v2    = "1.0.0", "2.0.0"
)

var (
	noon = metav1.NewTime(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))
	one  = metav1.NewTime(time.Date(2026, 3, 1, 13, 0, 0, 0, time.UTC))
)

// newKyma returns a Kyma in channel regular with the modules.
func newKyma(modules ...v1beta2.Module) *v1beta2.Kyma {
	return &v1beta2.Kyma{
		ObjectMeta: metav1.ObjectMeta{
			Name: sample, Namespace: namespace, UID: "kyma-uid", Generation: 7, Finalizers: []string{v1beta2.FinalizerKyma},
		},
		Spec: v1beta2.KymaSpec{Channel: "regular", Modules: modules},
	}
}

func module(name string) v1beta2.Module { return v1beta2.Module{Name: name} }

// newRelease returns a release that offers versions by channel: "regular", "1.0.0", "fast", "2.0.0".
func newRelease(name string, channelsAndVersions ...string) *v1beta2.ModuleReleaseMeta {
	release := &v1beta2.ModuleReleaseMeta{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: namespace},
		Spec:       v1beta2.ModuleReleaseMetaSpec{ModuleName: name, OCMComponentName: componentOfModule(name)},
	}
	for i := 0; i < len(channelsAndVersions); i += 2 {
		release.Spec.Channels = append(release.Spec.Channels,
			v1beta2.ChannelVersion{Channel: channelsAndVersions[i], Version: channelsAndVersions[i+1]})
	}
	return release
}

func componentOfModule(name string) string { return "kyma-project.io/module/" + name }

func newTemplate(name, version string) *v1beta2.ModuleTemplate {
	data := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "operator.kyma-project.io/v1alpha1", "kind": "Sample",
		"metadata": map[string]any{"name": "sample"},
		"spec":     map[string]any{"size": int64(3)},
	}}
	return &v1beta2.ModuleTemplate{
		ObjectMeta: metav1.ObjectMeta{Name: name + "-" + version, Namespace: namespace, Generation: 2},
		Spec: v1beta2.ModuleTemplateSpec{
			ModuleName: name, Version: version, Data: data,
			Manager: &v1beta2.Manager{
				GroupVersionKind: metav1.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"}, Name: name, Namespace: "kyma-system",
			},
		},
	}
}

func newSource(version string) *v1beta2.ImageSpec {
	return &v1beta2.ImageSpec{
		Repo: "registry.local/component-descriptors", Name: component, Ref: "sha256:" + version, Type: v1beta2.RefTypeOCI,
	}
}

func newComponent(version string) Component {
	return Component{Source: newSource(version), LocalizedImages: []string{"registry.local/operator:" + version}}
}

// newWorld returns a Snapshot with the Kyma, and for the sample module a release (regular 1.0.0, fast 2.0.0), both templates and both
// components.
func newWorld(kyma *v1beta2.Kyma, edits ...func(*Snapshot)) Snapshot {
	w := Snapshot{
		Kyma:       kyma,
		Releases:   map[string]*v1beta2.ModuleReleaseMeta{operator: newRelease(operator, "regular", v1, "fast", v2)},
		Templates:  map[string]*v1beta2.ModuleTemplate{},
		Components: map[ComponentKey]Component{},
		Now:        noon,
	}
	for _, version := range []string{v1, v2} {
		w.Templates[operator+"-"+version] = newTemplate(operator, version)
		w.Components[ComponentKey{component, version}] = newComponent(version)
	}
	for _, edit := range edits {
		edit(&w)
	}
	return w
}

// sampleWorld returns a Snapshot with one enabled module, edited.
func sampleWorld(edits ...func(*Snapshot)) Snapshot {
	return newWorld(newKyma(module(operator)), edits...)
}

// installedAt adds the sample module's Manifest as this operator writes it for a channel and version, Ready, and its status entry.
func installedAt(channel, version string) func(*Snapshot) {
	return func(w *Snapshot) {
		manifest := manifestAt(w, channel, version)
		w.Manifests = append(w.Manifests, *manifest)
		statusAt(channel, version)(w)
	}
}

// manifestAt returns the sample module's Manifest for a channel and version as an API server stores it, Ready.
func manifestAt(w *Snapshot, channel, version string) *v1beta2.Manifest {
	manifest := wanted(w.Kyma, &Verdict{
		Module: operator, Channel: channel, Version: version, ComponentName: component,
		Template: newTemplate(operator, version), Source: newSource(version), LocalizedImages: newComponent(version).LocalizedImages,
		Policy: v1beta2.CustomResourcePolicyCreateAndDelete,
	})
	return makeReady(stored(manifest, nil))
}

// statusAt adds a status entry for the sample module as installed.
func statusAt(channel, version string) func(*Snapshot) {
	return func(w *Snapshot) {
		w.Kyma.Status.Modules = append(w.Kyma.Status.Modules, v1beta2.ModuleStatus{
			Name: operator, State: v1beta2.StateReady, Channel: channel, Version: version,
			OCMComponentName: component, FQDN: component,
			Template: &v1beta2.TrackingObject{PartialMeta: v1beta2.PartialMeta{Name: operator + "-" + version}},
		})
	}
}

// stored returns a Manifest as an API server stores it after it was created or applied over another.
func stored(applied, before *v1beta2.Manifest) *v1beta2.Manifest {
	after := applied.DeepCopy()
	after.TypeMeta = metav1.TypeMeta{}
	if before == nil {
		after.UID, after.ResourceVersion, after.Generation = types.UID("uid-"+applied.Name), "1", 1
		return after
	}
	after.UID, after.Generation = before.UID, before.Generation
	if !equality.Semantic.DeepEqual(applied.Spec, before.Spec) {
		after.Generation++
	}
	after.ResourceVersion = next(before.ResourceVersion)
	after.DeletionTimestamp = before.DeletionTimestamp
	after.Status = *before.Status.DeepCopy()
	for key, value := range before.Annotations {
		if _, set := after.Annotations[key]; !set && !slices.Contains(ownAnnotations, key) {
			after.Annotations[key] = value
		}
	}
	return after
}

func next(resourceVersion string) string {
	var number int
	_, _ = fmt.Sscan(resourceVersion, &number)
	return fmt.Sprint(number + 1)
}

func makeReady(manifest *v1beta2.Manifest) *v1beta2.Manifest {
	return reporting(manifest, v1beta2.StateReady, v1beta2.ReasonReady, "all objects are ready")
}

// reporting gives a Manifest a status for its current generation.
func reporting(manifest *v1beta2.Manifest, state v1beta2.State, reason, message string) *v1beta2.Manifest {
	manifest.Status.ObservedGeneration = manifest.Generation
	manifest.Status.State = state
	manifest.Status.Conditions = []metav1.Condition{{
		Type: v1beta2.ConditionReady, Status: metav1.ConditionFalse, Reason: reason, Message: message, LastTransitionTime: noon,
	}}
	return manifest
}

// dying marks a Manifest as being deleted.
func dying(manifest *v1beta2.Manifest) *v1beta2.Manifest {
	manifest.DeletionTimestamp = noon.DeepCopy()
	manifest.Generation++
	return manifest
}

// theManifest edits the only Manifest of the Snapshot.
func theManifest(edit func(*v1beta2.Manifest)) func(*Snapshot) {
	return func(w *Snapshot) { edit(&w.Manifests[0]) }
}

func theModule(edit func(*v1beta2.Module)) func(*Snapshot) {
	return func(w *Snapshot) { edit(&w.Kyma.Spec.Modules[0]) }
}

func theRelease(edit func(*v1beta2.ModuleReleaseMeta)) func(*Snapshot) {
	return func(w *Snapshot) { edit(w.Releases[operator]) }
}

// theTemplate edits the template of that version.
func theTemplate(version string, edit func(*v1beta2.ModuleTemplate)) func(*Snapshot) {
	return func(w *Snapshot) { edit(w.Templates[operator+"-"+version]) }
}

func theEntry(edit func(*v1beta2.ModuleStatus)) func(*Snapshot) {
	return func(w *Snapshot) { edit(&w.Kyma.Status.Modules[0]) }
}

func isComponent(version string, known Component) func(*Snapshot) {
	return func(w *Snapshot) { w.Components[ComponentKey{component, version}] = known }
}

func notRead(version string) func(*Snapshot) {
	return func(w *Snapshot) { delete(w.Components, ComponentKey{component, version}) }
}

func unreadable(version, reason string) func(*Snapshot) {
	return isComponent(version, Component{Reason: reason, Message: "the registry says so"})
}

func ofChannel(channel string) func(*Snapshot) {
	return theModule(func(m *v1beta2.Module) { m.Channel = channel })
}

func pinned(version string) func(*Snapshot) {
	return theModule(func(m *v1beta2.Module) { m.Version = version })
}

func disabled(w *Snapshot) { w.Kyma.Spec.Modules = nil }

func unmanaged(w *Snapshot) { w.Kyma.Spec.Modules[0].Managed = new(bool) }

func kymaDeleted(w *Snapshot) { w.Kyma.DeletionTimestamp = noon.DeepCopy() }
