package meter

import (
	"context"
	"fmt"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

// Revision returns the revision of the store behind a real API server. Each write that changed something raised it by one, from any client:
// the server itself writes a Lease every ten seconds and a compaction mark every five minutes.
func Revision(ctx context.Context, config *rest.Config) (int64, error) {
	clients, err := kubernetes.NewForConfig(config)
	if err != nil {
		return 0, err
	}
	list, err := clients.CoreV1().Namespaces().List(ctx, metav1.ListOptions{Limit: 1})
	if err != nil {
		return 0, fmt.Errorf("cannot ask %s for its revision: %w", config.Host, err)
	}
	return strconv.ParseInt(list.ResourceVersion, 10, 64)
}
