package kyma

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/module"
	"github.com/kyma-project/lifecycle-manager/pkg/conditions"
	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

// catalogKinds are those whose definitions are deleted with the catalog.
var catalogKinds = []schema.GroupVersionKind{
	v1beta2.GroupVersion.WithKind("ModuleTemplate"), v1beta2.GroupVersion.WithKind("ModuleReleaseMeta"),
}

// retryStaying is the safety net under the events of what must go from a runtime: what another Kyma recreates at once has none, and one can
// be lost. Such a check makes no call, unless something that must go shows no sign of it. It is also the time that another Kyma must
// claim the runtime as its own.
const retryStaying = 10 * time.Second

// teardownScope is one pass of a Kyma's deletion.
type teardownScope struct {
	*remoteScope
	world  module.Snapshot
	before *v1beta2.Kyma
	step   module.Teardown
	held   string // what it waits for beside modules
}

// teardown takes the next step of a Kyma's deletion, as far as possible in one pass.
func (r *Reconciler) teardown(ctx context.Context, kyma, before *v1beta2.Kyma) (ctrl.Result, error) {
	if _, held := module.ForeignFinalizers(kyma.Finalizers); !held {
		return ctrl.Result{}, nil
	}
	manifests, err := r.manifestsOf(ctx, kyma)
	if err != nil {
		return ctrl.Result{}, err
	}
	runtime := &remoteScope{hub: kyma, remote: hasCopy(kyma), hubID: r.HubID, now: r.Now().Time, deletions: r.trackerOf(kyma)}
	p := &teardownScope{remoteScope: runtime, before: before}
	p.world = module.Snapshot{Kyma: kyma, Manifests: manifests, Restricted: r.Restricted, Now: r.Now()}
	left := r.leftovers(ctx, p.remoteScope)
	p.step, p.held = module.NextTeardownRemote(p.world, left), module.Held(left)
	if p.step.Step == module.StepRelease {
		return r.release(ctx, p)
	}
	results, err := r.carryOut(ctx, p)
	switch {
	case err != nil:
		p.runtime.Report(err)
		p.retry = soonest(p.retry, retryDelay(err))
		p.step.Message, p.held = err.Error(), err.Error()
	case staying(left):
		p.retry = soonest(p.retry, retryStaying)
	}
	kyma.Status = module.MergeRemoteStatus(p.world, module.Rollup(p.world, module.Resolve(p.world), results), p.RemoteState)
	p.reportWaiting()
	module.SetAbnormal(&kyma.Status.Conditions, kyma.Status.State, p.world.Now)
	r.requeued(p.retry, "kyma_deletion", err != nil)
	return ctrl.Result{RequeueAfter: p.retry}, r.putStatus(ctx, kyma, before)
}

// staying reports whether something is left that only the runtime's events report.
func staying(left module.Leftovers) bool {
	return left.Kyma || left.KymaCRD || left.CatalogCRDs || len(left.Terminating) > 0
}

// hasCopy reports whether the runtime may hold a Kyma: one that was created before the label stopped the sync is deleted, too.
func hasCopy(kyma *v1beta2.Kyma) bool {
	return module.Synced(kyma) || kyma.Status.LastSeen != nil && (kyma.Spec.Remote == nil || *kyma.Spec.Remote)
}

// tell adds to the status what the deletion waits for, when that is not a module, or not only modules.
func (p *teardownScope) reportWaiting() {
	ready := conditions.Find(p.hub.Status.Conditions, v1beta2.ConditionReady)
	switch {
	case ready == nil:
	case len(p.hub.Status.Modules) == 0 && p.step.Message != "":
		ready.Message = conditions.Cut(p.step.Message)
	case len(p.hub.Status.Modules) > 0 && p.held != "":
		ready.Message = conditions.Cut(ready.Message + "; " + p.held)
	}
}

