package manifest

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/pkg/apply"
	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

// Manifests of one Kyma may list the same object. It carries the mark of one of them, which hands it over to another one instead of
// deleting it. Two that drop it at once must not leave it to each other, so:
//
//  1. Each records in its inventory that it drops the object (leaving) before it reads the mark of the object.
//  2. The one that handed it over reads the successor's inventory afterwards, live. Where the successor does not list the object, or is
//     dropping it as well, the object is ours to delete.
//  3. The one that finds the mark of another one reads that one's inventory, live. As long as that lists the object, that one is
//     responsible for it, by rule 2 too; where it does not, it died or dropped the object in between, and the object is ours to delete.

// siblings returns the other Manifests of the same Kyma, also those that are being deleted. They are the cache's and must not be changed.
func (r *Reconciler) siblings(ctx context.Context, w *scope) ([]*v1beta2.Manifest, error) {
	if KymaOf(w.manifest) == nil {
		return nil, nil
	}
	list := &v1beta2.ManifestList{}
	err := r.Client.List(ctx, list, client.InNamespace(w.key.Namespace), client.UnsafeDisableDeepCopy,
		client.MatchingFields{indexKyma: w.manifest.Labels[v1beta2.LabelKymaName]})
	var others []*v1beta2.Manifest
	for i := range list.Items {
		if other := &list.Items[i]; other.UID != w.manifest.UID && sameKyma(w.manifest, other) {
			others = append(others, other)
		}
	}
	return others, err
}

// findSuccessor returns a function that names another Manifest of the same Kyma that lists an object too: that one takes the object over
// instead of losing it. Several workers may call the function at once.
func (r *Reconciler) findSuccessor(ctx context.Context, w *scope, but ...string) func(inventory.ID) string {
	claims := sync.OnceValue(func() map[inventory.ID]string {
		claims := map[inventory.ID]string{}
		others, _ := r.siblings(ctx, w) // when our time is up, the calls that would need an answer fail for the same reason
		for _, other := range others {
			if name := other.Namespace + "/" + other.Name; other.DeletionTimestamp.IsZero() && !slices.Contains(but, name) {
				r.addClaims(ctx, claims, other)
			}
		}
		return claims
	})
	return func(id inventory.ID) string { return claims()[id] }
}

// appliedRelation is relation for objects that are written: an object of a Manifest that is being deleted is taken over, not shared, for
// that one no longer keeps it.
func (r *Reconciler) appliedRelation(ctx context.Context, w *scope) func(owner string) apply.Relation {
	relation := r.relation(ctx, w)
	return func(owner string) apply.Relation {
		found := relation(owner)
		if key, ok := parseOwner(owner); ok && found == apply.OwnerSibling {
			other := &v1beta2.Manifest{}
			if err := r.Client.Get(ctx, key, other); err == nil && !other.DeletionTimestamp.IsZero() {
				return apply.OwnerGone
			}
		}
		return found
	}
}

func (r *Reconciler) addClaims(ctx context.Context, claims map[inventory.ID]string, other *v1beta2.Manifest) {
	entries, err := r.loadInventory(ctx, other)
	if err != nil {
		entries = fromStatus(other.Status.Synced) // that Manifest tells what is wrong, and makes again what it then misses
	}
	for _, entry := range entries {
		if !entry.Leaves() {
			claims[entry.ID] = other.Namespace + "/" + other.Name
		}
	}
}

// moduleCRSuccessor names another Manifest of the same Kyma that requests the same default custom resource, as after a module was renamed.
// That one keeps it, and the users' objects of the kind.
func (r *Reconciler) moduleCRSuccessor(ctx context.Context, w *scope) (string, error) {
	if !w.hasModuleCR() {
		return "", nil
	}
	others, err := r.siblings(ctx, w)
	if err != nil {
		return "", err
	}
	mine := inventory.IDOf(w.moduleCR())
	for _, manifest := range others {
		other := &scope{manifest: manifest, runtime: w.runtime}
		if manifest.DeletionTimestamp.IsZero() && other.hasModuleCR() && inventory.IDOf(other.moduleCR()) == mine {
			return manifest.Namespace + "/" + manifest.Name, nil
		}
	}
	return "", nil
}

