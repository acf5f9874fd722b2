package causereader

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/internal/client/modulestatus"
	"github.com/kyma-project/lifecycle-manager/internal/client/modulestatus/rootcause"
	"github.com/kyma-project/lifecycle-manager/internal/client/ownedobjects"
)

// The bounds of what is read for one module.
const (
	// mostFetched bounds the module's objects that are read, mostClaims the claims, mostTold the objects whose events are read, and mostLogs
	// the logs.
	mostFetched, mostClaims, mostTold, mostLogs = 12, 3, 8, 2
	// MostRequests bounds all requests for one module.
	MostRequests = mostFetched + ownedobjects.DefaultRoots*ownedobjects.MostRequests + mostClaims + mostTold + mostLogs
	// patience is how long all of it may take.
	patience = 15 * time.Second
)

// Access is how the user reaches the cluster that the module is in.
type Access struct {
	Reader client.Reader
	// Logs reads logs; without it, there are none.
	Logs Logs
}

// reading is one call of Read.
type reading struct {
	access Access
	mutex  sync.Mutex
	rootcause.Evidence
	unread []modulestatus.Unread
}

// Read returns the evidence about a module, whose cluster is reached by access. in has what was read before; its Kymas are treated as those
// of that cluster.
func Read(ctx context.Context, access Access, in *modulestatus.Inputs, m *modulestatus.Module) rootcause.Evidence {
	r := &reading{access: access, Evidence: rootcause.Evidence{Module: m}}
	if m.State == modulestatus.Ready {
		return r.Evidence
	}
	ctx, done := context.WithTimeout(ctx, patience)
	defer done()
	r.own(ctx, in, m)
	r.owned(ctx)
	r.claims(ctx)
	r.events(ctx)
	r.logs(ctx)
	for _, u := range slices.Concat(r.unread, relevant(in)) {
		r.unseen(u.Kind, u.Namespace, u.Message())
	}
	return r.Evidence
}

// relevant returns the kinds that were not read before and may have the cause: workloads, and what they need.
func relevant(in *modulestatus.Inputs) []modulestatus.Unread {
	return slices.DeleteFunc(slices.Clone(in.Unread), func(u modulestatus.Unread) bool {
		o := &unstructured.Unstructured{}
		o.SetGroupVersionKind(u.WithVersion("v1"))
		return !rootcause.IsWorkload(o)
	})
}

// own adds the module's objects: those that were read before, and those below which the cause may be. An object that was looked for and is
// not there is missing, unless the module is on its way.
func (r *reading) own(ctx context.Context, in *modulestatus.Inputs, m *modulestatus.Module) {
	have := map[modulestatus.Ref]*unstructured.Unstructured{}
	for _, o := range in.Objects {
		have[refTo(o)] = o
	}
	var wanted []modulestatus.Ref
	for _, ref := range modulestatus.ObjectsOf(in, m) {
		if o := have[unversioned(ref)]; o != nil {
			r.Objects = append(r.Objects, o)
			continue
		}
		if !known(in, ref) && (isInteresting(ref) || m.State == modulestatus.Deleting) && !slices.Contains(wanted, ref) {
			wanted = append(wanted, ref)
		}
	}
	wanted = wanted[:min(len(wanted), mostFetched)]
	r.each(len(wanted), func(i int) { r.fetch(ctx, wanted[i], settled(m)) })
	r.missing(in, m)
}

// known reports whether an object was looked for before.
func known(in *modulestatus.Inputs, ref modulestatus.Ref) bool {
	kind := schema.FromAPIVersionAndKind(ref.APIVersion, ref.Kind).GroupKind()
	return slices.ContainsFunc(in.Looked, func(l modulestatus.ListedKind) bool {
		return l.GroupKind == kind && (l.Namespace == "" || l.Namespace == ref.Namespace)
	}) || slices.ContainsFunc(in.Unread, func(u modulestatus.Unread) bool {
		return u.GroupKind == kind && (u.Namespace == "" || u.Namespace == ref.Namespace)
	})
}

func isInteresting(ref modulestatus.Ref) bool {
	o := &unstructured.Unstructured{}
	o.SetAPIVersion(ref.APIVersion)
	o.SetKind(ref.Kind)
	return rootcause.IsWorkload(o) || ref.Kind == "PersistentVolumeClaim"
}

// fetch reads one object, and adds it. expected reports whether it is missing if it is not there.
func (r *reading) fetch(ctx context.Context, ref modulestatus.Ref, expected bool) {
	o := &unstructured.Unstructured{}
	o.SetGroupVersionKind(schema.FromAPIVersionAndKind(ref.APIVersion, ref.Kind))
	err := r.access.Reader.Get(ctx, client.ObjectKey{Namespace: ref.Namespace, Name: ref.Name}, o)
	r.mutex.Lock()
	defer r.mutex.Unlock()
	switch {
	case err == nil:
		r.Objects = append(r.Objects, o)
	case apierrors.IsNotFound(err), meta.IsNoMatchError(err):
		if expected {
			r.Missing = append(r.Missing, ref)
		}
	default:
		kind := schema.FromAPIVersionAndKind(ref.APIVersion, ref.Kind).GroupKind()
		r.unread = append(r.unread, modulestatus.Unread{
			GroupKind: kind, Namespace: ref.Namespace, Forbidden: apierrors.IsForbidden(err), Text: err.Error(),
		})
	}
}

