package catalog

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
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
	"github.com/kyma-project/lifecycle-manager/internal/mirror"
	"github.com/kyma-project/lifecycle-manager/internal/shard"
	"github.com/kyma-project/lifecycle-manager/pkg/apply"
	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
	"github.com/kyma-project/lifecycle-manager/tests/testkit/apiserver"
	"github.com/kyma-project/lifecycle-manager/tests/testkit/calls"
)

// server is hub and runtime at once: namespace kcp-system is the one, kyma-system the other.
var server = apiserver.Start

func TestMain(m *testing.M) { apiserver.Main(m, apiserver.OurKinds) }

// fleet is one runtime; what its streams tell is what the last list said and what was learned.
type fleet struct {
	cluster *apply.Cluster
	admin   client.Client
	problem *Problem

	mutex   sync.Mutex
	stamps  map[inventory.ID]string
	tracked map[types.NamespacedName]bool
	listed  bool
	unread  string // a kind that is not listed
}

func (f *fleet) Get(context.Context, Target) (Runtime, error) {
	if f.problem != nil {
		return nil, f.problem
	}
	return f, nil
}

func (f *fleet) Changed(context.Context, string, string) {}
func (f *fleet) Source() source.Source                   { return nil }
func (f *fleet) Cluster() *apply.Cluster                 { return f.cluster }
func (f *fleet) Report(error)                            {}

func (f *fleet) Stamp(id inventory.ID) (string, bool) {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	return f.stamps[id], f.listed && id.Kind != f.unread
}

func (f *fleet) Copies(gk schema.GroupKind) (ids []inventory.ID, synced bool) {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	for id := range f.stamps {
		if id.GroupKind() == gk {
			ids = append(ids, id)
		}
	}
	return ids, f.listed && gk.Kind != f.unread
}

func (f *fleet) Track(owner types.NamespacedName, _ []schema.GroupVersionKind) {
	f.tracked[owner] = true
}
func (f *fleet) Untrack(owner types.NamespacedName) { delete(f.tracked, owner) }

