package remotesync

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

const (
	// sweepAfter is how long a definition must have been seen deleting before the objects of its kind are checked. An API server needs a
	// fraction of a second, and holds a create back for two seconds at most.
	sweepAfter = 3 * time.Second
	// sweepPause bounds the pauses between checks, which double.
	sweepPause = time.Minute
	// annotationSwept on a definition is when it was changed so that the API server checks it again.
	annotationSwept = v1beta2.OperatorPrefix + "swept"
)

// departure is a definition that is being deleted.
type departure struct {
	uid   types.UID
	next  time.Time // look
	pause time.Duration
}

// Sweep helps to delete a definition of a kind of ours that stays for some seconds; before that, it returns when to call it again. A
// definition stays for one of two reasons, and for minutes:
//
//  1. An object came late. An API server deletes the objects of a kind as the deletion of its definition begins, and then waits for those
//     that come a moment later, as by a create held back because the kind was new. Such objects in namespace kyma-system are deleted.
//  2. The API server has given up for now. Where it cannot list the objects, as of a kind that it has just begun to serve ("storage is
//     (re)initializing"), or they take a minute, it tries again; but that try usually reads its own stale cache. Then it checks again only
//     when the definition changes, or after five minutes. Where nothing is left, an annotation changes it.
func (m *Syncer) Sweep(ctx context.Context, runtime Runtime, definition inventory.ID, uid types.UID) (Outcome, error) {
	p := m.pass(runtime)
	p.sweep(ctx, definition, uid)
	return p.result(ctx)
}

func (p *pass) sweep(ctx context.Context, definition inventory.ID, uid types.UID) {
	due, wait := p.memory.recordDeparture(definition, uid, time.Now())
	p.noteRetry(wait)
	if !due {
		return
	}
	plural, _, _ := strings.Cut(definition.Name, ".")
	client := p.Dynamic.Resource(v1beta2.GroupVersion.WithResource(plural)).Namespace(v1beta2.RuntimeNamespace)
	left, err := client.List(ctx, metav1.ListOptions{Limit: pageSize})
	switch {
	case apierrors.IsNotFound(err), apierrors.IsTooManyRequests(err): // it is gone, or cannot be listed yet
		return
	case err != nil:
		p.failed("list the objects of", definition, err)
	case len(left.Items) == 0:
		p.nudge(ctx, definition, uid)
	}
	for i := range left.Items {
		if left.Items[i].GetDeletionTimestamp() == nil && !p.stopped() {
			p.sweepOne(ctx, client, &left.Items[i])
		}
	}
}

// nudge changes a definition that has nothing to wait for.
func (p *pass) nudge(ctx context.Context, definition inventory.ID, uid types.UID) {
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{
		"uid": string(uid), "annotations": map[string]any{annotationSwept: time.Now().UTC().Format(time.RFC3339)},
	}})
	if err != nil {
		panic(err) // strings only
	}
	options := metav1.PatchOptions{FieldManager: v1beta2.FieldManagerHub}
	_, err = p.Dynamic.Resource(inventory.CRDResource).Patch(ctx, definition.Name, types.MergePatchType, patch, options)
	switch {
	case err == nil:
		p.wrote()
	case !apierrors.IsNotFound(err) && !apierrors.IsConflict(err): // it is gone, or another one by now
		p.failed("change", definition, err)
	}
}

func (p *pass) sweepOne(ctx context.Context, client dynamic.ResourceInterface, live object) {
	uid := live.GetUID()
	err := client.Delete(ctx, live.GetName(), metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &uid}})
	switch {
	case err == nil:
		p.wrote()
	case !apierrors.IsNotFound(err):
		p.failed("delete", inventory.IDOf(live), err)
	}
}

// recordDeparture records a definition that is being deleted, and returns whether its objects must be checked now, and when the next check
// is.
func (m *memory) recordDeparture(definition inventory.ID, uid types.UID, now time.Time) (due bool, wait time.Duration) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	known := m.departures[definition]
	if known.uid != uid {
		known = departure{uid: uid, next: now.Add(sweepAfter), pause: sweepAfter}
	}
	if due = !now.Before(known.next); due {
		known.pause = min(2*known.pause, sweepPause)
		known.next = now.Add(known.pause)
	}
	if m.departures == nil {
		m.departures = map[inventory.ID]departure{}
	}
	m.departures[definition] = known
	return due, known.next.Sub(now)
}

// ofOurs reports whether a definition is of a kind of ours.
func ofOurs(definition inventory.ID) bool {
	return isDefinition(definition) && strings.HasSuffix(definition.Name, "."+v1beta2.GroupVersion.Group)
}
