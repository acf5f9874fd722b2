package treereader

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/internal/client/modulestatus"
	"github.com/kyma-project/lifecycle-manager/internal/client/modulestatus/rootcause"
	"github.com/kyma-project/lifecycle-manager/internal/client/ownedobjects"
)

// The bounds of one reading.
const (
	// MostRequests bounds the list requests, mostBytes what they return, about.
	MostRequests = 80
	mostBytes    = 24 << 20
	// mostWorkloads is how many workloads are looked below, mostListed how many objects one request returns, and mostJobs how many Jobs of a
	// CronJob are looked below.
	mostWorkloads, mostListed, mostJobs = 40, 250, 3
	// mostKinds, mostNamespaces and mostPlaces, the pairs of both, bound where it is looked for what the operator made.
	mostKinds, mostNamespaces, mostPlaces = 24, 4, 48
	// patience is how long all of it may take.
	patience = 20 * time.Second
)

// Bound is what left something out.
type Bound string

// The bounds of a tree.
const (
	// BoundObjects: how many objects of a kind, and how many workloads are looked at.
	BoundObjects Bound = "Objects"
	// BoundPlaces: how many kinds and namespaces are looked through.
	BoundPlaces Bound = "Places"
	// BoundRequests: how many requests are made, and what they return.
	BoundRequests Bound = "Requests"
	// BoundNodes: how many objects are shown.
	BoundNodes Bound = "Nodes"
)

// Cut is something that was left out, and why.
type Cut struct {
	Reason Bound  `json:"reason"`
	Text   string `json:"text"`
}

// Found is what was read.
type Found struct {
	Objects []*unstructured.Unstructured
	Unread  []modulestatus.Unread
	Cuts    []Cut
	// Requests is how many requests it took.
	Requests int
}

// Read returns what is below the objects of a module. kinds are those that the module says its users make objects of.
func Read(
	ctx context.Context, from client.Reader, mapper meta.RESTMapper, roots []*unstructured.Unstructured, kinds []schema.GroupVersionKind,
) Found {
	ctx, done := context.WithTimeout(ctx, patience)
	defer done()
	r := &reading{from: &bounded{Reader: from, requests: MostRequests, bytes: mostBytes}, mapper: mapper, seen: map[string]bool{}}
	r.made(ctx, roots, kinds)
	r.below(ctx, slices.Concat(roots, r.found.Objects))
	r.found.Requests = MostRequests - r.from.left()
	r.report()
	return r.found
}

// reading is one call of Read.
type reading struct {
	from   *bounded
	mapper meta.RESTMapper
	found  Found
	cut    bool
	places int
	seen   map[string]bool
}

// made adds what is owned by objects that are no workloads: custom resources, Services, and what else the module installs.
func (r *reading) made(ctx context.Context, roots []*unstructured.Unstructured, kinds []schema.GroupVersionKind) {
	places := r.placesOf(roots, kinds)
	if len(places) == 0 {
		return
	}
	r.places += max(0, len(places)-mostPlaces)
	r.add(ownedobjects.Made(ctx, r.from, roots, places[:min(len(places), mostPlaces)], mostListed))
}

// below adds what the workloads own.
func (r *reading) below(ctx context.Context, all []*unstructured.Unstructured) {
	var workloads []*unstructured.Unstructured
	for _, o := range all {
		if rootcause.IsWorkload(o) {
			workloads = append(workloads, o)
		}
	}
	slices.SortStableFunc(workloads, func(a, b *unstructured.Unstructured) int { // those in trouble first
		return cmp.Or(trouble(a)-trouble(b), cmp.Compare(a.GetNamespace()+"/"+a.GetName(), b.GetNamespace()+"/"+b.GetName()))
	})
	r.add(ownedobjects.Below(ctx, r.from, workloads, ownedobjects.Bounds{Roots: mostWorkloads, Objects: mostListed, Jobs: mostJobs}))
}

func trouble(o *unstructured.Unstructured) int {
	if rootcause.InTrouble(o) {
		return 0
	}
	return 1
}

