package waitfor

import (
	"context"
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

// Object is an object that is being deleted.
type Object struct {
	Kind schema.GroupVersionKind
	Key  client.ObjectKey
	// UID of the object: a successor of the same name does not count.
	UID types.UID
}

// String names the object for a line.
func (o Object) String() string {
	if o.Key.Namespace == "" {
		return o.Kind.Kind + " " + o.Key.Name
	}
	return o.Kind.Kind + " " + o.Key.String()
}

// AwaitGone watches objects until all of them are gone, and reports the finalizers that hold an object. The error is that of the context or
// of the API server.
func AwaitGone(ctx context.Context, c client.WithWatch, objects []Object, report func(Progress)) error {
	for _, object := range objects {
		if err := awaitOne(ctx, c, object, report); err != nil {
			return fmt.Errorf("wait until %s is gone: %w", object, err)
		}
	}
	return nil
}

// awaitOne watches one object. It uses the stream of Wait, but keeps the object in a variable of its own.
func awaitOne(ctx context.Context, c client.WithWatch, object Object, report func(Progress)) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	events := make(chan event)
	var there client.Object
	s := &stream{
		client: c, events: events,
		list: func() client.ObjectList {
			list := &metav1.PartialObjectMetadataList{}
			list.SetGroupVersionKind(object.Kind.GroupVersion().WithKind(object.Kind.Kind + "List"))
			return list
		},
		options: []client.ListOption{client.InNamespace(object.Key.Namespace), client.MatchingFields{"metadata.name": object.Key.Name}},
		listed: func(_ *seen, list client.ObjectList) {
			there = nil
			if metas, ok := list.(*metav1.PartialObjectMetadataList); ok && len(metas.Items) > 0 {
				there = &metas.Items[0]
			}
		},
		changed: func(_ *seen, changed client.Object, gone bool) {
			there = changed
			if gone {
				there = nil
			}
		},
	}
	failed := make(chan error, 1)
	go func() { failed <- s.run(ctx) }()
	for {
		select {
		case err := <-failed:
			if err == nil {
				err = ctx.Err()
			}
			return client.IgnoreNotFound(err)
		case e := <-events:
			e.apply(nil)
			if there == nil || there.GetUID() != object.UID {
				report(Progress{Key: object.String(), State: StateGone})
				return nil
			}
			report(leaving(object, there))
		}
	}
}

// leaving returns the line of an object that is still there.
func leaving(object Object, there client.Object) Progress {
	line := Progress{Key: object.String(), State: v1beta2.StateDeleting}
	if finalizers := there.GetFinalizers(); len(finalizers) > 0 {
		line.Text = "waits for the finalizers " + strings.Join(finalizers, ", ")
	}
	return line
}
