package setup

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	client "k8s.io/client-go/kubernetes/typed/coordination/v1"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/kyma-project/lifecycle-manager/internal/manager/clustercache"
	"github.com/kyma-project/lifecycle-manager/internal/manager/metrics"
	"github.com/kyma-project/lifecycle-manager/internal/manager/sharding"
)

// drain is how long a pass that is under way may continue after another replica was to get what it works on.
const drain = 10 * time.Second

// sharing is how the replicas share the Kymas. Without a member this one has all of them.
type sharing struct {
	member *sharding.Member
	fenced *metrics.Shards
	view   view
}

// newSharing makes this replica a member of those that share, if they do.
func newSharing(hub *rest.Config, c *Config, log logr.Logger, hooks Hooks, registry prometheus.Registerer) (*sharing, error) {
	s := &sharing{}
	if c.LeaderElection {
		leases, err := newLeases(hub, c, hooks)
		if err != nil {
			return nil, fmt.Errorf("share the work with other replicas: %w", err)
		}
		host, err := os.Hostname()
		if err != nil {
			return nil, fmt.Errorf("share the work with other replicas under the name of this host: %w", err)
		}
		s.member = sharding.New(sharding.Config{
			Store: leases, Host: host, Timing: leases.Timing, Drain: drain, Fresh: s.view.fresh, Log: log,
		})
	}
	var err error
	s.fenced, err = metrics.NewShards(registry, s.owned)
	return s, err
}

// newLeases reaches the Leases by connections of their own, which a request that is not answered ends: what shares a connection with a
// thousand watches waits for them.
func newLeases(hub *rest.Config, c *Config, hooks Hooks) (*sharding.Leases, error) {
	config := rest.CopyConfig(hub)
	config.QPS = -1
	config.Timeout = c.RenewDeadline / 2
	config.Dial = (&net.Dialer{Timeout: c.RenewDeadline / 2}).DialContext
	config.NextProtos = []string{"http/1.1"}
	if hooks.WrapHub != nil {
		config.Wrap(hooks.WrapHub)
	}
	leases, err := client.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	return &sharding.Leases{
		Client: leases.Leases(c.OperatorNamespace), LeaderLease: leaseName, Now: time.Now,
		Timing: sharding.Timing{Lease: c.LeaseDuration, Renew: c.RenewDeadline, Retry: c.RetryPeriod},
	}, nil
}

func (s *sharing) owned() int {
	if s.member == nil {
		return sharding.Buckets
	}
	return s.member.Owned()
}

// owner returns what is this replica's, and moves when that changes: never, when it is alone.
func (s *sharing) owner() sharding.Owner {
	if s.member == nil {
		return sharding.All{}
	}
	return s.member
}

func (s *sharing) moves() sharding.OwnershipChanges {
	if s.member == nil {
		return nil
	}
	return s.member
}

// fence is put around every transport by which something is changed; nil when there is no other writer.
func (s *sharing) fence() func(http.RoundTripper) http.RoundTripper {
	if s.member == nil {
		return nil
	}
	return func(next http.RoundTripper) http.RoundTripper {
		return &sharding.Fence{Next: next, Refused: s.fenced.Fenced}
	}
}

// around runs the manager, and takes part in the sharing from when the caches are filled until the last pass has ended.
func (s *sharing) around(ctx context.Context, mgr ctrl.Manager, runtimes *clustercache.Clusters) error {
	if s.member == nil {
		return mgr.Start(ctx)
	}
	sharing, end := context.WithCancel(context.WithoutCancel(ctx))
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		select {
		case <-mgr.Elected(): // there is no election: this means that the controllers have started
		case <-sharing.Done():
			return
		}
		go s.member.Each(sharing, func(moved sharding.OwnershipChange) {
			runtimes.CloseWhere(func(namespace, name string) bool { return moved.Lost[sharding.Bucket(namespace, name)] })
		})
		s.member.Run(sharing)
	}()
	err := mgr.Start(ctx)
	end()
	<-ended
	return err
}
