package clustercache

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/transport"

	"github.com/kyma-project/lifecycle-manager/pkg/apply"
)

// keptAccounts bounds the clients that are kept for ServiceAccounts. One that is made again, or twice, costs no call.
const keptAccounts = 64

// As returns the runtime as a ServiceAccount of it may read and write it; for an empty name, as the connection itself. Each of its calls
// names the account, over the same connection and within the same limits. What the runtime serves is told alike to every account, and so
// is what the streams show, which remain the connection's own.
func (r *Runtime) As(account types.NamespacedName) (*apply.Cluster, error) {
	if account == (types.NamespacedName{}) {
		return r.cluster, nil
	}
	if known, ok := r.accounts.Get(account); ok {
		cluster, _ := known.(*apply.Cluster)
		return cluster, nil
	}
	calls := r.conn.client()
	calls.Transport = transport.NewImpersonatingRoundTripper(
		transport.ImpersonationConfig{UserName: "system:serviceaccount:" + account.Namespace + ":" + account.Name}, r.conn.calls)
	client, err := dynamic.NewForConfigAndClient(&rest.Config{
		Host: r.conn.base.String(), RateLimiter: r.conn.limiter, WarningHandler: rest.NoWarnings{},
	}, calls)
	if err != nil {
		return nil, fmt.Errorf("act as ServiceAccount %s: %w", account, err)
	}
	cluster := *r.cluster
	cluster.Dynamic = client
	cluster.Resource = func(ctx context.Context, gvk schema.GroupVersionKind) (apply.Resource, error) {
		resource, err := r.served.find(ctx, gvk)
		resource.ByName = true
		return resource, err
	}
	r.accounts.Add(account, &cluster)
	return &cluster, nil
}
