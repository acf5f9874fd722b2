package hubcontent

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// pageSize is how many objects one request lists: a hub may have tens of thousands.
const pageSize = 500

// listTries is how often a list begins anew whose pages the API server forgot meanwhile.
const listTries = 3

// listAll reads all objects of a kind in some namespaces, or in all of them, page by page. A part is never taken for all.
func listAll(
	ctx context.Context, from client.Reader, kind schema.GroupVersionKind, namespaces []string, options ...client.ListOption,
) ([]*unstructured.Unstructured, error) {
	if len(namespaces) == 0 {
		namespaces = []string{""}
	}
	var all []*unstructured.Unstructured
	for _, namespace := range namespaces {
		found, err := listPages(ctx, from, kind, append([]client.ListOption{client.InNamespace(namespace)}, options...))
		for try := 1; apierrors.IsResourceExpired(err) && try < listTries; try++ {
			found, err = listPages(ctx, from, kind, append([]client.ListOption{client.InNamespace(namespace)}, options...))
		}
		if err != nil {
			return nil, fmt.Errorf("list the %ss %s: %w", kind.Kind, where(namespace), err)
		}
		all = append(all, found...)
	}
	return all, nil
}

func where(namespace string) string {
	if namespace == "" {
		return "of all namespaces"
	}
	return "of namespace " + namespace
}

func listPages(
	ctx context.Context, from client.Reader, kind schema.GroupVersionKind, options []client.ListOption,
) ([]*unstructured.Unstructured, error) {
	var all []*unstructured.Unstructured
	for next := ""; ; {
		list := &unstructured.UnstructuredList{}
		list.SetGroupVersionKind(kind)
		page := append([]client.ListOption{client.Limit(pageSize), client.Continue(next)}, options...)
		if err := from.List(ctx, list, page...); err != nil {
			return nil, err
		}
		for i := range list.Items {
			all = append(all, &list.Items[i])
		}
		if next = list.GetContinue(); next == "" {
			return all, nil
		}
	}
}

// getOne reads an object; nil when there is none.
func getOne(
	ctx context.Context, from client.Reader, kind schema.GroupVersionKind, key client.ObjectKey,
) (*unstructured.Unstructured, error) {
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(kind)
	switch err := from.Get(ctx, key, object); {
	case apierrors.IsNotFound(err):
		return nil, nil //nolint:nilnil // there is none
	case err != nil:
		return nil, fmt.Errorf("read %s: %w", ID{kind.Kind, key.Namespace, key.Name}, err)
	}
	return object, nil
}
