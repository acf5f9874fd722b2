package clustercache

import (
	"context"
	"io"
	"net/http"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kyma-project/lifecycle-manager/internal/manager/clustercache/h2stream"
	"github.com/kyma-project/lifecycle-manager/internal/manager/priority"
	"github.com/kyma-project/lifecycle-manager/pkg/apply"
	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

// readHealthLocked reads the health of a CustomResourceDefinition or a Namespace with one GET, in the background. All requests meanwhile
// add up to one more GET. The caller holds the lock.
func (r *Runtime) readHealthLocked(k *kind, at objectKey) {
	s := subject{k.gk, at}
	if _, running := r.reads[s]; running {
		r.reads[s] = true
		return
	}
	if k.resource == nil || r.ctx.Err() != nil || len(r.reads) >= maxReads { // the next event of it asks again
		return
	}
	r.reads[s] = false
	resource := *k.resource
	r.conn.spawn(func() {
		var p pause
		for r.readOnce(s, &resource) {
			t := time.NewTimer(p.next(firstPause/2, lastPause, jitter()))
			select {
			case <-t.C:
			case <-r.ctx.Done():
				t.Stop()
				return
			}
		}
	})
}

// readOnce makes the call and reports whether another one is needed.
func (r *Runtime) readOnce(s subject, resource *apply.Resource) (more bool) {
	full, err := r.get(s, resource)
	r.mu.Lock()
	again := r.reads[s]
	r.reads[s] = false
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
		more = again && !k.objects[s.objectKey].ready() || !k.watched && !k.objects[s.objectKey].ready()
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
	if before.version > after.version && after.version != 0 {
		return nil // the stream is ahead, and has asked again
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
