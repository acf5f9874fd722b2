package module

import (
	"cmp"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/pkg/conditions"
)

// entryOf returns a module's entry in the status after this pass, nil when the module is gone.
func entryOf(w Snapshot, v *Verdict, before *v1beta2.ModuleStatus, result Result, told outcome) *v1beta2.ModuleStatus {
	manifest := current(v, result)
	if v.Kind == Removed && manifest == nil {
		return nil
	}
	entry := &v1beta2.ModuleStatus{Name: v.Module, State: told.state, Message: conditions.Cut(cmp.Or(told.message, v.Doubt))}
	if told.state != v1beta2.StateReady || told.cause != v1beta2.ReasonReady {
		entry.Reason = told.cause
	}
	if v.Note != "" {
		entry.Message = conditions.Cut(strings.TrimPrefix(entry.Message+"; "+v.Note, "; "))
	}
	entry.Avoid = avoidOf(v, before, manifest)
	if entry.Maintenance = !v.WakeAt.IsZero(); !v.Silent {
		entry.Offered = v.Offered
	}
	entry.Pending = pendingOf(v, result)
	have := installed{Channel: v.Channel, Version: v.Version, Component: v.ComponentName}
	if v.Template != nil && result.Reason != "" {
		// Not written, so not installed: a later version is compared with the one that the status names.
		have = installedOf(before, v.Manifest)
	}
	entry.Channel, entry.Version = have.Channel, have.Version
	entry.OCMComponentName = cmp.Or(have.Component, v.ComponentName)
	entry.FQDN = entry.OCMComponentName
	if v.Kind == Unmanaged {
		return entry // the operator owns none of its objects
	}
	if manifest != nil {
		entry.ResourceState, entry.ResourceMessage = manifest.Status.ResourceState, manifest.Status.ResourceMessage
		entry.Manifest = track(v1beta2.GroupVersion.String(), kindManifest, manifest.ObjectMeta)
		entry.Signature = manifest.Status.Signature.DeepCopy()
		if last := manifest.Status.InstalledVersion; last != entry.Version {
			entry.InstalledVersion = last
		}
	}
	switch {
	case v.Template != nil && result.Reason == "":
		refer(entry, w.Kyma, v)
	case before != nil && v.Kind != Refused:
		entry.Template, entry.Resource = before.Template.DeepCopy(), before.Resource.DeepCopy()
	}
	return entry
}

// refer sets an entry's references to the objects that its verdict is based on.
func refer(entry *v1beta2.ModuleStatus, kyma *v1beta2.Kyma, v *Verdict) {
	want := wanted(kyma, v)
	if entry.Manifest == nil {
		entry.Manifest = track(want.APIVersion, want.Kind, want.ObjectMeta)
	}
	entry.Template = track(v1beta2.GroupVersion.String(), kindTemplate, v.Template.ObjectMeta)
	if resource := want.Spec.Resource; resource != nil && v.Policy != v1beta2.CustomResourcePolicyIgnore {
		entry.Resource = track(resource.GetAPIVersion(), resource.GetKind(), metav1.ObjectMeta{
			Name: resource.GetName(), Namespace: resource.GetNamespace(), Generation: resource.GetGeneration(),
		})
	}
}

// track returns a reference to an object in the generation that was read.
func track(apiVersion, kind string, meta metav1.ObjectMeta) *v1beta2.TrackingObject {
	return &v1beta2.TrackingObject{
		TypeMeta:    metav1.TypeMeta{APIVersion: apiVersion, Kind: kind},
		PartialMeta: v1beta2.PartialMeta{Name: meta.Name, Namespace: meta.Namespace, Generation: meta.Generation},
	}
}
