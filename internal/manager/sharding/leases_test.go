package sharding

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	client "k8s.io/client-go/kubernetes/typed/coordination/v1"

	"github.com/kyma-project/lifecycle-manager/internal/manager/sharding/assignment"
	"github.com/kyma-project/lifecycle-manager/tests/testkit/apiserver"
)

func TestMain(m *testing.M) { apiserver.Main(m) }

const throneLease = "893110f7.kyma-project.io"

// leases returns a Store in a namespace of its own.
func leases(t *testing.T, namespace string, terms Timing) *Leases {
	t.Helper()
	apiserver.Need(t)
	config, err := apiserver.Start()
	if err != nil {
		t.Fatal(err)
	}
	coordination, err := client.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	return &Leases{Client: coordination.Leases(namespace), LeaderLease: throneLease, Timing: terms, Now: time.Now}
}

func TestLeases_WriteOnlyAtTheVersionThatWasRead(t *testing.T) {
	ctx, store := context.Background(), leases(t, "default", realTerms)
	const name = replicaPrefix + "one-1"
	first, err := store.RenewHeartbeat(ctx, name, "")
	if err != nil {
		t.Fatal(err)
	}
	second, err := store.RenewHeartbeat(ctx, name, first)
	if err != nil || second == first {
		t.Fatalf("renewed to %s with %v", second, err)
	}
	table := assignment.Plan(assignment.Assignment{}, map[string]assignment.ReplicaState{name: assignment.Taking})
	for what, err := range map[string]error{
		"a heartbeat that exists is not made":        second2(store.RenewHeartbeat(ctx, name, "")),
		"an older heartbeat is not renewed":          second2(store.RenewHeartbeat(ctx, name, first)),
		"a heartbeat that was renewed is not buried": store.DeleteHeartbeat(ctx, name, first),
		"a throne that is empty is not renewed":      store.AcquireLeadership(ctx, name, first),
		"a table that does not exist is not changed": store.Write(ctx, table, first),
		"one of another time is not renewed":         second2(store.RenewHeartbeat(ctx, name, "other/"+strings.Split(second, "/")[1])),
	} {
		if !errors.Is(err, ErrChanged) {
			t.Errorf("%s: got %v", what, err)
		}
	}
	for what, err := range map[string]error{"throne": store.AcquireLeadership(ctx, name, ""), "table": store.Write(ctx, table, "")} {
		if err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	seen, err := store.Snapshot(ctx)
	if err != nil || seen.Table != table || seen.Heartbeats[name] != second || seen.Leader.Holder != name || seen.Leader.Foreign {
		t.Errorf("seen %+v, %v", seen, err)
	}
	for what, err := range map[string]error{
		"throne": store.AcquireLeadership(ctx, "", seen.Leader.Version), "grave": store.DeleteHeartbeat(ctx, name, second),
		"table": store.Write(ctx, assignment.Assignment{}, seen.Version),
	} {
		if err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	if seen, err := store.Snapshot(ctx); err != nil || len(seen.Heartbeats) > 0 || seen.Leader.Holder != "" || seen.Table != (assignment.Assignment{}) {
		t.Errorf("at the end there is %+v, %v", seen, err)
	}
}

func second2(_ string, err error) error { return err }

func TestMember_WaitsForForeignManager(t *testing.T) {
	ctx, terms := context.Background(), Timing{Lease: 5 * time.Second, Renew: 4 * time.Second, Retry: 100 * time.Millisecond}
	store := leases(t, "kube-public", terms)
	foreign := "old-manager_4711"
	held, err := store.Client.Create(ctx, &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{Name: throneLease},
		Spec:       coordinationv1.LeaseSpec{HolderIdentity: &foreign, LeaseDurationSeconds: new(int32(60))},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	running, stop := context.WithCancel(ctx)
	m := New(Config{Store: store, Host: "Some.Host", Timing: terms, Drain: time.Second, Log: logr.Discard()})
	over := make(chan struct{})
	go func() {
		defer close(over)
		m.Run(running)
	}()
	until(t, func() bool { seen, err := store.Snapshot(ctx); return err == nil && len(seen.Heartbeats) == 1 })
	pause := time.NewTimer(terms.Lease + terms.Renew)
	<-pause.C
	if owned := m.Owned(); owned != 0 {
		t.Errorf("it works on %d buckets beside a manager that knows nothing of shares", owned)
	}
	held.Spec.HolderIdentity = new("")
	if _, err := store.Client.Update(ctx, held, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	until(t, func() bool { return m.Owned() == Buckets })
	if !strings.HasPrefix(m.Name(), "klm-replica-some-host-") {
		t.Errorf("its name is %s", m.Name())
	}
	stop()
	<-over
	if seen, err := store.Snapshot(ctx); err != nil || len(seen.Heartbeats) > 0 || seen.Leader.Holder != "" || len(seen.Table.Names()) > 0 {
		t.Errorf("after its end there is %+v, %v", seen, err)
	}
}

func until(t *testing.T, holds func() bool) {
	t.Helper()
	limit, tick := time.NewTimer(time.Minute), time.NewTicker(20*time.Millisecond)
	defer tick.Stop()
	for !holds() {
		select {
		case <-tick.C:
		case <-limit.C:
			t.Fatal("it did not come about within a minute")
		}
	}
}

func TestLeases_ReportUnreadableTable(t *testing.T) {
	ctx, store := context.Background(), leases(t, "kube-node-lease", realTerms)
	_, err := store.Client.Create(ctx, &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{Name: tableLease, Annotations: map[string]string{tableAnnotation: "{"}},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := store.Snapshot(ctx); err == nil || !strings.Contains(err.Error(), tableLease) {
		t.Errorf("got %v", err)
	}
}