// leftovers reads what the runtime still holds.
func (r *Reconciler) leftovers(ctx context.Context, s *remoteScope) module.Leftovers {
	if !s.remote {
		return module.Leftovers{Gone: true}
	}
	if !r.connect(ctx, s) {
		gone := s.Access.Reason == v1beta2.ReasonAccessSecretNotFound || s.Access.Reason == v1beta2.ReasonRuntimeClaimed
		return module.Leftovers{Gone: gone || !s.Access.Passing && !module.Met(s.hub), Problem: s.Access.Message}
	}
	left := module.Leftovers{Reachable: true}
	if r.shared(ctx, s) || r.isTakenOver(ctx, s) {
		return left // what is there is another Kyma's
	}
	if s.found != nil {
		if kyma, err := kymaOf(s.found); err == nil {
			s.copy = kyma
			left.StatusDeleting = kyma.Status.State == v1beta2.StateDeleting
		}
		ofCopy(&left, s.found, s.runtime.Live(copyID))
	}
	if r.removeWatcher(ctx, s); conditions.Find(s.hub.Status.Conditions, module.ConditionWebhook) != nil && !s.WatcherGone {
		left.Terminating = append(left.Terminating, "the webhook of an earlier version")
	}
	there := func(id inventory.ID) bool {
		live := s.runtime.Live(id)
		if live.Presence != inventory.Present || !live.Terminating {
			return live.Presence == inventory.Present
		}
		left.Terminating = append(left.Terminating, id.String())
		r.sweep(ctx, s, id, live.UID)
		return false
	}
	left.KymaCRD = there(definitionID(kymaKind))
	for _, kind := range catalogKinds {
		left.CatalogCRDs = there(definitionID(kind)) || left.CatalogCRDs
	}
	if id, configured := r.pullSecretID(); configured {
		left.PullSecret = there(id)
	}
	if known, _ := s.runtime.Known(client.ObjectKeyFromObject(s.hub)); !known {
		s.dropConnection() // else unknown objects would be taken for deleted ones
		return module.Leftovers{Problem: s.Access.Message}
	}
	return left
}

// sweep helps to remove a definition. What fails is tried again in the next pass, as long as the definition stays.
func (r *Reconciler) sweep(ctx context.Context, s *remoteScope, id inventory.ID, uid types.UID) {
	if id.GroupKind() != inventory.CRDKind.WithVersion("v1").GroupKind() {
		return
	}
	outcome, err := r.Syncer.Sweep(ctx, s.runtime, id, uid)
	if err != nil {
		outcome.RetryAfter = retryDelay(err)
	}
	s.retry = soonest(s.retry, outcome.RetryAfter)
}

// ofCopy adds what is left of the Kyma in the runtime. The stream may not show a deletion of a moment ago yet; live does.
func ofCopy(left *module.Leftovers, object *unstructured.Unstructured, live inventory.Live) {
	foreign, held := module.ForeignFinalizers(object.GetFinalizers())
	left.Kyma = object.GetDeletionTimestamp() == nil && !live.Terminating || held
	if !left.Kyma {
		left.Terminating = append(left.Terminating, heldBy(foreign))
	}
}

// heldBy removes the finalizers of the runtime's Kyma that no other program would remove.
func heldBy(finalizers []string) string {
	if len(finalizers) == 0 {
		return copyID.String()
	}
	return fmt.Sprintf("%s (held by %s)", copyID, strings.Join(finalizers, ", "))
}

// pullSecretID returns the ID of the image pull Secret's copy in a runtime.
func (r *Reconciler) pullSecretID() (inventory.ID, bool) {
	if r.PullSecret == nil {
		return inventory.ID{}, false
	}
	return inventory.ID{Kind: secretKind.Kind, Namespace: v1beta2.RuntimeNamespace, Name: r.PullSecret.Name()}, true
}

// carryOut runs the actions of a pass in their order, until one fails.
func (r *Reconciler) carryOut(ctx context.Context, p *teardownScope) (map[string]module.Result, error) {
	var results map[string]module.Result
	for _, action := range p.step.Actions {
		var err error
		switch action {
		case module.ActionRuntimeStatus:
			if p.copy != nil {
				err = r.writeStatus(ctx, p.remoteScope, module.DeletingStatus(&p.copy.Status, p.copy.Generation, p.world.Now))
			}
		case module.ActionDeleteManifests:
			var retry time.Duration
			results, retry = r.act(ctx, module.Plan{Delete: p.step.Delete})
			p.retry = soonest(p.retry, retry)
		case module.ActionDeleteCatalogCRDs:
			for _, kind := range catalogKinds {
				if err == nil {
					err = p.remove(ctx, definitionID(kind))
				}
			}
		case module.ActionDeleteRuntimeKyma:
			err = p.removeCopy(ctx)
		case module.ActionDeleteKymaCRD:
			err = p.remove(ctx, definitionID(kymaKind))
		case module.ActionHubStatus, module.ActionDeletePullSecret, module.ActionRelease:
			// the status is patched at the end of the pass, the others belong to release
		}
		if err != nil {
			return results, err
		}
	}
	return results, nil
}

