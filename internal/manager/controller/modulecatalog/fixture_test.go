package modulecatalog

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/flowcontrol"
	clocktesting "k8s.io/utils/clock/testing"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/manager/remotesync"
	"github.com/kyma-project/lifecycle-manager/internal/manager/runtimes"
	"github.com/kyma-project/lifecycle-manager/internal/manager/sharding"
	"github.com/kyma-project/lifecycle-manager/pkg/apply"
	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
	"github.com/kyma-project/lifecycle-manager/tests/testkit/apiserver"
	"github.com/kyma-project/lifecycle-manager/tests/testkit/calls"
)

// server is hub and runtime at once: namespace kcp-system is the hub, kyma-system the runtime.
var server = apiserver.Start

func TestMain(m *testing.M) { apiserver.Main(m, apiserver.OurKinds) }

// fakeClusters is one runtime; its streams show the last list and what was learned.
type fakeClusters struct {
	cluster *apply.Cluster
	admin   client.Client
	problem *runtimes.Problem

	mutex   sync.Mutex
	stamps  map[inventory.ID]string
	tracked map[types.NamespacedName]bool
	listed  bool
	unread  string // a kind that is not listed
}

func (f *fakeClusters) Get(context.Context, Target) (Runtime, error) {
	if f.problem != nil {
		return nil, f.problem
	}
	return f, nil
}

func (f *fakeClusters) Changed(context.Context, string, string) {}
func (f *fakeClusters) Source() source.Source                   { return nil }
func (f *fakeClusters) Cluster() *apply.Cluster                 { return f.cluster }
func (f *fakeClusters) Report(error)                            {}

func (f *fakeClusters) ObjectVersion(id inventory.ID) (string, bool) {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	return f.stamps[id], f.listed && id.Kind != f.unread
}

func (f *fakeClusters) Copies(gk schema.GroupKind) (ids []inventory.ID, synced bool) {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	for id := range f.stamps {
		if id.GroupKind() == gk {
			ids = append(ids, id)
		}
	}
	return ids, f.listed && gk.Kind != f.unread
}

func (f *fakeClusters) Track(owner types.NamespacedName, _ []schema.GroupVersionKind) {
	f.tracked[owner] = true
}
func (f *fakeClusters) Untrack(owner types.NamespacedName) { delete(f.tracked, owner) }

// see lets the streams catch up.
func (f *fakeClusters) see(t *testing.T) {
	t.Helper()
	f.mutex.Lock()
	defer f.mutex.Unlock()
	f.listed = true
	clear(f.stamps)
	for _, kind := range kinds {
		list := &metav1.PartialObjectMetadataList{}
		list.SetGroupVersionKind(kind)
		err := f.admin.List(t.Context(), list, client.InNamespace("kyma-system"), client.MatchingLabels{v1beta2.LabelManagedBy: "kyma"})
		if err != nil {
			t.Fatal(err)
		}
		for i := range list.Items {
			id := inventory.ID{Group: kind.Group, Kind: kind.Kind, Namespace: "kyma-system", Name: list.Items[i].Name}
			f.stamps[id] = string(list.Items[i].UID) + "/" + list.Items[i].ResourceVersion
		}
	}
}

// bench is a controller on a hub with one runtime.
type bench struct {
	*Reconciler
	t       *testing.T
	hub     client.Client
	runtime *fakeClusters
	calls   calls.Counter
	kyma    *v1beta2.Kyma
	heard   queue
	clock   *clocktesting.FakeClock // of the back-off
}

