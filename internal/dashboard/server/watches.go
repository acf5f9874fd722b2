package server

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/client/modulestatus"
)

const (
	// mostStreams bounds how many watch streams there are.
	mostStreams = 300
	// mostNamespaces bounds the access reviews for a user without cluster-wide permission.
	mostNamespaces = 200
	// unknownLasts is how long a kind that the cluster does not serve is treated as missing, unless a definition changes.
	unknownLasts = 30 * time.Second
	// firstList is how long to wait for the first list of a kind.
	firstList = 10 * time.Second
)

// watches holds the streams that all readers share.
type watches struct {
	life   context.Context //nolint:containedctx // streams live as long as the server, not as long as the request that began them
	mapper meta.RESTMapper
	// self is the server's own user; shared lists the kinds that it watches for all users, as itself.
	self    *User
	shared  func(schema.GroupKind) bool
	usual   []string
	changed func()

	mutex   sync.Mutex
	streams map[place]*watchStore
	unknown map[schema.GroupKind]time.Time
}

func refusal(err error) bool { return apierrors.IsForbidden(err) || apierrors.IsUnauthorized(err) }

// resource returns the resource of a kind. A kind that the cluster does not serve is remembered: discovery costs requests.
func (w *watches) resource(kind schema.GroupVersionKind) (schema.GroupVersionResource, error) {
	w.mutex.Lock()
	since, is := w.unknown[kind.GroupKind()]
	w.mutex.Unlock()
	if is && time.Since(since) < unknownLasts {
		return schema.GroupVersionResource{}, &meta.NoKindMatchError{GroupKind: kind.GroupKind(), SearchedVersions: []string{kind.Version}}
	}
	mapping, err := w.mapper.RESTMapping(kind.GroupKind(), kind.Version)
	if meta.IsNoMatchError(err) {
		w.mutex.Lock()
		w.unknown[kind.GroupKind()] = time.Now()
		w.mutex.Unlock()
	}
	if err != nil {
		return schema.GroupVersionResource{}, err
	}
	return mapping.Resource, nil
}

// definitionChanged forgets which kinds were missing.
func (w *watches) definitionChanged() {
	w.mutex.Lock()
	clear(w.unknown)
	w.mutex.Unlock()
	w.changed()
}

// list returns all objects of a kind that the user may list, in one namespace or, if that is empty, in all:
//
//  1. if the user may list none of them, that is the error
//  2. objects that the server watches for all users are filtered by what this user may list
//  3. all other kinds, and those that the server itself may not list, are watched with the permissions of the first user, in the
//     namespaces that this user may list
func (w *watches) list(ctx context.Context, u *User, at place) ([]client.Object, scope, error) {
	ctx, done := context.WithTimeout(ctx, firstList)
	defer done()
	resource, err := w.resource(at.GroupVersionKind)
	if err != nil {
		return nil, scope{}, err
	}
	may, err := w.scope(ctx, u, at, resource)
	if err != nil {
		return nil, may, err
	}
	if may.none() {
		return nil, may, apierrors.NewForbidden(resource.GroupResource(), "", errMayNotList)
	}
	if w.shared(at.GroupKind()) {
		objects, err := w.read(ctx, w.self, place{GroupVersionKind: at.GroupVersionKind, labels: at.labels})
		if !apierrors.IsForbidden(err) {
			return within(objects, at.namespace, may), may, err
		}
	}
	if may.all || at.namespace != "" {
		objects, err := w.read(ctx, u, at)
		return objects, may, err
	}
	var all []client.Object
	for _, namespace := range may.namespaces {
		one := at
		one.namespace = namespace
		objects, err := w.read(ctx, u, one)
		if err != nil {
			return nil, may, err
		}
		all = append(all, objects...)
	}
	return all, may, nil
}

// within returns the objects that are in a namespace (empty: in any) and in the scope.
func within(objects []client.Object, namespace string, may scope) []client.Object {
	if namespace == "" && may.all {
		return objects
	}
	return slices.DeleteFunc(objects, func(o client.Object) bool {
		return namespace != "" && o.GetNamespace() != namespace || !may.has(o.GetNamespace())
	})
}

// read returns the objects of a stream. A stream that is refused belongs to a user who has lost the permission, and is restarted with the
// permissions of the current one.
func (w *watches) read(ctx context.Context, u *User, at place) ([]client.Object, error) {
	for again := true; ; again = false {
		h, err := w.stream(u, at)
		if err != nil {
			return nil, err
		}
		objects, err := h.all(ctx)
		if err == nil || !final(err) {
			return objects, err
		}
		w.end(at, h)
		if !again || h.owner == u {
			return nil, err
		}
	}
}

// stream returns the stream of a place, and starts it with the user's permissions if there is none.
func (w *watches) stream(u *User, at place) (*watchStore, error) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	if h := w.streams[at]; h != nil {
		return h, nil
	}
	if u.ended.Load() {
		return nil, notLoggedIn()
	}
	if len(w.streams) >= mostStreams {
		return nil, apierrors.NewTooManyRequests("the dashboard watches too many kinds already", 60)
	}
	h := hold(w.life, u, u.watcher, at, w.changed)
	w.streams[at] = h
	return h, nil
}

// stale returns the kinds whose streams receive no new events, so that their objects may be outdated. The streams are shared: one of a
// namespace that the user may not list is not named, since nothing was read from it, and other users may have started it.
func (w *watches) stale(scopes map[place]scope) []Unread {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	var all []Unread
	for at, h := range w.streams {
		since, err := h.trouble()
		if err == nil || final(err) || !w.theirs(at, scopes) {
			continue
		}
		all = append(all, Unread{
			Kind: at.GroupKind().String(), Namespace: at.namespace, Reason: modulestatus.WhyReadFailed,
			Message: fmt.Sprintf("%s is shown as it was at %s: %s", at.GroupKind(), since.UTC().Format("15:04:05 MST"), cause(err)),
		})
	}
	slices.SortFunc(all, func(a, b Unread) int { return strings.Compare(a.Kind+"/"+a.Namespace, b.Kind+"/"+b.Namespace) })
	return all
}

// theirs reports whether a user who read with these scopes was shown objects of a stream.
func (w *watches) theirs(at place, scopes map[place]scope) bool {
	for read, may := range scopes {
		switch {
		case read.GroupKind() != at.GroupKind() || may.none():
		case at.namespace == "":
			if may.all && read.namespace == "" || w.shared(at.GroupKind()) {
				return true
			}
		case read.namespace == at.namespace, read.namespace == "" && may.has(at.namespace):
			return true
		}
	}
	return false
}

// end ends a stream, unless another one is in its place already.
func (w *watches) end(at place, h *watchStore) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	if w.streams[at] == h {
		delete(w.streams, at)
	}
	h.stop()
}

// forget ends the streams that were started with the permissions of a user who has logged out. The next reader restarts them.
func (w *watches) forget(u *User) {
	if u == w.self {
		return
	}
	w.mutex.Lock()
	u.ended.Store(true) // under the lock that streams start under
	ended := 0
	for at, h := range w.streams {
		if h.owner == u {
			delete(w.streams, at)
			h.stop()
			ended++
		}
	}
	w.mutex.Unlock()
	if ended > 0 {
		w.changed()
	}
}

var (
	namespaceKind  = corev1.SchemeGroupVersion.WithKind("Namespace")
	definitionKind = apiextensionsv1.SchemeGroupVersion.WithKind("CustomResourceDefinition")
	ownGroup       = v1beta2.GroupVersion.Group
)
