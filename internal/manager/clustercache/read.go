package clustercache

import (
	"context"
	"io"
	"math"
	"net/http"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kyma-project/lifecycle-manager/internal/manager/clustercache/h2stream"
	"github.com/kyma-project/lifecycle-manager/internal/manager/priority"
	"github.com/kyma-project/lifecycle-manager/pkg/apply"
	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

// read is a read of an object's health that is planned or in progress.
type read struct {
	again bool          // requested once more since it began
	now   chan struct{} // ends the pause before it
}

// readHealthLocked reads the health of a CustomResourceDefinition or a Namespace with one GET, in the background and after a pause, which
// a request without one ends. All requests during the GET add up to one more GET. The caller holds the lock.
func (r *Runtime) readHealthLocked(k *kind, at objectKey, after time.Duration) {
	s := subject{k.gk, at}
	if running := r.reads[s]; running != nil {
		running.request(after)
		return
	}
	if k.resource == nil || r.ctx.Err() != nil || len(r.reads) >= maxReads { // the next event of it asks again
		return
	}
	resource, planned := *k.resource, &read{now: make(chan struct{}, 1)}
	r.reads[s] = planned
	r.conn.spawn(func() {
		var p pause
		for more := true; more && planned.wait(r.ctx, after); after = p.next(firstPause/2, lastPause, jitter()) {
			more = r.readOnce(s, planned, &resource)
		}
	})
}

func (l *read) request(after time.Duration) {
	l.again = true
	if after > 0 {
		return
	}
	select {
	case l.now <- struct{}{}:
	default:
	}
}

// wait reports whether the pause has ended before the context.
func (l *read) wait(ctx context.Context, length time.Duration) bool {
	t := time.NewTimer(length)
	defer t.Stop()
	select {
	case <-t.C:
	case <-l.now:
	case <-ctx.Done():
	}
	return ctx.Err() == nil
}

// begin forgets the requests that the GET answers.
func (l *read) begin() {
	l.again = false
	select {
	case <-l.now:
	default:
	}
}

// readOnce makes the call and reports whether another one is needed.
func (r *Runtime) readOnce(s subject, planned *read, resource *apply.Resource) (more bool) {
	r.mu.Lock()
	planned.begin()
	r.mu.Unlock()
	full, err := r.get(s, resource)
	r.mu.Lock()
	again := planned.again
	k := r.kinds[s.GroupKind]
	var o *object
	var told []types.NamespacedName
	level := priority.AsBefore // what is known for the first time was waited for
	if k != nil {
		o = k.objects[s.objectKey]
	}
	switch {
	case o == nil || o.terminating: // the caller is gone
	case err != nil:
		more = apply.Classify(err) != apply.ClassForbidden
	default:
		if o.health != nil {
			level = priority.Now
		}
		told = r.applyReadLocked(k, s.objectKey, o, full)
		now := k.objects[s.objectKey]
		more = !now.ready() && (again || !k.watched || now == o)
	}
	if !more {
		delete(r.reads, s)
	}
	r.mu.Unlock()
	r.conn.tell(level, told...)
	return more
}

// applyReadLocked stores what a GET returned. The caller holds the lock.
func (r *Runtime) applyReadLocked(k *kind, at objectKey, before *object, full *unstructured.Unstructured) []types.NamespacedName {
	if k.gk == inventory.CRDKind {
		r.served.observeDefinition(full)
	}
	after := r.whole(full, k)
	if !after.ready() {
		before.looks = min(before.looks, math.MaxUint8-1) + 1
		after.looks = before.looks
	}
	if before.version > after.version && after.version != 0 {
		return nil // the stream is ahead
	}
	c := r.storeObjectLocked(k, at, before, after)
	r.applyHealthLocked(k, at)
	return r.affectedOwnersLocked(k, c, before, after)
}

// get reads one object in full.
func (r *Runtime) get(s subject, resource *apply.Resource) (*unstructured.Unstructured, error) {
	ctx, cancel := context.WithTimeout(r.ctx, h2stream.CallTimeout)
	defer cancel()
	if err := r.conn.await(ctx); err != nil {
		return nil, err
	}
	at := r.collectionURL(resource).JoinPath(s.name.Value()) // both kinds that are read have no namespace
	resp, err := r.call(ctx, at, nil, http.Header{"Accept": {acceptFull}})
	if err != nil {
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, err
	}
	full := &unstructured.Unstructured{}
	return full, full.UnmarshalJSON(data)
}
