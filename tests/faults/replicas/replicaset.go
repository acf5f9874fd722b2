package replicas

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/manager/sharding/assignment"
	"github.com/kyma-project/lifecycle-manager/tests/bench/meter"
	"github.com/kyma-project/lifecycle-manager/tests/faults/proxy"
	"github.com/kyma-project/lifecycle-manager/tests/faults/rig"
)

const (
	// full is the number of replicas when nothing is wrong.
	full = 3
	// settles is how long it may take until the shares are even, beyond the lease; longer where a Lab has more patience.
	settles = 30 * time.Second
	poll    = 20 * time.Millisecond
)

// replica is one of the set.
type replica struct {
	*rig.Manager

	metrics string
}

// replicaSet holds the replicas that share the work by the same Terms.
type replicaSet struct {
	rig    *rig.Rig
	terms  Terms
	within time.Duration // bounds the wait for even shares
	all    []*replica
	table  *assignmentLog
	remove func()

	mutex sync.Mutex
	names map[string]string // by token: a replica has another name after every start
}

// newFleet creates the replicas, and starts none. within is how long it may take until the shares are even, beyond the lease.
func newFleet(ctx context.Context, r *rig.Rig, terms Terms, within time.Duration) (*replicaSet, error) {
	f := &replicaSet{rig: r, terms: terms, within: terms.Lease + within, names: map[string]string{}}
	for range full {
		address, err := rig.FreeAddress(ctx)
		if err != nil {
			return nil, err
		}
		manager, err := r.NewManager(append(terms.flags(), "--metrics-bind-address="+address)...)
		if err != nil {
			return nil, err
		}
		f.all = append(f.all, &replica{Manager: manager, metrics: "http://" + address + "/metrics"})
	}
	f.table = follow(ctx, r.Hub.Client)
	f.remove = r.Hub.Proxy.Use("names of replicas", f.listen)
	return f, nil
}

// listen learns the name of each replica from its heartbeats.
func (f *replicaSet) listen(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		call := proxy.CallOf(r.Context())
		if call.Resource == "leases" && strings.HasPrefix(call.Name, heartbeats) && (call.Verb == "create" || call.Verb == "update") {
			token, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
			f.mutex.Lock()
			f.names[token] = call.Name
			f.mutex.Unlock()
		}
		next.ServeHTTP(w, r)
	})
}

// name returns the present name of a replica, "" before its first heartbeat.
func (f *replicaSet) name(r *replica) string {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	return f.names[r.Token]
}

func (f *replicaSet) forget(r *replica) {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	delete(f.names, r.Token)
}

// start starts a replica that does not run.
func (f *replicaSet) start(r *replica) error {
	f.forget(r)
	return r.Start()
}

// scale runs so many replicas, and waits until they share the work evenly.
func (f *replicaSet) scale(ctx context.Context, count int) error {
	for i, r := range f.all {
		var err error
		switch {
		case i < count && !r.Running():
			err = f.start(r)
		case i >= count && r.Running():
			err = r.Stop()
		}
		if err != nil {
			return err
		}
	}
	return f.even(ctx, f.all[:count]...)
}

// even waits until exactly these replicas share the work evenly, and nothing is about to move.
func (f *replicaSet) even(ctx context.Context, replicas ...*replica) error {
	var last error
	err := wait.PollUntilContextTimeout(ctx, poll, f.within, true, func(context.Context) (bool, error) {
		last = f.uneven(replicas)
		return last == nil, nil
	})
	if err != nil {
		return errors.Join(err, last)
	}
	return nil
}

func (f *replicaSet) uneven(replicas []*replica) error {
	counts, moving := shares(f.table.now())
	for _, r := range replicas {
		least := assignment.Buckets / len(replicas)
		if n := counts[f.name(r)]; n < least || n > least+1 {
			return fmt.Errorf("%s (%s) has %d buckets, and there are %d replicas: %v", r.Name, f.name(r), n, len(replicas), counts)
		}
	}
	if moving || len(counts) != len(replicas) {
		return fmt.Errorf("buckets are about to move, or others have some: %v", counts)
	}
	return nil
}

// called returns the replica with that name.
func (f *replicaSet) called(name string) (*replica, error) {
	for _, r := range f.all {
		if name != "" && f.name(r) == name && r.Running() {
			return r, nil
		}
	}
	return nil, fmt.Errorf("no replica is called %q", name)
}

// owner returns the replica that owns a bucket.
func (f *replicaSet) owner(bucket int) (*replica, error) {
	return f.called(f.table.now()[bucket].Owner)
}

// head returns the replica that assigns the work.
func (f *replicaSet) head(ctx context.Context) (*replica, error) {
	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: v1beta2.DefaultNamespace, Name: throneLease}}
	if err := f.rig.Hub.Client.Get(ctx, client.ObjectKeyFromObject(lease), lease); err != nil {
		return nil, err
	}
	if lease.Spec.HolderIdentity == nil {
		return nil, errors.New("no one assigns the work")
	}
	return f.called(*lease.Spec.HolderIdentity)
}

// others returns the running replicas except one.
func (f *replicaSet) others(than *replica) []*replica {
	return slices.DeleteFunc(slices.Clone(f.all), func(r *replica) bool { return r == than || !r.Running() })
}

// fenced returns how many writes of each running replica were refused since its start, by reason.
func (f *replicaSet) fenced(ctx context.Context) (map[*replica]map[string]float64, error) {
	all := map[*replica]map[string]float64{}
	for _, r := range f.others(nil) {
		said, err := meter.Scrape(ctx, r.metrics)
		if err != nil {
			return nil, err
		}
		all[r] = said.By("lifecycle_mgr_fenced_writes_total", "reason")
	}
	return all, nil
}

// tails returns the last lines of all logs.
func (f *replicaSet) tails(lines int) string {
	var text []string
	for _, r := range f.all {
		text = append(text, r.Name+" ("+f.name(r)+"):\n"+strings.Join(r.Log.Tail(lines), "\n"))
	}
	return strings.Join(text, "\n")
}

// end ends all replicas and the goroutines that follow them.
func (f *replicaSet) end() error {
	var err error
	for _, r := range f.all {
		err = errors.Join(err, r.Stop())
	}
	f.remove()
	f.table.stop()
	<-f.table.ended
	return err
}
