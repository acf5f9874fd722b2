package clustercache

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kyma-project/lifecycle-manager/internal/manager/clustercache/h2stream"
	"github.com/kyma-project/lifecycle-manager/internal/manager/clustercache/wire"
	"github.com/kyma-project/lifecycle-manager/pkg/apply"
)

const (
	pageSize = 200
	// smallPage is for kinds whose objects are so large that a page of them exceeds the limit: 20 of the largest do not.
	smallPage = 20
	// listsAtATime bounds the concurrent lists of one runtime.
	listsAtATime = 4
	// maxPages ends a list whose continue tokens never end.
	maxPages = 1000

	acceptFull     = "application/json"
	acceptMeta     = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json"
	acceptMetaList = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json"
)

// errAgain says that what was listed is not what is wanted any more.
var errAgain = errors.New("the kind is wanted in another way than it was listed")

// list reads all objects of a kind, in pages, and replaces the cached ones.
func (r *Runtime) list(ctx context.Context, k *kind) error {
	select {
	case r.listing <- struct{}{}:
		defer func() { <-r.listing }()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	leave, err := r.conn.admission.enter(ctx, r.conn)
	if err != nil {
		return err
	}
	defer leave()
	r.mu.RLock()
	w := k.spec
	r.mu.RUnlock()
	gk := servedKind(k.gk)
	err = error(&apply.UnknownKindError{GroupVersionKind: gk.WithVersion("")})
	for _, version := range w.versions {
		if err = r.listVersion(ctx, k, gk.WithVersion(version), w); apply.Classify(err) != apply.ClassKindUnknown {
			break
		}
	}
	return err
}

func (r *Runtime) listVersion(ctx context.Context, k *kind, gvk schema.GroupVersionKind, w trackSpec) error {
	resource, err := r.served.find(ctx, gvk)
	if err != nil {
		return err
	}
	gathered := &listBuffer{runtime: r, objects: make(map[objectKey]*object)}
	defer gathered.end()
	take := func(o *wire.Object) error {
		return gathered.take(placeOf(o.Metadata.Namespace, o.Metadata.Name), r.reduce(o, gvk, w.needs))
	}
	var head wire.List
	limit := pageSize
	for page := 0; page == 0 || head.Continue != ""; page++ {
		if page == maxPages {
			return fmt.Errorf("the list of %s has more than %d pages", gvk.GroupKind(), maxPages)
		}
		next, err := r.page(ctx, &resource, w, limit, head.Continue, take)
		if errors.Is(err, wire.ErrTooLarge) && limit > smallPage {
			limit = smallPage
			next, err = r.page(ctx, &resource, w, limit, head.Continue, take)
		}
		if err != nil {
			return r.forgetUnserved(gvk, err)
		}
		if page > 0 {
			next.ResourceVersion = head.ResourceVersion // later pages may tell a later one, but show the first one's state
		}
		head = next
	}
	return r.storeList(k, &resource, w, gathered, head.ResourceVersion)
}

// forgetUnserved forgets the discovered resource of a kind that is not served there.
func (r *Runtime) forgetUnserved(gvk schema.GroupVersionKind, err error) error {
	if apply.Classify(err) == apply.ClassKindUnknown {
		r.served.forget(gvk.Group)
		return &apply.UnknownKindError{GroupVersionKind: gvk}
	}
	return err
}

// page makes one LIST call.
func (r *Runtime) page(
	ctx context.Context, resource *apply.Resource, w trackSpec, limit int, token string, take func(*wire.Object) error,
) (wire.List, error) {
	ctx, cancel := context.WithTimeout(marked(ctx, markPage), h2stream.CallTimeout)
	defer cancel()
	query := r.query(w)
	query.Set("limit", strconv.Itoa(limit))
	if token != "" {
		query.Set("continue", token)
	}
	accept := acceptMetaList
	if w.needs.full() {
		accept = acceptFull
	}
	resp, err := r.call(ctx, r.objectsURL(resource, w), query, http.Header{"Accept": {accept}})
	if err != nil {
		return wire.List{}, err
	}
	defer func() { _ = resp.Body.Close() }()
	return wire.ReadList(resp.Body, w.needs.depth(), take)
}

// query returns the selectors for a kind.
func (r *Runtime) query(w trackSpec) url.Values {
	query := url.Values{}
	if w.only != (objectKey{}) {
		query.Set("fieldSelector", "metadata.name="+w.only.name.Value())
	}
	if !w.needs.state {
		query.Set("labelSelector", r.cfg.Selector.String())
	}
	return query
}

// objectsURL returns the URL of the objects that are read of a kind.
func (r *Runtime) objectsURL(resource *apply.Resource, w trackSpec) *url.URL {
	all := r.collectionURL(resource)
	if w.only == (objectKey{}) || w.only.namespace.Value() == "" {
		return all
	}
	return all.JoinPath("..", "namespaces", w.only.namespace.Value(), resource.Resource)
}

// collectionURL returns the URL of a kind's objects in all namespaces.
func (r *Runtime) collectionURL(resource *apply.Resource) *url.URL {
	if resource.Group == "" {
		return r.conn.base.JoinPath("api", resource.Version, resource.Resource)
	}
	return r.conn.base.JoinPath("apis", resource.Group, resource.Version, resource.Resource)
}

// call makes one GET within the runtime's rate limit. A response other than 200 becomes an API error.
func (r *Runtime) call(ctx context.Context, at *url.URL, query url.Values, header http.Header) (*http.Response, error) {
	if err := r.conn.limiter.Wait(ctx); err != nil {
		return nil, err
	}
	target := *at
	target.RawQuery = query.Encode()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, target.String(), nil)
	if err != nil {
		return nil, err
	}
	req.Header = header
	resp, err := r.conn.do(req)
	if err != nil {
		return nil, &url.Error{Op: "Get", URL: at.Path, Err: err}
	}
	if resp.StatusCode != http.StatusOK {
		defer drain(resp.Body)
		return nil, statusError(resp, "get", at.Path)
	}
	return resp, nil
}

