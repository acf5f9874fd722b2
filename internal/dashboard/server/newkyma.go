package server

import (
	"context"
	"net/http"
	"slices"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/client/modulestatus"
)

// mostNewNamespaces bounds the namespaces that a new Kyma can be created in by a page.
const mostNewNamespaces = 30

// newKyma says where a user may create a Kyma, and what it could have there.
type newKyma struct {
	Allowed bool `json:"allowed"`
	// Why says why it is not allowed.
	Why        string         `json:"why,omitempty"`
	Namespaces []newKymaPlace `json:"namespaces"`
	Unread     []Unread       `json:"unread"`
}

// newKymaPlace is a namespace in which a user may create a Kyma.
type newKymaPlace struct {
	Namespace string `json:"namespace"`
	// Connect reports whether the user may store an access Secret there, too.
	Connect  bool            `json:"connect"`
	Channels []string        `json:"channels"`
	Releases []string        `json:"releases"`
	Modules  []newKymaModule `json:"modules"`
	// Kymas are the names that are taken.
	Kymas []string `json:"kymas"`
}

// newKymaModule is a module that a new Kyma can have.
type newKymaModule struct {
	Name     string                      `json:"name"`
	Channels []modulestatus.OfferChannel `json:"channels"`
}

// newKyma answers GET /api/v1/newkyma.
func (s *Server) newKyma(ctx context.Context, u *User, r *http.Request) (any, error) {
	if err := known(r.URL.Query()); err != nil {
		return nil, err
	}
	now, err := s.snapshot(ctx, u)
	if err != nil {
		return nil, err
	}
	is := newKyma{Namespaces: []newKymaPlace{}, Unread: now.unread}
	if now.isRuntime() {
		is.Why = "This cluster is a runtime: its Kyma comes from a hub, and new ones are created there."
		return is, nil
	}
	for _, namespace := range now.namespacesOfKymas() {
		if u.may(ctx, "create", ownGroup, "kymas", namespace, "") && len(is.Namespaces) < mostNewNamespaces {
			is.Namespaces = append(is.Namespaces, s.newKymaPlace(ctx, u, now, namespace))
		}
	}
	if is.Allowed = len(is.Namespaces) > 0; !is.Allowed {
		is.Why = "You may not create Kymas. Ask an administrator of the cluster for permission."
	}
	return is, nil
}

// isRuntime reports whether all Kymas are copies that hubs keep here.
func (s *snapshot) isRuntime() bool {
	return len(s.in.Kymas) > 0 && !slices.ContainsFunc(s.in.Kymas, func(k v1beta2.Kyma) bool { return !modulestatus.IsCopy(&k) })
}

// namespacesOfKymas returns the namespaces that have Kymas or releases of modules, and the usual one, sorted.
func (s *snapshot) namespacesOfKymas() []string {
	all := []string{v1beta2.DefaultNamespace}
	for i := range s.in.Kymas {
		all = append(all, s.in.Kymas[i].Namespace)
	}
	for i := range s.in.Releases {
		all = append(all, s.in.Releases[i].Namespace)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

func (s *Server) newKymaPlace(ctx context.Context, u *User, now *snapshot, namespace string) newKymaPlace {
	place := newKymaPlace{
		Namespace: namespace, Connect: mayConnect(ctx, u, namespace), Channels: channelsOf(now.offers, namespace), Releases: []string{},
		Modules: []newKymaModule{}, Kymas: []string{},
	}
	for i := range now.offers {
		offer := &now.offers[i]
		if offer.Namespace == namespace && offer.Type != modulestatus.Community && offer.Mandatory == "" && len(offer.Channels) > 0 {
			place.Modules = append(place.Modules, newKymaModule{offer.Name, offer.Channels})
		}
	}
	for i := range now.in.Kymas {
		if now.in.Kymas[i].Namespace == namespace {
			place.Kymas = append(place.Kymas, now.in.Kymas[i].Name)
		}
	}
	// Without the right to list them, or the kind itself, no release is offered: channels are.
	releases, _ := recalled(ctx, u, "kymareleases "+namespace, func(ctx context.Context) ([]string, error) {
		return releasesIn(ctx, u.Client, namespace)
	})
	place.Releases = append(place.Releases, releases...)
	return place
}

func releasesIn(ctx context.Context, from client.Reader, namespace string) ([]string, error) {
	var list v1beta2.KymaReleaseList
	if err := from.List(ctx, &list, client.InNamespace(namespace)); err != nil {
		return nil, err
	}
	var names []string
	for i := range list.Items {
		names = append(names, list.Items[i].Name)
	}
	slices.Sort(names)
	return names, nil
}

// mayConnect reports whether a user may store the access Secret of a Kyma.
func mayConnect(ctx context.Context, u *User, namespace string) bool {
	for _, verb := range []string{"list", "create", "patch"} {
		if !u.may(ctx, verb, "", "secrets", namespace, "") {
			return false
		}
	}
	return true
}
