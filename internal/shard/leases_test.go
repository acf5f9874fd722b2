package shard

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

	"github.com/kyma-project/lifecycle-manager/internal/shard/allot"
	"github.com/kyma-project/lifecycle-manager/tests/testkit/apiserver"
)

func TestMain(m *testing.M) { apiserver.Main(m) }

const throneLease = "893110f7.kyma-project.io"

// leases is a Store in a namespace of its own.
func leases(t *testing.T, namespace string, terms Terms) *Leases {
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
	return &Leases{Client: coordination.Leases(namespace), Throne: throneLease, Terms: terms, Now: time.Now}
}

func TestLeasesAreWrittenOnlyAtTheVersionThatWasSeen(t *testing.T) {
	ctx, store := context.Background(), leases(t, "default", realTerms)
	const name = replicaPrefix + "one-1"
	first, err := store.Beat(ctx, name, "")
	if err != nil {
		t.Fatal(err)
	}
	second, err := store.Beat(ctx, name, first)
	if err != nil || second == first {
		t.Fatalf("renewed to %s with %v", second, err)
	}
	table := allot.Plan(allot.Table{}, map[string]allot.Standing{name: allot.Taking})
	for what, err := range map[string]error{
		"a heartbeat that exists is not made":        second2(store.Beat(ctx, name, "")),
		"an older heartbeat is not renewed":          second2(store.Beat(ctx, name, first)),
		"a heartbeat that was renewed is not buried": store.Bury(ctx, name, first),
		"a throne that is empty is not renewed":      store.Reign(ctx, name, first),
		"a table that does not exist is not changed": store.Write(ctx, table, first),
		"one of another time is not renewed":         second2(store.Beat(ctx, name, "other/"+strings.Split(second, "/")[1])),
	} {
		if !errors.Is(err, ErrChanged) {
			t.Errorf("%s: got %v", what, err)
		}
	}
	for what, err := range map[string]error{"throne": store.Reign(ctx, name, ""), "table": store.Write(ctx, table, "")} {
		if err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	seen, err := store.Snapshot(ctx)
	if err != nil || seen.Table != table || seen.Beats[name] != second || seen.Throne.Holder != name || seen.Throne.Foreign {
		t.Errorf("seen %+v, %v", seen, err)
	}
	for what, err := range map[string]error{
		"throne": store.Reign(ctx, "", seen.Throne.Version), "grave": store.Bury(ctx, name, second),
		"table": store.Write(ctx, allot.Table{}, seen.Version),
	} {
		if err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	if seen, err := store.Snapshot(ctx); err != nil || len(seen.Beats) > 0 || seen.Throne.Holder != "" || seen.Table != (allot.Table{}) {
		t.Errorf("at the end there is %+v, %v", seen, err)
	}
}

func second2(_ string, err error) error { return err }

func TestAForeignManagerIsWaitedFor(t *testing.T) {
	ctx, terms := context.Background(), Terms{Lease: 5 * time.Second, Renew: 4 * time.Second, Retry: 100 * time.Millisecond}
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
	m := New(Config{Store: store, Host: "Some.Host", Terms: terms, Drain: time.Second, Log: logr.Discard()})
	over := make(chan struct{})
	go func() {
		defer close(over)
		m.Run(running)
	}()
	until(t, func() bool { seen, err := store.Snapshot(ctx); return err == nil && len(seen.Beats) == 1 })
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
	if seen, err := store.Snapshot(ctx); err != nil || len(seen.Beats) > 0 || seen.Throne.Holder != "" || len(seen.Table.Names()) > 0 {
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

func TestATableThatCannotBeReadStopsEverythingAndIsTold(t *testing.T) {
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