// markLeaving records in the stored inventory that entries are about to be dropped, where another Manifest of the Kyma lists them too. It
// returns the entries as they are recorded then. It writes nothing for entries that no other Manifest lists.
func (r *Reconciler) markLeaving(ctx context.Context, w *scope, entries []inventory.Entry) ([]inventory.Entry, error) {
	if len(entries) == 0 {
		return entries, nil
	}
	others, err := r.siblings(ctx, w)
	if err != nil || len(others) == 0 {
		return entries, err
	}
	shared := map[inventory.ID]bool{}
	for _, other := range others {
		listed, err := r.loadInventory(ctx, other)
		if err != nil {
			listed = fromStatus(other.Status.Synced)
		}
		for _, entry := range listed {
			shared[entry.ID] = true
		}
	}
	entries = slices.Clone(entries)
	news := false
	for i, entry := range entries {
		if shared[entry.ID] {
			news = news || !entry.Leaves()
			entries[i] = entry.Leave()
		}
	}
	if !news {
		return entries, nil
	}
	w.recorded = inventory.Merge(w.recorded, entries, nil)
	found := passResult{state: v1beta2.StateProcessing, reason: v1beta2.ReasonApplying, message: applying, parsed: true}
	if !w.manifest.DeletionTimestamp.IsZero() {
		found = passResult{state: v1beta2.StateDeleting, reason: v1beta2.ReasonDeleting, message: v1beta2.OperationDeleting}
	}
	return entries, r.reportNow(ctx, w, found)
}

// disowned deletes what was left to a Manifest that does not keep it, and puts the result into the outcomes.
func (r *Reconciler) disowned(ctx context.Context, w *scope, wave []inventory.Entry, outcomes []apply.Outcome, options apply.Options) {
	left, relation := map[string][]int{}, r.relation(ctx, w)
	for i, outcome := range outcomes {
		if owner := cmp.Or(outcome.Successor, outcome.Owner); outcome.Successor != "" || relation(owner) == apply.OwnerSibling {
			left[owner] = append(left[owner], i)
		}
	}
	for owner, at := range left {
		listed, err := r.listedBy(ctx, owner)
		at = slices.DeleteFunc(at, func(i int) bool {
			entry, found := listed[outcomes[i].ID]
			return err == nil && found && (outcomes[i].Successor == "" || !entry.Leaves())
		})
		again := make([]inventory.Entry, len(at))
		for n, i := range at {
			again[n] = wave[i]
		}
		if err == nil && len(again) > 0 {
			for n, outcome := range w.runtime.Cluster().Delete(ctx, again, nil, r.insteadOf(ctx, w, owner, options)) {
				outcomes[at[n]] = outcome
			}
			continue
		}
		for _, i := range at {
			told := apply.Explain("leave", outcomes[i].ID, err)
			outcomes[i] = apply.Outcome{ID: told.ID, Action: apply.Failed, Err: told, Class: told.Class}
		}
	}
}

// insteadOf returns options by which the mark of an owner that disowns an object counts as ours.
func (r *Reconciler) insteadOf(ctx context.Context, w *scope, owner string, options apply.Options) apply.Options {
	relation := options.Relation
	options.Successor = r.findSuccessor(ctx, w, owner)
	options.Relation = func(mark string) apply.Relation {
		if mark == owner {
			return apply.OwnerSelf
		}
		return relation(mark)
	}
	return options
}

// listedBy reads, past the cache, what a Manifest lists: nothing when it is gone.
func (r *Reconciler) listedBy(ctx context.Context, owner string) (map[inventory.ID]inventory.Entry, error) {
	key, ok := parseOwner(owner)
	if !ok {
		return nil, nil
	}
	manifest := &v1beta2.Manifest{}
	if err := r.Reader.Get(ctx, key, manifest); err != nil {
		if apierrors.IsNotFound(err) {
			return nil, nil
		}
		return nil, fmt.Errorf("read Manifest %s: %w", owner, err)
	}
	entries, err := r.loadInventory(ctx, manifest)
	if err != nil {
		return nil, err
	}
	listed := make(map[inventory.ID]inventory.Entry, len(entries))
	for _, entry := range entries {
		listed[entry.ID] = entry
	}
	return listed, nil
}