// add adds what was found, each object once.
func (r *reading) add(found ownedobjects.Found) {
	for _, o := range found.Objects {
		if key := string(o.GetUID()); !r.seen[key] {
			r.seen[key] = true
			r.found.Objects = append(r.found.Objects, o)
		}
	}
	for _, u := range found.Unread {
		if u.Text != errSpent.Error() && !slices.Contains(r.found.Unread, u) {
			r.found.Unread = append(r.found.Unread, u)
		}
	}
	r.cut = r.cut || found.Cut
}

// report says what the bounds left out.
func (r *reading) report() {
	if r.cut {
		r.found.Cuts = append(r.found.Cuts, Cut{
			BoundObjects, "there are more objects of a kind in a namespace than were looked through, or more workloads than were looked below",
		})
	}
	if r.places > 0 {
		r.found.Cuts = append(r.found.Cuts, Cut{BoundPlaces, "there are more kinds and namespaces of the module than were looked through"})
	}
	if r.from.spent() {
		r.found.Cuts = append(r.found.Cuts, Cut{
			BoundRequests, "the bound of requests or bytes for one module is reached, so that not everything was looked at",
		})
	}
}

// usual are the kinds that operators make objects of. Of those with secret or long content only the metadata is read.
var usual = []ownedobjects.Place{
	{Kind: schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"}},
	{Kind: schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "StatefulSet"}},
	{Kind: schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "DaemonSet"}},
	{Kind: schema.GroupVersionKind{Group: "batch", Version: "v1", Kind: "Job"}},
	{Kind: schema.GroupVersionKind{Group: "batch", Version: "v1", Kind: "CronJob"}},
	{Kind: schema.GroupVersionKind{Version: "v1", Kind: "Pod"}},
	{Kind: schema.GroupVersionKind{Version: "v1", Kind: "Service"}},
	{Kind: schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}, Metadata: true},
	{Kind: schema.GroupVersionKind{Version: "v1", Kind: "Secret"}, Metadata: true},
	{Kind: schema.GroupVersionKind{Version: "v1", Kind: "ServiceAccount"}, Metadata: true},
	{Kind: schema.GroupVersionKind{Group: "rbac.authorization.k8s.io", Version: "v1", Kind: "Role"}, Metadata: true},
	{Kind: schema.GroupVersionKind{Group: "rbac.authorization.k8s.io", Version: "v1", Kind: "RoleBinding"}, Metadata: true},
}

// claims and slices are looked for below StatefulSets and Services.
var (
	claims         = ownedobjects.Place{Kind: schema.GroupVersionKind{Version: "v1", Kind: "PersistentVolumeClaim"}}
	endpointSlices = ownedobjects.Place{
		Kind: schema.GroupVersionKind{Group: "discovery.k8s.io", Version: "v1", Kind: "EndpointSlice"}, Metadata: true,
	}
)

// placesOf returns the kinds and namespaces in which objects may be that the roots own.
func (r *reading) placesOf(roots []*unstructured.Unstructured, kinds []schema.GroupVersionKind) []ownedobjects.Place {
	var looked []ownedobjects.Place
	owners, cluster := namespacesOf(roots, isCustom)
	if len(owners) > 0 || cluster {
		looked = append(slices.Clone(usual), claims)
		for _, kind := range ownKinds(roots, kinds) {
			if !slices.ContainsFunc(looked, func(p ownedobjects.Place) bool { return p.Kind.GroupKind() == kind.GroupKind() }) {
				looked = append(looked, ownedobjects.Place{Kind: kind})
			}
		}
	}
	if cluster {
		owners, _ = namespacesOf(roots, func(*unstructured.Unstructured) bool { return true })
	}
	r.places += max(0, len(looked)-mostKinds) + max(0, len(owners)-mostNamespaces)
	owners = owners[:min(len(owners), mostNamespaces)]
	var places []ownedobjects.Place
	for _, one := range looked[:min(len(looked), mostKinds)] {
		places = append(places, r.in(one, owners, cluster)...)
	}
	for kind, one := range map[string]ownedobjects.Place{"Service": endpointSlices, "StatefulSet": claims} {
		where, _ := namespacesOf(roots, func(o *unstructured.Unstructured) bool { return o.GetKind() == kind && !isCustom(o) })
		r.places += max(0, len(where)-mostNamespaces)
		places = append(places, r.in(one, where[:min(len(where), mostNamespaces)], false)...)
	}
	slices.SortFunc(places, func(a, b ownedobjects.Place) int { return strings.Compare(keyOf(a), keyOf(b)) })
	return slices.CompactFunc(places, func(a, b ownedobjects.Place) bool { return keyOf(a) == keyOf(b) })
}