func newBench(t *testing.T) *bench {
	t.Helper()
	config, err := server()
	if err != nil {
		t.Fatalf("start an API server (is KUBEBUILDER_ASSETS set?): %v", err)
	}
	scheme := runtime.NewScheme()
	if err := errors.Join(clientgoscheme.AddToScheme(scheme), v1beta2.AddToScheme(scheme)); err != nil {
		t.Fatal(err)
	}
	b := &bench{Reconciler: New(20), t: t}
	if b.hub, err = client.New(config, client.Options{Scheme: scheme}); err != nil {
		t.Fatal(err)
	}
	counted := rest.CopyConfig(config)
	counted.Wrap(func(next http.RoundTripper) http.RoundTripper { return b.calls.Wrap(next) })
	calling, err := dynamic.NewForConfig(counted)
	if err != nil {
		t.Fatal(err)
	}
	b.runtime = &fakeClusters{admin: b.hub, stamps: map[inventory.ID]string{}, tracked: map[types.NamespacedName]bool{}}
	b.runtime.cluster = &apply.Cluster{Dynamic: calling, Resource: func(_ context.Context, gvk schema.GroupVersionKind) (apply.Resource, error) {
		plural := map[string]string{"ModuleTemplate": "moduletemplates", "ModuleReleaseMeta": "modulereleasemetas"}[gvk.Kind]
		return apply.Resource{GroupVersionResource: v1beta2.GroupVersion.WithResource(plural), Namespaced: true}, nil
	}}
	b.Client, b.Clusters, b.Syncer, b.Shard = b.hub, b.runtime, &remotesync.Syncer{}, sharding.All{}
	b.clock = clocktesting.NewFakeClock(time.Now())
	b.Backoff = flowcontrol.NewFakeBackOff(time.Second, 45*time.Second, b.clock)
	b.heard = newQueue(t)
	if err := b.Source().Start(t.Context(), b.heard); err != nil {
		t.Fatal(err)
	}
	b.populate()
	return b
}

// populate offers module sample in version 1.0.0 to a new Kyma.
func (b *bench) populate() {
	for _, name := range []string{"kcp-system", "kyma-system"} {
		namespace := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Name: name}}
		namespace.SetGroupVersionKind(schema.GroupVersionKind{Version: "v1", Kind: "Namespace"})
		data := []byte(`{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"` + name + `"}}`)
		if err := b.hub.Patch(b.t.Context(), namespace, client.RawPatch(types.ApplyPatchType, data), client.FieldOwner("test")); err != nil {
			b.t.Fatal(err)
		}
	}
	meta := func(name string) metav1.ObjectMeta { return metav1.ObjectMeta{Namespace: "kcp-system", Name: name} }
	b.kyma = &v1beta2.Kyma{ObjectMeta: meta("kyma"), Spec: v1beta2.KymaSpec{Channel: "regular"}}
	objects := []client.Object{
		b.kyma,
		&v1beta2.ModuleTemplate{ObjectMeta: meta("sample-1.0.0"), Spec: v1beta2.ModuleTemplateSpec{ModuleName: "sample", Version: "1.0.0"}},
		&v1beta2.ModuleReleaseMeta{ObjectMeta: meta("sample"), Spec: v1beta2.ModuleReleaseMetaSpec{
			ModuleName: "sample", Channels: []v1beta2.ChannelVersion{{Channel: "regular", Version: "1.0.0"}},
		}},
	}
	for _, object := range objects {
		if err := b.hub.Create(b.t.Context(), object); err != nil {
			b.t.Fatal(err)
		}
	}
	b.kyma.Status.LastSeen = &v1beta2.LastSeen{Hub: &v1beta2.SeenSpec{Channel: "regular"}}
	if err := b.hub.Status().Update(b.t.Context(), b.kyma); err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() {
		for _, object := range objects {
			_ = b.hub.Delete(context.Background(), object)
			object.SetNamespace("kyma-system")
			_ = b.hub.Delete(context.Background(), object)
		}
	})
}

func (b *bench) pass() time.Duration {
	b.t.Helper()
	result, err := b.Reconcile(b.t.Context(), ctrl.Request{NamespacedName: client.ObjectKeyFromObject(b.kyma)})
	if err != nil {
		b.t.Fatal(err)
	}
	return result.RequeueAfter
}

// edit changes the Kyma on the hub.
func (b *bench) edit(change func(*v1beta2.Kyma)) {
	b.t.Helper()
	change(b.kyma)
	if err := b.hub.Update(b.t.Context(), b.kyma); err != nil {
		b.t.Fatal(err)
	}
}

// expect compares the reported state, and whether the Kyma was enqueued.
func (b *bench) expect(known, synced bool, reason string, news int) {
	b.t.Helper()
	gotKnown, gotSynced, gotReason, message := b.State(client.ObjectKeyFromObject(b.kyma))
	if gotKnown != known || gotSynced != synced || gotReason != reason {
		b.t.Errorf("state is %v, %v, %q (%s), want %v, %v, %q", gotKnown, gotSynced, gotReason, message, known, synced, reason)
	}
	if got := b.heard.Len(); got != news {
		b.t.Errorf("the Kyma was told %d times, want %d", got, news)
	}
	if b.heard.Len() > 0 {
		take(b.heard, b.heard.Len())
	}
}

func (b *bench) held() int {
	b.runtime.see(b.t)
	return len(b.runtime.stamps)
}
