package manifest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/manager/runtimes"
	"github.com/kyma-project/lifecycle-manager/pkg/apply"
	"github.com/kyma-project/lifecycle-manager/pkg/conditions"
	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
	"github.com/kyma-project/lifecycle-manager/pkg/render"
)

// connect finds the cluster, the connection to it and the record of what was installed there.
func (r *Reconciler) connect(ctx context.Context, w *scope) error {
	target, err := r.targetOf(ctx, w.manifest)
	if err != nil {
		return err
	}
	target.Owner, target.Account = w.key, accountOf(w.manifest, target.Local)
	w.target, w.permitted = target, r.granted.hasAny(w)
	if err := r.admit(w); err != nil {
		return err
	}
	if w.runtime, err = r.Clusters.Get(ctx, target); err != nil {
		return err
	}
	w.recorded, err = r.loadInventory(ctx, w.manifest)
	w.recorded = doubtHashes(w.recorded, w.manifest.Status.AppliedGeneration, w.generation)
	if !hasFirstPlan(w.manifest) { // which is not in the status, and is written there by any report
		w.stored = w.recorded
	}
	if err != nil || !w.confined {
		return err
	}
	w.ownCR, err = w.definesModuleCR(ctx)
	return err
}

// targetOf returns the cluster of a Manifest:
//
//  1. One of a Kyma follows its Kyma, whatever its own spec.remote is: upstream writes false everywhere.
//  2. A stand-alone one uses the runtime of the access Secret when spec.remote is true (found by its label kyma-name, else by its own
//     name), this cluster otherwise.
func (r *Reconciler) targetOf(ctx context.Context, manifest *v1beta2.Manifest) (Target, error) {
	owner := KymaOf(manifest)
	if owner == nil {
		name := cmp.Or(manifest.Labels[v1beta2.LabelKymaName], manifest.Name)
		return Target{Namespace: manifest.Namespace, Name: name, Local: !manifest.Spec.Remote}, nil
	}
	kyma, target := &v1beta2.Kyma{}, Target{Namespace: manifest.Namespace, Name: owner.Name}
	err := r.Client.Get(ctx, client.ObjectKey{Namespace: manifest.Namespace, Name: owner.Name}, kyma)
	if apierrors.IsNotFound(err) || (err == nil && kyma.UID != owner.UID) {
		// The Kyma was deleted without waiting for its Manifests. Only an access Secret can still lead to what they installed: spec.remote is no
		// reason to search the hub for it.
		return target, nil
	}
	if err != nil {
		return Target{}, fmt.Errorf("read Kyma %s/%s: %w", manifest.Namespace, owner.Name, err)
	}
	target.Local = kyma.Spec.Remote != nil && !*kyma.Spec.Remote
	return target, nil
}

// KymaOf returns the Kyma that a Manifest belongs to; nil for a stand-alone one.
func KymaOf(manifest metav1.Object) *metav1.OwnerReference {
	owner := metav1.GetControllerOf(manifest)
	if owner == nil || owner.Kind != "Kyma" {
		return nil
	}
	if gv, err := schema.ParseGroupVersion(owner.APIVersion); err != nil || gv.Group != v1beta2.GroupVersion.Group {
		return nil
	}
	return owner
}

// interests returns the kinds whose events matter to this Manifest: those that it has, in all versions that it knows of them, and those
// that are desired.
func (w *scope) interests(desired []*unstructured.Unstructured) []runtimes.Interest {
	type wish struct {
		gvk  schema.GroupVersionKind
		mode runtimes.Mode
	}
	seen := map[wish]bool{}
	var interests []runtimes.Interest
	add := func(gvk schema.GroupVersionKind, mode runtimes.Mode) {
		if !seen[wish{gvk, mode}] {
			seen[wish{gvk, mode}] = true
			interests = append(interests, runtimes.Interest{GroupVersionKind: gvk, Mode: mode, Keep: w.keeps(gvk.GroupKind(), mode)})
		}
	}
	if w.seesModuleCRs() && w.mayShow() {
		add(w.manifest.Spec.Resource.GroupVersionKind(), runtimes.ModuleCR)
	}
	for _, kind := range w.blocking {
		add(kind, runtimes.ModuleCR)
	}
	for _, entry := range w.recorded {
		add(schema.GroupVersionKind{Group: entry.Group, Version: entry.Version, Kind: entry.Kind}, modeOf(entry.GroupKind()))
	}
	for _, object := range desired {
		add(object.GroupVersionKind(), modeOf(object.GroupVersionKind().GroupKind()))
	}
	return interests
}

// keeps reports whether whole objects of a kind are needed: those that probes check, and the default CR where its state is mapped.
func (w *scope) keeps(kind schema.GroupKind, mode runtimes.Mode) bool {
	if mode == runtimes.ModuleCR && len(w.manifest.Spec.CustomStateCheck) > 0 {
		return true
	}
	return slices.ContainsFunc(w.manifest.Spec.Probes, func(p v1beta2.Probe) bool { return p.Group == kind.Group && p.Kind == kind.Kind })
}

// modeOf returns how closely a kind of content is watched: workloads, API services and custom resources report a health; of the rest the
// existence is enough.
func modeOf(kind schema.GroupKind) runtimes.Mode {
	switch kind {
	case schema.GroupKind{Group: "apps", Kind: "Deployment"}, schema.GroupKind{Group: "apps", Kind: "StatefulSet"},
		schema.GroupKind{Group: "apps", Kind: "DaemonSet"}, schema.GroupKind{Group: "batch", Kind: "Job"},
		schema.GroupKind{Group: "apiregistration.k8s.io", Kind: "APIService"}:
		return runtimes.Workload
	}
	if _, builtin := render.BuiltinScope(kind.WithVersion("")); builtin {
		return runtimes.Metadata
	}
	return runtimes.Workload
}

// settled reports whether the cluster holds what the current spec requests, so that the content is not needed.
func (w *scope) settled() bool {
	return w.applied() && (!w.hasModuleCR() || w.moduleCRCreated())
}

// applied reports whether the content was compared with the cluster for the current spec, and nothing needs to be written since. A status
// of this generation is not enough: it may only report why nothing could be done.
func (w *scope) applied() bool {
	status := w.manifest.Status
	compared := conditions.Find(status.Conditions, v1beta2.ConditionResources)
	return status.ObservedGeneration == w.generation && len(w.recorded) > 0 && w.hooksComplete() &&
		(status.AppliedGeneration == 0 || status.AppliedGeneration == w.generation) &&
		slices.EqualFunc(status.Resolved, w.sources, sameSource) &&
		compared != nil && compared.Status == metav1.ConditionTrue && compared.ObservedGeneration == w.generation &&
		!inventory.Drifted(w.recorded, w.runtime.Live)
}

// sameSource reports whether a source was resolved and still requests the same.
func sameSource(known, asked v1beta2.ResolvedSource) bool {
	return known.Digest != "" && known.Name == asked.Name && known.Reference == asked.Reference
}

// relation returns what the owner mark on an object means to this Manifest.
func (r *Reconciler) relation(ctx context.Context, w *scope) func(owner string) apply.Relation {
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
	first, second := KymaOf(a), KymaOf(b)
	return first != nil && second != nil && first.UID == second.UID
}

// problemOf turns an error of a collaborator into a cause that the status can name.
func problemOf(err error) *runtimes.Problem {
	problem, _ := errors.AsType[*runtimes.Problem](err)
	return problem
}
