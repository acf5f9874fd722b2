package treereader

import (
	"context"
	"errors"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// errSpent is the answer to a request beyond the bounds.
var errSpent = errors.New("the bound of requests is reached")

// bounded refuses requests when there were enough of them, or when they returned enough.
type bounded struct {
	client.Reader

	mutex           sync.Mutex
	requests, bytes int
	refused         bool
}

// List implements client.Reader.
func (b *bounded) List(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	if !b.take() {
		return errSpent
	}
	if err := b.Reader.List(ctx, list, options...); err != nil {
		return err
	}
	size := 0
	switch is := list.(type) {
	case *unstructured.UnstructuredList:
		for i := range is.Items {
			size += sizeOf(is.Items[i].Object)
		}
	case *metav1.PartialObjectMetadataList:
		size = len(is.Items) << 10 // about: metadata is small
	}
	b.mutex.Lock()
	defer b.mutex.Unlock()
	b.bytes -= size
	return nil
}

func (b *bounded) take() bool {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	if b.requests <= 0 || b.bytes <= 0 {
		b.refused = true
		return false
	}
	b.requests--
	return true
}

func (b *bounded) left() int {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	return b.requests
}

func (b *bounded) spent() bool {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	return b.refused
}

// sizeOf returns about how many bytes a value takes as JSON.
func sizeOf(value any) int {
	size := 8
	switch v := value.(type) {
	case map[string]any:
		for key, inner := range v {
			size += len(key) + sizeOf(inner)
		}
	case []any:
		for _, inner := range v {
			size += sizeOf(inner)
		}
	case string:
		size += len(v)
	}
	return size
}