// see lets the streams catch up.
func (f *fleet) see(t *testing.T) {
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
	runtime *fleet
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
	b.runtime = &fleet{admin: b.hub, stamps: map[inventory.ID]string{}, tracked: map[types.NamespacedName]bool{}}
	b.runtime.cluster = &apply.Cluster{Dynamic: calling, Resource: func(_ context.Context, gvk schema.GroupVersionKind) (apply.Resource, error) {
		plural := map[string]string{"ModuleTemplate": "moduletemplates", "ModuleReleaseMeta": "modulereleasemetas"}[gvk.Kind]
		return apply.Resource{GroupVersionResource: v1beta2.GroupVersion.WithResource(plural), Namespaced: true}, nil
	}}
	b.Client, b.Fleet, b.Mirror, b.Shard = b.hub, b.runtime, &mirror.Mirror{}, shard.All{}
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

// expect compares what is to be said, and whether the Kyma was told.
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

func TestACatalogIsBroughtAndThenLeftAlone(t *testing.T) {
	b := newBench(t)
	b.expect(false, false, "", 0)
	b.runtime.problem = &Problem{Reason: v1beta2.ReasonRuntimeConnecting, Retry: time.Second}
	if retry := b.pass(); retry != time.Second {
		t.Errorf("looks again after %s", retry)
	}
	b.expect(false, false, "", 0)
	b.runtime.problem = nil

	for range 4 {
		retry := b.pass()
		if retry == 0 {
			t.Error("does not look again although the runtime is being listed")
		}
		b.clock.Step(retry)
		b.expect(false, false, "", 0) // that passes in a moment, and when all of a fleet are listed in some
	}
	if retry := b.pass(); retry == 0 {
		t.Error("does not look again although the runtime is still being listed")
	}
	b.expect(true, false, v1beta2.ReasonSyncPending, 1)
	if held := b.held(); held != 2 {
		t.Errorf("%d objects in the runtime, want release and template", held)
	}
	before := b.calls.Snapshot()
	for range 3 {
		if retry := b.pass(); retry != 0 {
			t.Errorf("looks again after %s", retry)
		}
	}
	b.expect(true, true, v1beta2.ReasonSynced, 1)
	if calls := b.calls.Since(before); calls.Total() != 0 {
		t.Errorf("called at rest:\n%s", calls)
	}
	b.runtime.problem = &Problem{Reason: v1beta2.ReasonRuntimeUnreachable, Message: "no answer"}
	b.pass()
	b.pass()
	b.expect(true, false, v1beta2.ReasonRuntimeUnreachable, 1)
}

func TestWhatIsMissingIsToldHoweverMuchElseIsWritten(t *testing.T) {
	b := newBench(t)
	b.runtime.unread = "ModuleReleaseMeta"
	b.pass()
	b.expect(false, false, "", 0)
	for version := range 3 { // somebody edits another object, again and again
		b.clock.Step(4 * time.Second)
		template := &v1beta2.ModuleTemplate{ObjectMeta: metav1.ObjectMeta{Namespace: "kyma-system", Name: "sample-1.0.0"}}
		patch := fmt.Appendf(nil, `{"spec":{"version":"9.0.%d"}}`, version)
		if err := b.hub.Patch(t.Context(), template, client.RawPatch(types.MergePatchType, patch)); err != nil {
			t.Fatal(err)
		}
		b.runtime.see(t)
		b.pass()
	}
	b.expect(true, false, v1beta2.ReasonSyncPending, 1)
}

func TestManyEventsOfAFaultThatLastsAMomentMakeNoLongPause(t *testing.T) {
	b := newBench(t)
	find := b.runtime.cluster.Resource
	b.runtime.cluster.Resource = func(context.Context, schema.GroupVersionKind) (apply.Resource, error) {
		return apply.Resource{}, apierrors.NewForbidden(schema.GroupResource{}, "", errors.New("no"))
	}
	for range 10 {
		if pause := b.pass(); pause != time.Second {
			t.Fatalf("looks again after %s", pause)
		}
		b.clock.Step(50 * time.Millisecond)
	}
	for _, want := range []float64{2, 4, 8, 16, 32, 45, 45} {
		b.clock.Step(time.Minute)
		if pause := b.pass(); pause.Seconds() != want {
			t.Fatalf("looks again after %s, want %v s", pause, want)
		}
	}
	b.expect(true, false, v1beta2.ReasonSyncFailed, 1)
	b.runtime.cluster.Resource = find
	if pause := b.pass(); pause != time.Second {
		t.Errorf("looks again after %s: it has written since, and what is left is something else", pause)
	}
}

func TestACatalogFollowsTheLabelsOfItsKyma(t *testing.T) {
	b := newBench(t)
	template := &v1beta2.ModuleTemplate{ObjectMeta: metav1.ObjectMeta{Namespace: "kcp-system", Name: "sample-1.0.0"}}
	patch := client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"labels":{"`+v1beta2.LabelBeta+`":"true"}}}`))
	if err := b.hub.Patch(t.Context(), template, patch); err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct {
		name   string
		labels map[string]string
		want   int
	}{
		{"a Kyma that is no beta sees nothing", nil, 0},
		{"one that became beta does", map[string]string{v1beta2.LabelBeta: "true"}, 2},
		{"one that ceased to be beta does not", nil, 0},
		{"one that is left alone sees what it saw", map[string]string{v1beta2.LabelBeta: "true", v1beta2.LabelSkipReconciliation: "True"}, 0},
		{"until it is not any more", map[string]string{v1beta2.LabelBeta: "true"}, 2},
	} {
		b.runtime.see(t)
		b.edit(func(k *v1beta2.Kyma) { k.Labels = step.labels })
		b.pass()
		if held := b.held(); held != step.want {
			t.Errorf("%s: %d objects in the runtime, want %d", step.name, held, step.want)
		}
	}
}

func TestAKymaThatGoesIsForgotten(t *testing.T) {
	for _, test := range []struct {
		name string
		end  func(b *bench)
	}{
		{"it was deleted", func(b *bench) { _ = b.hub.Delete(context.Background(), b.kyma) }},
		{"it is being deleted", func(b *bench) {
			b.edit(func(k *v1beta2.Kyma) { k.Finalizers = []string{v1beta2.FinalizerKyma} })
			_ = b.hub.Delete(context.Background(), b.kyma)
		}},
		{"it is another replica's", func(b *bench) { b.Shard = nobody{} }},
	} {
		t.Run(test.name, func(t *testing.T) {
			b := newBench(t)
			b.runtime.see(t)
			b.pass()
			b.expect(true, true, v1beta2.ReasonSynced, 1)
			test.end(b)
			before := b.calls.Snapshot()
			b.pass()
			b.expect(false, false, "", 0)
			if len(b.runtime.tracked) != 0 || len(b.states.kymas) != 0 || b.calls.Since(before).Total() != 0 {
				t.Errorf("tracked %v, known %v, called %v", b.runtime.tracked, b.states.kymas, b.calls.Since(before))
			}
			patch := client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`))
			_ = b.hub.Patch(context.Background(), b.kyma, patch)
		})
	}
}

type nobody struct{}

func (nobody) Mine(int) bool { return false }

func (nobody) Begin(ctx context.Context, _ int) (context.Context, func(), shard.Standing) {
	return ctx, func() {}, shard.Elsewhere
}

func TestContentsAreSharedUntilTheHubChanges(t *testing.T) {
	b := newBench(t)
	of := func(labels map[string]string) *view {
		kyma := b.kyma.DeepCopy()
		kyma.Labels = labels
		made, err := b.contents.of(t.Context(), b.Client, kyma, nil)
		if err != nil {
			t.Fatal(err)
		}
		return made
	}
	one := of(nil)
	if of(map[string]string{"any": "label"}) != one {
		t.Error("Kymas that may see the same do not share what they see")
	}
	if of(map[string]string{v1beta2.LabelBeta: "true"}) == one {
		t.Error("a beta Kyma shares what others see")
	}
	b.contents.changed("another-namespace")
	if of(nil) != one {
		t.Error("made anew for a change elsewhere")
	}
	b.contents.changed("kcp-system")
	if of(nil) == one {
		t.Error("not made anew after a change")
	}
}
