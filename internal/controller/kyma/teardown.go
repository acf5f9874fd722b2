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
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/module"
	"github.com/kyma-project/lifecycle-manager/pkg/conditions"
	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

// catalogKinds are those whose definitions go with the catalog.
var catalogKinds = []schema.GroupVersionKind{
	v1beta2.GroupVersion.WithKind("ModuleTemplate"), v1beta2.GroupVersion.WithKind("ModuleReleaseMeta"),
}

// retryStaying is the safety net under the events of what has to go from a runtime: what another Kyma makes anew at once has none, and one
// can be lost. Such a look calls nobody, unless something is there that has to go and shows no sign of it. It is also the time that another
// Kyma has to say that the runtime is its own.
const retryStaying = 10 * time.Second

// parting is one pass of a Kyma's deletion.
type parting struct {
	*side
	world  module.World
	before *v1beta2.Kyma
	step   module.Teardown
	held   string // what it waits for beside modules
}

// teardown takes the next step of a Kyma's deletion, as far as it goes in one pass.
func (r *Reconciler) teardown(ctx context.Context, kyma, before *v1beta2.Kyma) (ctrl.Result, error) {
	if _, held := module.ForeignFinalizers(kyma.Finalizers); !held {
		return ctrl.Result{}, nil
	}
	manifests, err := r.manifestsOf(ctx, kyma)
	if err != nil {
		return ctrl.Result{}, err
	}
	p := &parting{side: &side{hub: kyma, remote: hasCopy(kyma), now: r.Now().Time, undone: r.undoneOf(kyma)}, before: before}
	p.world = module.World{Kyma: kyma, Manifests: manifests, Restricted: r.Restricted, Now: r.Now()}
	left := r.leftovers(ctx, p.side)
	p.step, p.held = module.NextTeardownRemote(p.world, left), module.Held(left)
	if p.step.Step == module.StepRelease {
		return r.release(ctx, p)
	}
	results, err := r.carryOut(ctx, p)
	switch {
	case err != nil:
		p.runtime.Report(err)
		p.retry = soonest(p.retry, whenAgain(err))
		p.step.Message, p.held = err.Error(), err.Error()
	case staying(left):
		p.retry = soonest(p.retry, retryStaying)
	}
	kyma.Status = module.Fold(p.world, module.Rollup(p.world, module.Resolve(p.world), results), p.Side)
	p.tell()
	r.requeued(p.retry, "kyma_deletion", err != nil)
	return ctrl.Result{RequeueAfter: p.retry}, r.putStatus(ctx, kyma, before)
}

// staying says that something is left of what only the runtime's events tell about.
func staying(left module.Leftovers) bool {
	return left.Kyma || left.KymaCRD || left.CatalogCRDs || len(left.Terminating) > 0
}

// hasCopy says that the runtime holds a Kyma, or may hold one: one that was made before the label said to stop goes all the same.
func hasCopy(kyma *v1beta2.Kyma) bool {
	return module.Synced(kyma) || kyma.Status.LastSeen != nil && (kyma.Spec.Remote == nil || *kyma.Spec.Remote)
}

// tell adds to the status what the deletion waits for, when it is not a module, or not only that.
func (p *parting) tell() {
	ready := conditions.Find(p.hub.Status.Conditions, v1beta2.ConditionReady)
	switch {
	case ready == nil:
	case len(p.hub.Status.Modules) == 0 && p.step.Message != "":
		ready.Message = conditions.Cut(p.step.Message)
	case len(p.hub.Status.Modules) > 0 && p.held != "":
		ready.Message = conditions.Cut(ready.Message + "; " + p.held)
	}
}

// leftovers looks at what the runtime still holds.
func (r *Reconciler) leftovers(ctx context.Context, s *side) module.Leftovers {
	if !s.remote {
		return module.Leftovers{Gone: true}
	}
	if !r.connect(ctx, s) {
		gone := s.Access.Reason == v1beta2.ReasonAccessSecretNotFound
		return module.Leftovers{Gone: gone || !s.Access.Passing && !module.Met(s.hub), Problem: s.Access.Message}
	}
	left := module.Leftovers{Reachable: true}
	if r.shared(ctx, s) || r.inherited(ctx, s) {
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
		s.lost() // else what nobody knows any more would be taken for what is gone
		return module.Leftovers{Problem: s.Access.Message}
	}
	return left
}

