package apply

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"
)

const (
	// pageSize bounds the items in one response to a LIST.
	pageSize = 250
	// maxPages bounds how many responses are read, so that no cluster keeps us busy for ever.
	maxPages = 400
)

// visit lists objects, page by page, until next returns false.
func visit(ctx context.Context, client dynamic.ResourceInterface, next func(*unstructured.Unstructured) bool) error {
	opts := metav1.ListOptions{Limit: pageSize}
	for range maxPages {
		list, err := client.List(ctx, opts)
		if err != nil {
			return err
		}
		for i := range list.Items {
			if !next(&list.Items[i]) {
				return nil
			}
		}
		if opts.Continue = list.GetContinue(); opts.Continue == "" {
			return nil
		}
	}
	return fmt.Errorf("there are more than %d objects to look at", pageSize*maxPages)
}
