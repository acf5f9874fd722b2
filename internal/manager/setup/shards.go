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

// drain is how long a pass in progress may continue after its object was assigned to another replica.
const drain = 10 * time.Second

// sharing distributes the Kymas among the replicas. Without a member, this replica has all of them.
type sharing struct {
	member *sharding.Member
	fenced *metrics.Shards
	view   view
}

// newSharing makes this replica a member of those that share the Kymas, if they are shared.
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

// newLeases returns a client for the Leases with its own connections, which a request without an answer closes: a request that shares a
// connection with a thousand watches would have to wait for them.
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

// owner returns which objects belong to this replica, and moves reports changes of that: none when it is the only replica.
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

// fence returns a wrapper for every transport that makes changes; nil when there is no other writer.
func (s *sharing) fence() func(http.RoundTripper) http.RoundTripper {
	if s.member == nil {
		return nil
	}
	return func(next http.RoundTripper) http.RoundTripper {
		return &sharding.Fence{Next: next, Refused: s.fenced.Fenced}
	}
}

// around runs the manager, and takes part in the sharing from the time the caches are filled until the last pass has ended.
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
