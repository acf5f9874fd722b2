package ownedobjects

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// mostAbove bounds how many owners are followed.
const mostAbove = 5

// Above returns the owners of an object, the nearest first: its controller, or its only owner, and so on. An owner that is gone or that is
// another object of the same name ends it. With an error, it returns those that were found before.
func Above(ctx context.Context, from client.Reader, object *unstructured.Unstructured) ([]*unstructured.Unstructured, error) {
	var owners []*unstructured.Unstructured
	for range mostAbove {
		of := ownerOf(object)
		if of == nil {
			break
		}
		owner := &unstructured.Unstructured{}
		owner.SetAPIVersion(of.APIVersion)
		owner.SetKind(of.Kind)
		if err := from.Get(ctx, client.ObjectKey{Namespace: object.GetNamespace(), Name: of.Name}, owner); err != nil {
			return owners, client.IgnoreNotFound(err)
		}
		if owner.GetUID() != of.UID {
			break
		}
		owners = append(owners, owner)
		object = owner
	}
	return owners, nil
}

// ownerOf returns the controller of an object, or its only owner.
func ownerOf(object *unstructured.Unstructured) *metav1.OwnerReference {
	if controller := metav1.GetControllerOf(object); controller != nil {
		return controller
	}
	if all := object.GetOwnerReferences(); len(all) == 1 {
		return &all[0]
	}
	return nil
}
