package manifest

import (
	"cmp"
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
	"github.com/kyma-project/lifecycle-manager/pkg/conditions"
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
	w.stored = w.recorded
	return err
}

// targetOf says where a Manifest goes:
//
//  1. One of a Kyma goes where its Kyma says, whatever its own spec.remote is: upstream writes false everywhere.
//  2. A stand-alone one goes to the runtime of the access Secret when spec.remote is true (found by its label kyma-name,
//     else by its own name), to this cluster otherwise.
func (r *Reconciler) targetOf(ctx context.Context, manifest *v1beta2.Manifest) (Target, error) {
	owner := kymaOf(manifest)
	if owner == nil {
		name := cmp.Or(manifest.Labels[v1beta2.LabelKymaName], manifest.Name)
		return Target{Namespace: manifest.Namespace, Name: name, Local: !manifest.Spec.Remote}, nil
	}
	kyma, target := &v1beta2.Kyma{}, Target{Namespace: manifest.Namespace, Name: owner.Name}
	err := r.Client.Get(ctx, client.ObjectKey{Namespace: manifest.Namespace, Name: owner.Name}, kyma)
	if apierrors.IsNotFound(err) || (err == nil && kyma.UID != owner.UID) {
		// The Kyma was deleted without waiting for its Manifests. Only an access Secret can still lead to what they installed: spec.remote
		// is no reason to look for it in the hub.
		return target, nil
	}
	if err != nil {
		return Target{}, fmt.Errorf("read Kyma %s/%s: %w", manifest.Namespace, owner.Name, err)
	}
	target.Local = kyma.Spec.Remote != nil && !*kyma.Spec.Remote
	return target, nil
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

// interests are the kinds whose events matter to this Manifest, in all versions that it knows of them.
func (w *work) interests() []Interest {
	seen := map[schema.GroupVersionKind]bool{}
	var interests []Interest
	add := func(gvk schema.GroupVersionKind, mode Mode) {
		if !seen[gvk] {
			seen[gvk] = true
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
	return w.applied() && (!w.hasModuleCR() || w.moduleCRCreated())
}

// applied tells that the content was compared with the cluster for the current spec, and that nothing has to be written since. That a
// status speaks of this generation is not enough: it may only tell why nothing could be done.
func (w *work) applied() bool {
	status := w.manifest.Status
	compared := conditions.Find(status.Conditions, v1beta2.ConditionResources)
	return status.ObservedGeneration == w.generation && len(w.recorded) > 0 &&
		len(status.Resolved) == 1 && status.Resolved[0].Digest == w.source.Ref &&
		compared != nil && compared.Status == metav1.ConditionTrue && compared.ObservedGeneration == w.generation &&
		!inventory.Drifted(w.recorded, w.runtime.Live)
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
	problem, _ := errors.AsType[*Problem](err)
	return problem
}
