package ownedobjects

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/internal/client/modulestatus"
)

// Bounds limit what is read. Zero means the default.
type Bounds struct {
	// Roots is how many objects are looked below.
	Roots int
	// Objects is how many objects one request returns.
	Objects int64
	// Jobs is how many of the Jobs of a CronJob are looked below, the last ones.
	Jobs int
}

// The defaults of Bounds.
const (
	DefaultRoots   = 5
	DefaultObjects = 100
	DefaultJobs    = 1
)

// MostRequests is how many requests Below sends for a root with the default bounds.
const MostRequests = 2

// Found is what was found below some objects.
type Found struct {
	// Objects are owned by the roots or by other objects here.
	Objects []*unstructured.Unstructured
	// Looked are the kinds of which all objects were listed, and Unread those of which none were.
	Looked []modulestatus.ListedKind
	Unread []modulestatus.Unread
	// Cut reports whether there may be more objects than were read.
	Cut bool
}

var (
	replicaSets = schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "ReplicaSet"}
	jobs        = schema.GroupVersionKind{Group: "batch", Version: "v1", Kind: "Job"}
	pods        = schema.GroupVersionKind{Version: "v1", Kind: "Pod"}
)

// children are the kinds of objects that the controllers of Kubernetes create for a kind, those that carry its selector's labels.
var children = map[schema.GroupKind][]schema.GroupVersionKind{
	{Group: "apps", Kind: "Deployment"}:  {replicaSets, pods},
	{Group: "apps", Kind: "ReplicaSet"}:  {pods},
	{Group: "apps", Kind: "StatefulSet"}: {pods},
	{Group: "apps", Kind: "DaemonSet"}:   {pods},
	{Group: "batch", Kind: "Job"}:        {pods},
	{Group: "batch", Kind: "CronJob"}:    {jobs},
}

// Below returns what some objects own, one list request for each kind and root, and for each of the last Jobs of a CronJob.
func Below(ctx context.Context, from client.Reader, roots []*unstructured.Unstructured, within Bounds) Found {
	within.Roots, within.Objects = cmp.Or(within.Roots, DefaultRoots), cmp.Or(within.Objects, DefaultObjects)
	within.Jobs = cmp.Or(within.Jobs, DefaultJobs)
	s := &search{reader: from, within: within, owners: map[types.UID]bool{}}
	for _, root := range roots {
		if len(children[root.GroupVersionKind().GroupKind()]) == 0 || root.GetUID() == "" {
			continue
		}
		if within.Roots--; within.Roots < 0 {
			s.found.Cut = true
			break
		}
		s.below(ctx, root)
	}
	return s.found
}

// search is one call of Below.
type search struct {
	reader client.Reader
	within Bounds
	owners map[types.UID]bool
	found  Found
}

// below reads what one object owns.
func (s *search) below(ctx context.Context, root *unstructured.Unstructured) {
	s.owners[root.GetUID()] = true
	for _, kind := range children[root.GroupVersionKind().GroupKind()] {
		owned := s.list(ctx, kind, root)
		if kind != jobs {
			continue
		}
		slices.SortFunc(owned, func(a, b *unstructured.Unstructured) int { // the newest first; the names of Jobs count up
			at, bt := a.GetCreationTimestamp(), b.GetCreationTimestamp()
			return cmp.Or(bt.Compare(at.Time), cmp.Compare(b.GetName(), a.GetName()))
		})
		for _, job := range owned[:min(len(owned), s.within.Jobs)] {
			s.below(ctx, job)
		}
	}
}

// list reads the objects of a kind that something known owns, in the namespace of a root.
func (s *search) list(ctx context.Context, kind schema.GroupVersionKind, root *unstructured.Unstructured) []*unstructured.Unstructured {
	var list unstructured.UnstructuredList
	list.SetGroupVersionKind(kind.GroupVersion().WithKind(kind.Kind + "List"))
	options := []client.ListOption{client.InNamespace(root.GetNamespace()), client.Limit(s.within.Objects)}
	if selector := selectorOf(root); selector != nil {
		options = append(options, client.MatchingLabelsSelector{Selector: selector})
	}
	if err := s.reader.List(ctx, &list, options...); err != nil {
		s.unread(kind.GroupKind(), root.GetNamespace(), err)
		return nil
	}
	whole := list.GetContinue() == "" && int64(len(list.Items)) <= s.within.Objects
	list.Items = list.Items[:min(len(list.Items), int(s.within.Objects))] // a server may ignore the limit
	if whole {
		s.found.Looked = append(s.found.Looked, modulestatus.ListedKind{GroupKind: kind.GroupKind(), Namespace: root.GetNamespace()})
	}
	s.found.Cut = s.found.Cut || !whole
	var owned []*unstructured.Unstructured
	for i := range list.Items {
		o := &list.Items[i]
		owns := func(of metav1.OwnerReference) bool { return s.owners[of.UID] || s.isOf(root, of) }
		if o.GetUID() != "" && !s.owners[o.GetUID()] && slices.ContainsFunc(o.GetOwnerReferences(), owns) {
			s.owners[o.GetUID()] = true
			owned = append(owned, o)
		}
	}
	s.found.Objects = append(s.found.Objects, owned...)
	return owned
}

// isOf reports whether an owner is a ReplicaSet of a Deployment, by its name: where the user may list pods and no ReplicaSets.
func (s *search) isOf(root *unstructured.Unstructured, owner metav1.OwnerReference) bool {
	unread := slices.ContainsFunc(s.found.Unread, func(u modulestatus.Unread) bool {
		return u.GroupKind == replicaSets.GroupKind() && u.Namespace == root.GetNamespace()
	})
	return unread && owner.Kind == replicaSets.Kind && root.GetKind() == "Deployment" && strings.HasPrefix(owner.Name, root.GetName()+"-")
}

// unread records that a kind could not be read, once for each namespace. A kind that the cluster does not serve has no objects.
func (s *search) unread(kind schema.GroupKind, namespace string, err error) {
	if meta.IsNoMatchError(err) || apierrors.IsNotFound(err) {
		s.found.Looked = append(s.found.Looked, modulestatus.ListedKind{GroupKind: kind, Namespace: namespace})
		return
	}
	u := modulestatus.Unread{GroupKind: kind, Namespace: namespace, Forbidden: apierrors.IsForbidden(err), Text: text(err)}
	if !slices.Contains(s.found.Unread, u) {
		s.found.Unread = append(s.found.Unread, u)
	}
}

// text returns the message of an API server, without the status around it.
func text(err error) string {
	var refused apierrors.APIStatus
	if errors.As(err, &refused) && refused.Status().Reason != metav1.StatusReasonUnknown {
		return refused.Status().Message
	}
	return err.Error()
}

// selectorOf returns the selector of a workload, nil if it has none that limits anything.
func selectorOf(workload *unstructured.Unstructured) labels.Selector {
	fields, _, err := unstructured.NestedMap(workload.Object, "spec", "selector")
	if err != nil || len(fields) == 0 {
		return nil
	}
	var selector metav1.LabelSelector
	if runtime.DefaultUnstructuredConverter.FromUnstructured(fields, &selector) != nil {
		return nil
	}
	made, err := metav1.LabelSelectorAsSelector(&selector)
	if err != nil || made.Empty() {
		return nil
	}
	return made
}