// remove deletes an object of the runtime as the streams showed it, once.
func (s *remoteScope) remove(ctx context.Context, id inventory.ID) error {
	live := s.runtime.Live(id)
	if live.Presence != inventory.Present || live.Terminating || s.deletions.inGracePeriod(id, live, s.now) {
		return nil
	}
	version := "v1"
	if id.Group == kymaKind.Group {
		version = kymaKind.Version
	}
	resource, err := s.runtime.Cluster().Resource(ctx, schema.GroupVersionKind{Group: id.Group, Version: version, Kind: id.Kind})
	if err != nil {
		return err
	}
	s.deletions.deleted[id] = live.UID // before the call, whose answer may be lost
	err = s.runtime.Cluster().Dynamic.Resource(resource.GroupVersionResource).Namespace(id.Namespace).Delete(ctx, id.Name,
		metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &live.UID}})
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("delete %s in the runtime: %w", id, err)
	}
	return nil
}

// releaseFinalizers removes the finalizers of the runtime Kyma that no other controller would remove.
func (s *remoteScope) releaseFinalizers(ctx context.Context) error {
	foreign, held := module.ForeignFinalizers(s.copy.Finalizers)
	if !held {
		return nil
	}
	wanted := s.copy.DeepCopy()
	wanted.Finalizers = foreign
	return s.patchCopy(ctx, wanted)
}

// removeCopy deletes the Kyma in the runtime, unless it was replaced since it was read: the next pass finds out whose the new one is.
func (p *teardownScope) removeCopy(ctx context.Context) error {
	if p.found == nil || p.runtime.Live(copyID).UID != p.found.GetUID() {
		return nil
	}
	if p.copy != nil {
		if err := p.releaseFinalizers(ctx); err != nil {
			return err
		}
	}
	return p.remove(ctx, copyID)
}

// release removes the Kyma's finalizers, once the API server itself lists no Manifest: a cache may not have the latest one.
func (r *Reconciler) release(ctx context.Context, p *teardownScope) (ctrl.Result, error) {
	kyma, list := p.hub, &v1beta2.ManifestList{}
	ofKyma := client.MatchingLabels{v1beta2.LabelKymaName: kyma.Name}
	if err := r.Reader.List(ctx, list, client.InNamespace(kyma.Namespace), ofKyma); err != nil {
		return ctrl.Result{}, fmt.Errorf("list the Manifests of Kyma %s: %w", client.ObjectKeyFromObject(kyma), err)
	}
	p.world.Manifests = list.Items
	if step := module.NextTeardown(p.world); step.Step != module.StepRelease {
		_, retry := r.act(ctx, module.Plan{Delete: step.Delete})
		// Deletion events bring us back, except for what a lagging API server has listed though it is gone.
		return ctrl.Result{RequeueAfter: soonest(retry, retryStaying)}, nil
	}
	if id, _ := r.pullSecretID(); slices.Contains(p.step.Actions, module.ActionDeletePullSecret) {
		if err := p.remove(ctx, id); err != nil {
			p.runtime.Report(err)
			return ctrl.Result{RequeueAfter: retryDelay(err)}, nil // a runtime that fails is no error of the hub
		}
	}
	if err := r.releaseClaim(ctx, p.remoteScope); err != nil {
		p.runtime.Report(err)
		return ctrl.Result{RequeueAfter: retryDelay(err)}, nil
	}
	before := kyma.DeepCopy()
	kyma.Finalizers = p.step.Finalizers
	err := r.Client.Patch(ctx, kyma, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}))
	if client.IgnoreNotFound(err) != nil {
		return ctrl.Result{}, fmt.Errorf("remove the finalizers of Kyma %s: %w", client.ObjectKeyFromObject(kyma), err)
	}
	r.untrack(client.ObjectKeyFromObject(kyma))
	r.released.Store(client.ObjectKeyFromObject(kyma), before.UID)
	r.Events.Eventf(kyma, nil, corev1.EventTypeNormal, v1beta2.ReasonDeleting, "Delete", "All modules are gone")
	return ctrl.Result{}, nil
}
