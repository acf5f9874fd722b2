package operations

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kyma-project/lifecycle-manager/internal/client/modulestatus"
)

// made returns the objects that users made with a module of a Kyma, as far as they are visible in the cluster of its modules.
func (s *hubContext) made(ctx context.Context, c *cluster, name string) ([]Blocking, []modulestatus.Unread) {
	objects, unread := s.Users(ctx, c, name)
	var found []Blocking
	for i := range objects {
		found = append(found, blockingOf(&objects[i]))
	}
	return found, unread
}

func blockingOf(object *metav1.PartialObjectMetadata) Blocking {
	b := Blocking{
		Ref: modulestatus.Ref{APIVersion: object.APIVersion, Kind: object.Kind, Namespace: object.Namespace, Name: object.Name},
		UID: object.UID, Deleting: object.DeletionTimestamp != nil, Finalizers: object.Finalizers,
	}
	if b.Finalizers == nil {
		b.Finalizers = []string{}
	}
	return b
}

// refs returns the references of objects.
func refs(blocking []Blocking) []modulestatus.Ref {
	all := make([]modulestatus.Ref, 0, len(blocking))
	for i := range blocking {
		all = append(all, blocking[i].Ref)
	}
	return all
}

// notShown returns the objects that a preview did not show: they are newer, or others of the same name.
func notShown(blocking []Blocking, shown []PreviewedObject) []Blocking {
	type key struct {
		kind      schema.GroupKind
		namespace string
		name, uid string
	}
	keyOf := func(ref modulestatus.Ref, uid string) key {
		return key{schema.FromAPIVersionAndKind(ref.APIVersion, ref.Kind).GroupKind(), ref.Namespace, ref.Name, uid}
	}
	known := map[key]bool{}
	for _, one := range shown {
		known[keyOf(one.Ref, string(one.UID))] = true
	}
	var left []Blocking
	for _, b := range blocking {
		if !known[keyOf(b.Ref, string(b.UID))] {
			left = append(left, b)
		}
	}
	return left
}
