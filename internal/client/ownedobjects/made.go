package ownedobjects

import (
	"cmp"
	"context"
	"slices"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/internal/client/modulestatus"
)

// Place is a kind in a namespace; an empty namespace means all of the cluster.
type Place struct {
	Kind      schema.GroupVersionKind
	Namespace string
	// Metadata reads only the metadata of the objects: of those with secret or long content.
	Metadata bool
}

// listedPlace is the result of one list request.
type listedPlace struct {
	objects []*unstructured.Unstructured
	cut     bool
	err     error
}

// atOnce is how many list requests Made sends at once.
const atOnce = 6

// Made returns the objects that some owners own, directly or through each other, among the objects of some places: one list request for
// each. What an object owns is decided by the UIDs of its owner references, never by names or labels.
func Made(ctx context.Context, from client.Reader, owners []*unstructured.Unstructured, places []Place, most int64) Found {
	lists := listAll(ctx, from, places, cmp.Or(most, DefaultObjects))
	s := &search{owners: map[types.UID]bool{}}
	for _, o := range owners {
		if o.GetUID() != "" {
			s.owners[o.GetUID()] = true
		}
	}
	var candidates []*unstructured.Unstructured
	for i, list := range lists {
		at := &places[i]
		switch {
		case list.err != nil:
			s.unread(at.Kind.GroupKind(), at.Namespace, list.err)
		case list.cut:
			s.found.Cut = true
		default:
			s.found.Looked = append(s.found.Looked, modulestatus.ListedKind{GroupKind: at.Kind.GroupKind(), Namespace: at.Namespace})
		}
		candidates = append(candidates, list.objects...)
	}
	s.found.Objects = s.owned(candidates)
	return s.found
}

// owned returns the candidates that are owned, until no more are found: an owner may be listed after what it owns.
func (s *search) owned(candidates []*unstructured.Unstructured) []*unstructured.Unstructured {
	var found []*unstructured.Unstructured
	for grown := true; grown; {
		grown = false
		candidates = slices.DeleteFunc(candidates, func(o *unstructured.Unstructured) bool {
			if o.GetUID() == "" || s.owners[o.GetUID()] {
				return true
			}
			if !slices.ContainsFunc(o.GetOwnerReferences(), func(of metav1.OwnerReference) bool { return s.owners[of.UID] }) {
				return false
			}
			s.owners[o.GetUID()], grown = true, true
			found = append(found, o)
			return true
		})
	}
	return found
}

// listAll lists all places, some at once.
func listAll(ctx context.Context, from client.Reader, places []Place, most int64) []listedPlace {
	lists := make([]listedPlace, len(places))
	slots := make(chan struct{}, atOnce)
	var all sync.WaitGroup
	for i := range places {
		slots <- struct{}{}
		all.Go(func() {
			defer func() { <-slots }()
			lists[i] = listAt(ctx, from, places[i], most)
		})
	}
	all.Wait()
	return lists
}

// listAt lists the objects of one place. A kind that the cluster does not serve has none.
func listAt(ctx context.Context, from client.Reader, at Place, most int64) listedPlace {
	options := []client.ListOption{client.InNamespace(at.Namespace), client.Limit(most)}
	kind := at.Kind.GroupVersion().WithKind(at.Kind.Kind + "List")
	var made listedPlace
	var next string
	if at.Metadata {
		list := &metav1.PartialObjectMetadataList{}
		list.SetGroupVersionKind(kind)
		made.err = from.List(ctx, list, options...)
		next = list.Continue
		for i := range list.Items {
			made.objects = append(made.objects, withMetadata(at.Kind, &list.Items[i]))
		}
	} else {
		list := &unstructured.UnstructuredList{}
		list.SetGroupVersionKind(kind)
		made.err = from.List(ctx, list, options...)
		next = list.GetContinue()
		for i := range list.Items {
			made.objects = append(made.objects, &list.Items[i])
		}
	}
	if meta.IsNoMatchError(made.err) || apierrors.IsNotFound(made.err) {
		return listedPlace{}
	}
	made.cut = next != "" || int64(len(made.objects)) > most
	made.objects = made.objects[:min(len(made.objects), int(most))] // a server may ignore the limit
	return made
}

// withMetadata returns an object of which only the metadata is known.
func withMetadata(kind schema.GroupVersionKind, of *metav1.PartialObjectMetadata) *unstructured.Unstructured {
	o := &unstructured.Unstructured{Object: map[string]any{}}
	if fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&of.ObjectMeta); err == nil {
		o.Object["metadata"] = fields
	}
	o.SetGroupVersionKind(kind)
	return o
}
