package manifest

import (
	"context"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	logf "sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/pkg/conditions"
)

// referenceWorkers bounds the concurrent requests of the audit.
const referenceWorkers = 4

// movedReferences holds the content that references name now, as far as it was requested.
type movedReferences struct {
	mu  sync.Mutex
	now map[string]string
}

// of returns the digest that a reference names; empty before the first request.
func (m *movedReferences) of(reference string) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.now[reference]
}

func (m *movedReferences) replace(now map[string]string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.now = now
}

// noteReferences records in the status where content can be read, and the result of the audit of references. It records one event when a
// reference moved.
func (r *Reconciler) noteReferences(w *scope) {
	for i := range w.manifest.Status.Resolved {
		source := &w.manifest.Status.Resolved[i]
		source.ContentURL = r.Content.URL(w.manifest, source.Name)
		now, before := r.moved.of(source.Reference), source.Moved
		if now == "" {
			continue // not read since the program started: the recorded state stays
		}
		source.Moved = ""
		if now == source.Digest {
			continue
		}
		source.Moved = now
		if before != now {
			r.Events.Eventf(w.manifest, nil, corev1.EventTypeWarning, v1beta2.ReasonReferenceMoved, "Audit", "%s", conditions.Note(
				source.Reference+" names other content by now ("+now+"); what is installed stays: name a digest or a new version to follow it"))
		}
	}
}

// AuditReferences checks every interval, with one request for each distinct reference, whether tags and versions still name what they were
// resolved to. It enqueues the Manifests whose status must change, and changes nothing that is installed.
func (r *Reconciler) AuditReferences(interval time.Duration) manager.Runnable {
	return manager.RunnableFunc(func(ctx context.Context) error {
		for {
			pause := time.NewTimer(time.Duration((0.9 + 0.2*rand.Float64()) * float64(interval))) //nolint:gosec // spreads load
			select {
			case <-ctx.Done():
				pause.Stop()
				return nil
			case <-pause.C:
				r.auditReferences(ctx)
			}
		}
	})
}

func (r *Reconciler) auditReferences(ctx context.Context) {
	list := &v1beta2.ManifestList{}
	if err := r.Client.List(ctx, list, client.UnsafeDisableDeepCopy); err != nil {
		return // the cache ends, and so do we
	}
	asked := map[string][]auditCandidate{}
	for i := range list.Items {
		m := &list.Items[i]
		if !m.DeletionTimestamp.IsZero() || !r.Shard.Mine(Bucket(m)) {
			continue
		}
		current, err := r.Content.Sources(m)
		if err != nil {
			continue // the spec cannot be parsed, so there is no source to ask
		}
		for _, source := range m.Status.Resolved {
			// The spec may request something else by now, whose digest says nothing about this reference.
			if slices.ContainsFunc(current, func(now v1beta2.ResolvedSource) bool { return sameSource(source, now) }) {
				asked[source.Reference] = append(asked[source.Reference], auditCandidate{m, source.Name})
			}
		}
	}
	r.moved.replace(r.resolveReferences(ctx, asked))
	for i := range list.Items {
		if m := &list.Items[i]; r.referencesChanged(m) {
			select {
			case r.audited <- event.GenericEvent{Object: m.DeepCopy()}:
			case <-ctx.Done():
				return
			}
		}
	}
}

// auditCandidate is a reference as one Manifest requests it.
type auditCandidate struct {
	manifest *v1beta2.Manifest
	name     string
}

// maxAskers bounds how many Manifests of one reference are tried: the credentials of one may be broken, and those of another not.
const maxAskers = 3

func (r *Reconciler) resolveReferences(ctx context.Context, asked map[string][]auditCandidate) map[string]string {
	var mu sync.Mutex
	var group sync.WaitGroup
	answers, slots := map[string]string{}, make(chan struct{}, referenceWorkers)
	for reference, questions := range asked {
		slots <- struct{}{}
		group.Go(func() {
			defer func() { <-slots }()
			digest := r.current(ctx, reference, questions[:min(len(questions), maxAskers)])
			mu.Lock()
			defer mu.Unlock()
			if digest != "" {
				answers[reference] = digest
			}
		})
	}
	group.Wait()
	return answers
}

// current returns the first response, or "" when every request failed.
func (r *Reconciler) current(ctx context.Context, reference string, questions []auditCandidate) string {
	for _, q := range questions {
		digest, err := r.Content.Current(ctx, q.manifest, q.name)
		if err == nil {
			return digest
		}
		logf.FromContext(ctx).V(1).Info("Could not find out what a reference names now", "reference", reference, "cause", err.Error())
	}
	return ""
}

// referencesChanged reports whether the status of a Manifest differs from what is known of its references.
func (r *Reconciler) referencesChanged(m *v1beta2.Manifest) bool {
	for _, source := range m.Status.Resolved {
		now := r.moved.of(source.Reference)
		if now == source.Digest {
			now = ""
		} else if now == "" {
			continue
		}
		if now != source.Moved {
			return true
		}
	}
	return false
}