// settled reports whether all objects of a module were applied, so that one that is not there has been deleted.
func settled(m *modulestatus.Module) bool {
	return m.Installation.State == modulestatus.Installed || m.Installation.State == modulestatus.Failed
}

// missing adds the objects that the status model knows to be missing.
func (r *reading) missing(in *modulestatus.Inputs, m *modulestatus.Module) {
	if !settled(m) {
		return
	}
	for _, root := range modulestatus.Tree(*in, m.Name) {
		nodes := root.Children
		if root.Kind == modulestatus.KindModule && m.Kyma == "" {
			nodes = []modulestatus.Node{root}
		} else if (modulestatus.Key{Namespace: root.Namespace, Name: root.Name}).String() != m.Kyma {
			continue
		}
		for i := range nodes {
			for _, n := range nodes[i].Children {
				if n.Reason == modulestatus.WhyMissing {
					ref := modulestatus.Ref{APIVersion: n.APIVersion, Kind: n.Kind, Namespace: n.Namespace, Name: n.Name}
					if !slices.Contains(r.Missing, ref) {
						r.Missing = append(r.Missing, ref)
					}
				}
			}
		}
	}
}

// owned adds what the workloads that are not ready own.
func (r *reading) owned(ctx context.Context) {
	var roots []*unstructured.Unstructured
	for _, o := range r.Objects {
		if rootcause.InTrouble(o) {
			roots = append(roots, o)
		}
	}
	slices.SortFunc(roots, func(a, b *unstructured.Unstructured) int { return cmp.Compare(refTo(a).String(), refTo(b).String()) })
	found := ownedobjects.Below(ctx, r.access.Reader, roots, ownedobjects.Bounds{})
	r.Objects = append(r.Objects, found.Objects...)
	r.Looked = append(r.Looked, found.Looked...)
	r.unread = append(r.unread, found.Unread...)
	if found.Cut {
		r.unseen("", "", "there are more workloads or pods than were looked at")
	}
}

// claims adds the claims of pods that do not start.
func (r *reading) claims(ctx context.Context) {
	var wanted []modulestatus.Ref
	for _, pod := range r.pods() {
		if phase, _, _ := unstructured.NestedString(pod.Object, "status", "phase"); phase != "Pending" {
			continue
		}
		volumes, _, _ := unstructured.NestedSlice(pod.Object, "spec", "volumes")
		for _, v := range volumes {
			volume, _ := v.(map[string]any)
			claimed, _, _ := unstructured.NestedString(volume, "persistentVolumeClaim", "claimName")
			ref := modulestatus.Ref{APIVersion: "v1", Kind: "PersistentVolumeClaim", Namespace: pod.GetNamespace(), Name: claimed}
			if claimed != "" && !slices.Contains(wanted, ref) && !slices.ContainsFunc(r.Objects, func(o *unstructured.Unstructured) bool {
				return refTo(o) == unversioned(ref)
			}) {
				wanted = append(wanted, ref)
			}
		}
	}
	wanted = wanted[:min(len(wanted), mostClaims)]
	r.each(len(wanted), func(i int) { r.fetch(ctx, wanted[i], false) })
}

// pods returns the pods of the evidence, sorted.
func (r *reading) pods() []*unstructured.Unstructured {
	var all []*unstructured.Unstructured
	for _, o := range r.Objects {
		if o.GetKind() == "Pod" && o.GetAPIVersion() == "v1" {
			all = append(all, o)
		}
	}
	slices.SortFunc(all, func(a, b *unstructured.Unstructured) int { return cmp.Compare(refTo(a).String(), refTo(b).String()) })
	return all
}

// unseen adds what could not be read.
func (r *reading) unseen(kind, namespace, text string) {
	u := rootcause.Unread{Kind: kind, Namespace: namespace, Text: text}
	if !slices.Contains(r.Unread, u) {
		r.Unread = append(r.Unread, u)
	}
}

// each calls a function some times, eight at once.
func (*reading) each(n int, do func(int)) {
	slots := make(chan struct{}, 8)
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			do(i)
		})
	}
	all.Wait()
}

// refTo returns a reference to an object, without the version of its kind: an inventory may name another one.
func refTo(o *unstructured.Unstructured) modulestatus.Ref {
	return unversioned(modulestatus.Ref{APIVersion: o.GetAPIVersion(), Kind: o.GetKind(), Namespace: o.GetNamespace(), Name: o.GetName()})
}

func unversioned(ref modulestatus.Ref) modulestatus.Ref {
	ref.APIVersion = schema.FromAPIVersionAndKind(ref.APIVersion, ref.Kind).Group
	return ref
}
