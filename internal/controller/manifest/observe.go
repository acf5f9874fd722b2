package manifest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/pkg/apply"
	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

// connect finds the cluster, the connection to it and the record of what was installed there.
func (r *Reconciler) connect(ctx context.Context, w *work) error {
	target, err := r.targetOf(ctx, w.manifest)
	if err != nil {
		return err
	}
	target.Owner = w.key
	w.target = target
	if w.runtime, err = r.Fleet.Get(ctx, target); err != nil {
		return err
	}
	w.recorded, err = r.loadInventory(ctx, w.manifest)
	return err
}

// targetOf says where a Manifest goes:
//
//  1. One of a Kyma goes where its Kyma says, whatever its own spec.remote is: upstream writes false everywhere.
//  2. A stand-alone one goes to the runtime of the access Secret when spec.remote is true (found by its label kyma-name,
//     else by its own name), to this cluster otherwise.
func (r *Reconciler) targetOf(ctx context.Context, manifest *v1beta2.Manifest) (Target, error) {
	name := manifest.Labels[v1beta2.LabelKymaName]
	owner := kymaOf(manifest)
	if owner == nil {
		if name == "" {
			name = manifest.Name
		}
		return Target{Namespace: manifest.Namespace, Name: name, Local: !manifest.Spec.Remote}, nil
	}
	kyma := &v1beta2.Kyma{}
	err := r.Client.Get(ctx, client.ObjectKey{Namespace: manifest.Namespace, Name: owner.Name}, kyma)
	if apierrors.IsNotFound(err) {
		// The Kyma was deleted without waiting for its Manifests; what they say of themselves is all that is left.
		return Target{Namespace: manifest.Namespace, Name: owner.Name, Local: false}, nil
	}
	if err != nil {
		return Target{}, fmt.Errorf("read Kyma %s/%s: %w", manifest.Namespace, owner.Name, err)
	}
	local := kyma.Spec.Remote != nil && !*kyma.Spec.Remote
	return Target{Namespace: manifest.Namespace, Name: kyma.Name, Local: local}, nil
}

// kymaOf returns the Kyma that a Manifest belongs to; nil for a stand-alone one.
func kymaOf(manifest metav1.Object) *metav1.OwnerReference {
	owner := metav1.GetControllerOf(manifest)
	if owner == nil || owner.Kind != "Kyma" {
		return nil
	}
	if gv, err := schema.ParseGroupVersion(owner.APIVersion); err != nil || gv.Group != v1beta2.GroupVersion.Group {
		return nil
	}
	return owner
}

// sourceOf reads spec.install.source and refuses what this version cannot install, before anything is touched.
func sourceOf(spec v1beta2.ManifestSpec) (v1beta2.ImageSpec, *Problem) {
	source := v1beta2.ImageSpec{}
	if err := json.Unmarshal(spec.Install.Source.Raw, &source); err != nil {
		return source, &Problem{Reason: v1beta2.ReasonSourceInvalid, Message: fmt.Sprintf("spec.install.source cannot be read: %v", err)}
	}
	unsupported := func(field string) (v1beta2.ImageSpec, *Problem) {
		return source, &Problem{
			Reason:  v1beta2.ReasonSourceUnsupported,
			Message: fmt.Sprintf("%s is not supported by this version of the operator: remove it, or install a version that supports it", field),
		}
	}
	switch {
	case len(spec.AdditionalInstalls) > 0:
		return unsupported("spec.additionalInstalls")
	case spec.CRDs != nil:
		return unsupported("spec.crds")
	case spec.Values != nil:
		return unsupported("spec.values")
	case len(spec.Probes) > 0:
		return unsupported("spec.probes")
	}
	switch source.Type {
	case "", v1beta2.RefTypeOCI, v1beta2.RefTypeOCIDir:
		return source, nil
	default:
		return unsupported(fmt.Sprintf("spec.install.source.type %q", source.Type))
	}
}

// interests are the kinds whose events matter to this Manifest.
func (w *work) interests() []Interest {
	seen := map[schema.GroupKind]bool{}
	var interests []Interest
	add := func(gvk schema.GroupVersionKind, mode Mode) {
		if !seen[gvk.GroupKind()] {
			seen[gvk.GroupKind()] = true
			interests = append(interests, Interest{GVK: gvk, Mode: mode})
		}
	}
	if w.manifest.Spec.Resource != nil && len(w.manifest.Spec.Resource.Object) > 0 {
		add(w.manifest.Spec.Resource.GroupVersionKind(), ModuleCR)
	}
	for _, entry := range w.recorded {
		add(schema.GroupVersionKind{Group: entry.Group, Version: entry.Version, Kind: entry.Kind}, modeOf(entry.GroupKind()))
	}
	for _, object := range w.desired {
		add(object.GroupVersionKind(), modeOf(object.GroupVersionKind().GroupKind()))
	}
	return interests
}

func modeOf(kind schema.GroupKind) Mode {
	switch kind {
	case schema.GroupKind{Group: "apps", Kind: "Deployment"}, schema.GroupKind{Group: "apps", Kind: "StatefulSet"},
		schema.GroupKind{Group: "apps", Kind: "DaemonSet"}, schema.GroupKind{Group: "batch", Kind: "Job"}:
		return Workload
	default:
		return Metadata
	}
}

// settled tells that the cluster holds what the current spec asks for, so that the content is not needed.
func (w *work) settled() bool {
	status := w.manifest.Status
	if status.ObservedGeneration != w.manifest.Generation || len(w.recorded) == 0 ||
		len(status.Resolved) != 1 || status.Resolved[0].Digest != w.source.Ref {
		return false
	}
	if w.hasModuleCR() && !isTrue(status.Conditions, v1beta2.ConditionModuleCR) {
		return false
	}
	return !inventory.Drifted(w.recorded, w.runtime.Live)
}

// relation says what the owner mark on an object means to this Manifest.
func (r *Reconciler) relation(ctx context.Context, w *work) func(owner string) apply.Relation {
	return func(owner string) apply.Relation {
		if owner == w.owner() {
			return apply.OwnerSelf
		}
		key, ok := parseOwner(owner)
		if !ok {
			return apply.OwnerForeign
		}
		other := &v1beta2.Manifest{}
		err := r.Client.Get(ctx, key, other)
		switch {
		case apierrors.IsNotFound(err):
			return apply.OwnerGone
		case err != nil || !sameKyma(w.manifest, other):
			return apply.OwnerForeign
		default:
			return apply.OwnerSibling
		}
	}
}

func sameKyma(a, b metav1.Object) bool {
	first, second := kymaOf(a), kymaOf(b)
	return first != nil && second != nil && first.UID == second.UID
}

// problemOf turns an error of a collaborator into a cause that the status can name.
func problemOf(err error) *Problem {
	var problem *Problem
	if errors.As(err, &problem) {
		return problem
	}
	return nil
}