func keyOf(at ownedobjects.Place) string { return at.Kind.String() + " " + at.Namespace }

// in returns a kind in some namespaces, or in the cluster if it is cluster-scoped: such an object can only be owned by another one. A kind
// that the cluster does not serve takes no request.
func (r *reading) in(one ownedobjects.Place, namespaces []string, cluster bool) []ownedobjects.Place {
	mapping, err := r.mapper.RESTMapping(one.Kind.GroupKind(), one.Kind.Version)
	if err != nil {
		return nil // what is not served has no objects; and a cluster that does not answer says so at the next request
	}
	if mapping.Scope.Name() == meta.RESTScopeNameRoot {
		if !cluster {
			return nil
		}
		return []ownedobjects.Place{one}
	}
	var places []ownedobjects.Place
	for _, namespace := range namespaces {
		one.Namespace = namespace
		places = append(places, one)
	}
	return places
}

// namespacesOf returns the namespaces of some objects, and whether some of them are cluster-scoped.
func namespacesOf(all []*unstructured.Unstructured, which func(*unstructured.Unstructured) bool) (namespaces []string, cluster bool) {
	for _, o := range all {
		switch {
		case !which(o):
		case o.GetNamespace() == "":
			cluster = true
		case !slices.Contains(namespaces, o.GetNamespace()):
			namespaces = append(namespaces, o.GetNamespace())
		}
	}
	slices.Sort(namespaces)
	return namespaces, cluster
}

// isCustom reports whether an object is of a kind that a definition adds: an operator may have made objects for it.
func isCustom(o *unstructured.Unstructured) bool {
	group := o.GroupVersionKind().Group
	return strings.Contains(group, ".") && !strings.HasSuffix(group, ".k8s.io")
}

// ownKinds returns the kinds of the module: those that it says, those of its custom resources, and those that it defines.
func ownKinds(roots []*unstructured.Unstructured, said []schema.GroupVersionKind) []schema.GroupVersionKind {
	all := slices.Clone(said)
	for _, o := range roots {
		if isCustom(o) {
			all = append(all, o.GroupVersionKind())
		}
		if o.GetKind() == "CustomResourceDefinition" {
			if kind, is := definedBy(o); is {
				all = append(all, kind)
			}
		}
	}
	slices.SortStableFunc(all, func(a, b schema.GroupVersionKind) int {
		return strings.Compare(a.GroupKind().String(), b.GroupKind().String())
	})
	return slices.CompactFunc(all, func(a, b schema.GroupVersionKind) bool { return a.GroupKind() == b.GroupKind() })
}

// definedBy returns the kind of a definition, in a version that is served.
func definedBy(definition *unstructured.Unstructured) (schema.GroupVersionKind, bool) {
	group, _, _ := unstructured.NestedString(definition.Object, "spec", "group")
	kind, _, _ := unstructured.NestedString(definition.Object, "spec", "names", "kind")
	versions, _, _ := unstructured.NestedSlice(definition.Object, "spec", "versions")
	for _, v := range versions {
		fields, _ := v.(map[string]any)
		name, _ := fields["name"].(string)
		if served, _ := fields["served"].(bool); served && name != "" && kind != "" && group != "" {
			return schema.GroupVersionKind{Group: group, Version: name, Kind: kind}, true
		}
	}
	return schema.GroupVersionKind{}, false
}
