package simruntime

import (
	"cmp"
	"net/http"
	"slices"
	"strings"

	apidiscoveryv2 "k8s.io/api/apidiscovery/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/version"
)

var verbs = []string{"create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"}

// aggregated is the media type of the document that tells everything at once.
const aggregated = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"

// discover answers what is served: everything at once, the groups alone, or one group and version.
func (q *request) discover(parts []string) error {
	unlock := q.runtime.lock()
	kinds := q.runtime.kindsLocked()
	unlock()
	core := parts[0] == "api"
	switch {
	case len(parts) == 1 && strings.Contains(q.Header.Get("Accept"), "g=apidiscovery.k8s.io;v=v2;"):
		q.out.Header().Set("Content-Type", aggregated)
		q.answer(http.StatusOK, aggregate(kinds, core))
	case len(parts) == 1 && core:
		q.answer(http.StatusOK, &metav1.APIVersions{TypeMeta: metav1.TypeMeta{Kind: "APIVersions"}, Versions: []string{"v1"}})
	case len(parts) == 1:
		list := &metav1.APIGroupList{TypeMeta: metav1.TypeMeta{Kind: "APIGroupList", APIVersion: "v1"}}
		for _, group := range groupsOf(kinds, core) {
			list.Groups = append(list.Groups, *group.short())
		}
		q.answer(http.StatusOK, list)
	case core:
		return q.resources(kinds, schema.GroupVersion{Version: parts[1]})
	case len(parts) == 3:
		return q.resources(kinds, schema.GroupVersion{Group: parts[1], Version: parts[2]})
	default:
		for _, group := range groupsOf(kinds, false) {
			if group.name == parts[1] {
				q.answer(http.StatusOK, group.short())
				return nil
			}
		}
		return statusNotFound()
	}
	return nil
}

// kindsLocked returns all that are served. The caller holds the lock.
func (r *Runtime) kindsLocked() []*kind {
	var all []*kind
	for _, k := range r.fleet.own {
		all = append(all, k)
	}
	for gr, t := range r.tables {
		if r.fleet.own[gr] == nil {
			all = append(all, t.kind)
		}
	}
	slices.SortFunc(all, func(a, b *kind) int {
		return cmp.Or(strings.Compare(a.group, b.group), strings.Compare(a.resource, b.resource))
	})
	return all
}

// group is what a group serves.
type group struct {
	name     string
	versions []string // preferred first
	kinds    []*kind
}

func groupsOf(kinds []*kind, core bool) []*group {
	var groups []*group
	for _, k := range kinds {
		if (k.group == "") != core {
			continue
		}
		if len(groups) == 0 || groups[len(groups)-1].name != k.group {
			groups = append(groups, &group{name: k.group})
		}
		g := groups[len(groups)-1]
		g.kinds = append(g.kinds, k)
		for _, v := range k.versions {
			if !slices.Contains(g.versions, v) {
				g.versions = append(g.versions, v)
			}
		}
	}
	for _, g := range groups {
		slices.SortFunc(g.versions, func(a, b string) int { return version.CompareKubeAwareVersionStrings(b, a) })
	}
	return groups
}

func (g *group) short() *metav1.APIGroup {
	short := &metav1.APIGroup{TypeMeta: metav1.TypeMeta{Kind: "APIGroup", APIVersion: "v1"}, Name: g.name}
	for _, v := range g.versions {
		gv := metav1.GroupVersionForDiscovery{GroupVersion: schema.GroupVersion{Group: g.name, Version: v}.String(), Version: v}
		short.Versions = append(short.Versions, gv)
	}
	short.PreferredVersion = short.Versions[0]
	return short
}

func aggregate(kinds []*kind, core bool) *apidiscoveryv2.APIGroupDiscoveryList {
	list := &apidiscoveryv2.APIGroupDiscoveryList{
		TypeMeta: metav1.TypeMeta{Kind: "APIGroupDiscoveryList", APIVersion: "apidiscovery.k8s.io/v2"},
	}
	for _, g := range groupsOf(kinds, core) {
		item := apidiscoveryv2.APIGroupDiscovery{ObjectMeta: metav1.ObjectMeta{Name: g.name}}
		for _, v := range g.versions {
			told := apidiscoveryv2.APIVersionDiscovery{Version: v, Freshness: apidiscoveryv2.DiscoveryFreshnessCurrent}
			for _, k := range g.kinds {
				if k.version(v) != "" {
					told.Resources = append(told.Resources, k.aggregated(v))
				}
			}
			item.Versions = append(item.Versions, told)
		}
		list.Items = append(list.Items, item)
	}
	return list
}

func (k *kind) aggregated(v string) apidiscoveryv2.APIResourceDiscovery {
	gvk := metav1.GroupVersionKind(k.gvk(v))
	told := apidiscoveryv2.APIResourceDiscovery{
		Resource: k.resource, ResponseKind: &gvk, Scope: apidiscoveryv2.ScopeCluster,
		SingularResource: k.singular, Verbs: verbs, ShortNames: k.short,
	}
	if k.namespaced {
		told.Scope = apidiscoveryv2.ScopeNamespace
	}
	if k.status {
		told.Subresources = []apidiscoveryv2.APISubresourceDiscovery{
			{Subresource: "status", ResponseKind: &gvk, Verbs: []string{"get", "patch", "update"}},
		}
	}
	return told
}

// resources answers for one group and version.
func (q *request) resources(kinds []*kind, gv schema.GroupVersion) error {
	list := &metav1.APIResourceList{TypeMeta: metav1.TypeMeta{Kind: "APIResourceList", APIVersion: "v1"}, GroupVersion: gv.String()}
	for _, k := range kinds {
		if k.group != gv.Group || k.version(gv.Version) == "" {
			continue
		}
		told := metav1.APIResource{
			Name: k.resource, SingularName: k.singular, Namespaced: k.namespaced, Kind: k.name, Verbs: verbs, ShortNames: k.short,
		}
		list.APIResources = append(list.APIResources, told)
		if k.status {
			told.Name += "/status"
			told.SingularName, told.ShortNames, told.Verbs = "", nil, []string{"get", "patch", "update"}
			list.APIResources = append(list.APIResources, told)
		}
	}
	if len(list.APIResources) == 0 {
		return statusNotFound()
	}
	q.answer(http.StatusOK, list)
	return nil
}

// openapi answers with the document that was given, under the one version that it has.
func (q *request) openapi(parts []string) error {
	if len(parts) == 1 && parts[0] == "v2" && len(q.runtime.fleet.types.document) > 0 {
		q.send(http.StatusOK, q.runtime.fleet.types.document)
		return nil
	}
	return statusNotFound()
}