// ofCopy adds what is left of the Kyma in the runtime. What was deleted a moment ago the stream may not show yet; live knows.
func ofCopy(left *module.Leftovers, object *unstructured.Unstructured, live inventory.Live) {
	foreign, held := module.ForeignFinalizers(object.GetFinalizers())
	left.Kyma = object.GetDeletionTimestamp() == nil && !live.Terminating || held
	if !left.Kyma {
		left.Terminating = append(left.Terminating, heldBy(foreign))
	}
}

// heldBy names the Kyma in the runtime, and whose finalizers hold it.
func heldBy(finalizers []string) string {
	if len(finalizers) == 0 {
		return copyID.String()
	}
	return fmt.Sprintf("%s (held by %s)", copyID, strings.Join(finalizers, ", "))
}

// pullSecretID is the copy of the image pull Secret in a runtime.
func (r *Reconciler) pullSecretID() (inventory.ID, bool) {
	if r.PullSecret == nil {
		return inventory.ID{}, false
	}
	return inventory.ID{Kind: secretKind.Kind, Namespace: v1beta2.RuntimeNamespace, Name: r.PullSecret.Name()}, true
}

// carryOut takes the actions of a pass in their order; the first that fails ends it.
func (r *Reconciler) carryOut(ctx context.Context, p *parting) (map[string]module.Result, error) {
	var results map[string]module.Result
	for _, action := range p.step.Actions {
		var err error
		switch action {
		case module.ActionRuntimeStatus:
			if p.copy != nil {
				err = r.writeStatus(ctx, p.side, module.Parting(&p.copy.Status, p.copy.Generation))
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
func (s *side) remove(ctx context.Context, id inventory.ID) error {
	live := s.runtime.Live(id)
	if live.Presence != inventory.Present || live.Terminating || s.undone.spared(id, live, s.now) {
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
	s.undone.deleted[id] = live.UID // before the call, whose answer may be lost
	err = s.runtime.Cluster().Dynamic.Resource(resource.GroupVersionResource).Namespace(id.Namespace).Delete(ctx, id.Name,
		metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &live.UID}})
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("delete %s in the runtime: %w", id, err)
	}
	return nil
}

// letGo takes from the Kyma in the runtime the finalizers that nobody else would.
func (s *side) letGo(ctx context.Context) error {
	foreign, held := module.ForeignFinalizers(s.copy.Finalizers)
	if !held {
		return nil
	}
	wanted := s.copy.DeepCopy()
	wanted.Finalizers = foreign
	return s.patchCopy(ctx, wanted)
}

// removeCopy deletes the Kyma in the runtime, unless it is not the one any more that was looked at: the next pass looks whose that is.
func (p *parting) removeCopy(ctx context.Context) error {
	if p.found == nil || p.runtime.Live(copyID).UID != p.found.GetUID() {
		return nil
	}
	if p.copy != nil {
		if err := p.letGo(ctx); err != nil {
			return err
		}
	}
	return p.remove(ctx, copyID)
}

// release lets the Kyma go, after asking the API server itself that no Manifest is left: a cache may not know the latest one.
func (r *Reconciler) release(ctx context.Context, p *parting) (ctrl.Result, error) {
	kyma, list := p.hub, &v1beta2.ManifestList{}
	ofKyma := client.MatchingLabels{v1beta2.LabelKymaName: kyma.Name}
	if err := r.Reader.List(ctx, list, client.InNamespace(kyma.Namespace), ofKyma); err != nil {
		return ctrl.Result{}, fmt.Errorf("list the Manifests of Kyma %s: %w", client.ObjectKeyFromObject(kyma), err)
	}
	p.world.Manifests = list.Items
	if step := module.NextTeardown(p.world); step.Step != module.StepRelease {
		_, retry := r.act(ctx, module.Plan{Delete: step.Delete}) // the deletion events bring us back where nothing failed
		return ctrl.Result{RequeueAfter: retry}, nil
	}
	if id, _ := r.pullSecretID(); slices.Contains(p.step.Actions, module.ActionDeletePullSecret) {
		if err := p.remove(ctx, id); err != nil {
			p.runtime.Report(err)
			return ctrl.Result{RequeueAfter: whenAgain(err)}, nil // a runtime that fails is no error of the hub
		}
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
