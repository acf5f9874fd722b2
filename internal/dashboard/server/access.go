package server

import (
	"context"
	"slices"
	"sync"

	authorizationv1 "k8s.io/api/authorization/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// scope is the namespaces in which a user may list a kind.
type scope struct {
	all        bool
	namespaces []string
}

func (s scope) none() bool { return !s.all && len(s.namespaces) == 0 }

func (s scope) has(namespace string) bool { return s.all || slices.Contains(s.namespaces, namespace) }

func (s scope) equal(other scope) bool {
	return s.all == other.all && slices.Equal(s.namespaces, other.namespaces)
}

// scope returns where the user may list a kind. If a namespace is requested, no other one counts.
func (w *watches) scope(ctx context.Context, u *User, at place, resource schema.GroupVersionResource) (scope, error) {
	ask := authorizationv1.ResourceAttributes{
		Verb: "list", Group: resource.Group, Resource: resource.Resource, Namespace: at.namespace,
	}
	may, err := u.May(ctx, ask)
	if err != nil || may || at.namespace != "" {
		return scope{all: may}, err
	}
	namespaces, err := w.candidates(ctx, u, at)
	if err != nil {
		return scope{}, err
	}
	allowed := make([]bool, len(namespaces))
	each(len(namespaces), func(i int) {
		one := ask
		one.Namespace = namespaces[i]
		allowed[i], _ = u.May(ctx, one) // a failed review counts as not allowed
	})
	var is scope
	for i, namespace := range namespaces {
		if allowed[i] {
			is.namespaces = append(is.namespaces, namespace)
		}
	}
	return is, ctx.Err()
}

// candidates returns the namespaces in which a user without cluster-wide permission might list a kind: for a kind that the server
// watches, those that have an object of it; for any other, the usual ones, and all that the user may list.
func (w *watches) candidates(ctx context.Context, u *User, at place) ([]string, error) {
	find := w.knownTo
	if w.shared(at.GroupKind()) {
		find = w.inUse
	}
	names, err := find(ctx, u, at)
	if err != nil {
		return nil, err
	}
	slices.Sort(names)
	names = slices.Compact(names)
	return names[:min(len(names), mostNamespaces)], nil
}

// inUse returns the namespaces that have an object of a kind that the server watches.
func (w *watches) inUse(ctx context.Context, u *User, at place) ([]string, error) {
	h, err := w.stream(w.self, place{GroupVersionKind: at.GroupVersionKind, labels: at.labels})
	if err != nil {
		return nil, err
	}
	names, err := h.namespaces(ctx)
	if apierrors.IsForbidden(err) {
		return w.knownTo(ctx, u, at)
	}
	return names, err
}

// knownTo returns the usual namespaces, and all others for users who may list namespaces.
func (w *watches) knownTo(ctx context.Context, u *User, _ place) ([]string, error) {
	names := slices.Clone(w.usual)
	may, err := u.May(ctx, authorizationv1.ResourceAttributes{Verb: "list", Resource: "namespaces"})
	if err != nil || !may {
		return names, err
	}
	objects, err := w.read(ctx, u, place{GroupVersionKind: namespaceKind})
	for _, o := range objects {
		names = append(names, o.GetName())
	}
	return names, err
}

// sharedInCluster returns the kinds that the dashboard's own ServiceAccount may list.
func sharedInCluster(kind schema.GroupKind) bool {
	switch kind.Group {
	case ownGroup:
		return true
	case "apps":
		return kind.Kind == "Deployment" || kind.Kind == "StatefulSet"
	case "apiextensions.k8s.io":
		return kind.Kind == "CustomResourceDefinition"
	case "":
		return kind.Kind == "Namespace"
	}
	return false
}

// each calls a function for the numbers below n, eight at a time.
func each(n int, f func(int)) {
	slots := make(chan struct{}, 8)
	var all sync.WaitGroup
	for i := range n {
		slots <- struct{}{}
		all.Go(func() {
			defer func() { <-slots }()
			f(i)
		})
	}
	all.Wait()
}

// fits reports whether a user has exactly the permissions with which data was read.
func (w *watches) fits(ctx context.Context, u *User, scopes map[place]scope) (bool, error) {
	for at, had := range scopes {
		resource, err := w.resource(at.GroupVersionKind)
		if err != nil {
			return false, nil //nolint:nilerr // the kind has gone: what was read of it is old
		}
		may, err := w.scope(ctx, u, at, resource)
		if err != nil {
			return false, err
		}
		if !may.equal(had) {
			return false, nil
		}
	}
	return true, nil
}
