package modulecatalog

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/manager/runtimes"
	"github.com/kyma-project/lifecycle-manager/internal/manager/sharding"
	"github.com/kyma-project/lifecycle-manager/pkg/apply"
)

func TestReconcile_WritesCatalogOnce(t *testing.T) {
	b := newBench(t)
	b.expect(false, false, "", 0)
	b.runtime.problem = &runtimes.Problem{Reason: v1beta2.ReasonRuntimeConnecting, Retry: time.Second}
	if retry := b.pass(); retry != time.Second {
		t.Errorf("looks again after %s", retry)
	}
	b.expect(false, false, "", 0)
	b.runtime.problem = nil

	for begun := b.clock.Now(); b.clock.Since(begun) < listPatience; {
		retry := b.pass()
		if retry == 0 {
			t.Fatal("does not look again although the runtime is being listed")
		}
		b.expect(false, false, "", 0) // that passes in a moment, and when all of a fleet are listed in minutes
		b.clock.Step(retry)
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
	b.runtime.problem = &runtimes.Problem{Reason: v1beta2.ReasonRuntimeUnreachable, Message: "no answer"}
	b.pass()
	b.pass()
	b.expect(true, false, v1beta2.ReasonRuntimeUnreachable, 1)
}

func TestReconcile_ReportsMissingObjectDespiteOtherWrites(t *testing.T) {
	b := newBench(t)
	b.runtime.unread = "ModuleReleaseMeta"
	b.pass()
	b.expect(false, false, "", 0)
	for version := range 3 { // a user edits another object, again and again
		b.clock.Step(listPatience / 2)
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

// What was looked at and is not there is told sooner than what was not looked at.
func TestReconcile_ReportsKindThatIsNotServed(t *testing.T) {
	b := newBench(t)
	b.runtime.cluster.Resource = func(_ context.Context, gvk schema.GroupVersionKind) (apply.Resource, error) {
		return apply.Resource{}, &apply.UnknownKindError{GroupVersionKind: gvk}
	}
	b.pass()
	b.expect(false, false, "", 0)
	b.clock.Step(patience)
	b.pass()
	b.expect(true, false, v1beta2.ReasonSyncPending, 1)
}

func TestReconcile_KeepsPauseShortForTransientFaults(t *testing.T) {
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

func TestReconcile_FollowsTheLabelsOfTheKyma(t *testing.T) {
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

func TestReconcile_ForgetsDeletedKyma(t *testing.T) {
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

func (nobody) Begin(ctx context.Context, _ int) (context.Context, func(), sharding.Ownership) {
	return ctx, func() {}, sharding.Elsewhere
}

func TestContents_AreSharedUntilTheHubChanges(t *testing.T) {
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