// storeList stores a complete list. A kind whose needs have changed meanwhile is listed again.
func (r *Runtime) storeList(k *kind, resource *apply.Resource, w trackSpec, found *listBuffer, resourceVersion string) error {
	r.mu.Lock()
	if k.spec.needs != w.needs || k.spec.only != w.only {
		r.mu.Unlock()
		return errAgain
	}
	if r.weighOtherKindsLocked(k)+found.weight > maxKept {
		r.mu.Unlock()
		return errTooMuch
	}
	var told []types.NamespacedName
	if k.problem != nil { // its owners continued without it
		told = r.trackingOwnersLocked(k, readLevel{})
	}
	k.resource, k.resume = resource, resourceVersion
	k.absent, k.problem, k.grown = false, nil, 0
	k.noteListed(time.Now())
	told = append(told, r.replaceObjectsLocked(k, found.objects, wire.Numeric(resourceVersion))...)
	ready := r.settledOwnersLocked()
	r.planDeletionCheckLocked(k)
	r.assignStreamsLocked()
	r.mu.Unlock()
	r.conn.tellOnce(told, ready)
	return nil
}

// planDeletionCheckLocked schedules another list for objects that were deleted without a watch, until they are gone. The caller holds the
// lock.
func (r *Runtime) planDeletionCheckLocked(k *kind) {
	for at := range k.leaving {
		if k.watched || k.objects[at] == nil {
			delete(k.leaving, at)
		}
	}
	if len(k.leaving) == 0 {
		k.patience = 0
		return
	}
	k.patience = min(max(2*k.patience, firstAbsent), lastPause)
	if k.recheck != nil {
		k.recheck.Stop()
	}
	k.recheck = time.AfterFunc(k.patience, func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		if r.kinds[k.gk] == k && !k.watched {
			r.relistKindLocked(k)
		}
	})
}
