package phases

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

var (
	kyma     = types.NamespacedName{Namespace: "kcp-system", Name: "kyma"}
	manifest = types.NamespacedName{Namespace: "kcp-system", Name: "kyma-istio"}
)

// bench is a Tracker with a clock, and what it observed: "fetch 2s".
type bench struct {
	Tracker

	clock    time.Time
	observed []string
}

func newBench() *bench {
	b := &bench{clock: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
	b.Now = func() time.Time { return b.clock }
	b.Observe = func(ended Ended) {
		if ended.Module != "istio" || ended.Manifest != manifest {
			ended.Phase = "of another module: " + ended.Phase
		}
		b.observed = append(b.observed, fmt.Sprintf("%s %s", ended.Phase, ended.To.Sub(ended.From)))
	}
	return b
}

func (b *bench) after(seconds int) { b.clock = b.clock.Add(time.Duration(seconds) * time.Second) }

// asking returns a Manifest in a generation, of which the status observes another one.
func asking(generation, observed int64) *v1beta2.Manifest {
	return &v1beta2.Manifest{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: manifest.Namespace, Name: manifest.Name, UID: "uid", Generation: generation,
			Labels: map[string]string{v1beta2.LabelModuleName: "istio", v1beta2.LabelKymaName: kyma.Name},
		},
		Status: v1beta2.ManifestStatus{ObservedGeneration: observed},
	}
}

// through completes all phases that a pass completes, a second each.
func (b *bench) through(ctx context.Context, phases ...Phase) {
	for _, phase := range phases {
		b.after(1)
		Reach(ctx, phase)
	}
}

func TestTracker(t *testing.T) {
	for name, test := range map[string]struct {
		do   func(ctx context.Context, b *bench)
		want []string
	}{
		"an installation has each phase once, whatever passes it takes": {func(ctx context.Context, b *bench) {
			b.Requested(asking(1, 0))
			b.after(2)
			b.through(b.Begin(ctx, asking(1, 0)), Fetch)
			b.through(b.Begin(ctx, asking(1, 1)), Fetch, Verify, Apply)
			b.through(b.Begin(ctx, asking(1, 1)), Fetch, Ready)
			b.through(b.Begin(ctx, asking(1, 1)), Ready)
		}, []string{"queue 2s", "fetch 1s", "verify 2s", "apply 1s", "ready 2s"}},
		"a wait for a window comes first": {func(ctx context.Context, b *bench) {
			b.Wait(kyma, []string{"istio"})
			b.after(60)
			b.Wait(kyma, []string{"istio"})
			b.Requested(asking(2, 1))
			b.Wait(kyma, nil)
			b.Begin(ctx, asking(2, 1))
		}, []string{"window 1m0s", "queue 0s"}},
		"a wait that ended without an upgrade is no part of the next one": {func(_ context.Context, b *bench) {
			b.Wait(kyma, []string{"istio"})
			b.Wait(kyma, []string{"keda"})
			b.after(60)
			b.Requested(asking(2, 1))
		}, nil},
		"a write that asks for nothing new begins nothing": {func(ctx context.Context, b *bench) {
			b.Requested(asking(1, 1))
			b.through(b.Begin(ctx, asking(1, 1)), Fetch, Verify, Apply, Ready)
		}, nil},
		"a second write of the same does not begin anew": {func(ctx context.Context, b *bench) {
			b.Requested(asking(1, 0))
			b.after(1)
			b.Requested(asking(1, 0))
			b.after(1)
			b.Begin(ctx, asking(1, 0))
		}, []string{"queue 2s"}},
		"a pass that begins before the write has its response waited for nothing": {func(ctx context.Context, b *bench) {
			b.through(b.Begin(ctx, asking(1, 0)), Fetch)
			b.Requested(asking(1, 0))
			b.Requested(asking(1, 0))
		}, []string{"fetch 1s", "queue 0s"}},
		"of what was asked for before this process, the queue is not known": {func(ctx context.Context, b *bench) {
			b.through(b.Begin(ctx, asking(1, 0)), Fetch)
		}, []string{"fetch 1s"}},
		"of what had begun before this process, nothing is": {func(ctx context.Context, b *bench) {
			b.through(b.Begin(ctx, asking(1, 1)), Fetch, Verify, Apply, Ready)
		}, nil},
		"another request ends the one before": {func(ctx context.Context, b *bench) {
			b.Requested(asking(1, 0))
			first := b.Begin(ctx, asking(1, 0))
			b.Requested(asking(2, 1))
			b.after(3)
			b.through(b.Begin(ctx, asking(2, 1)), Fetch)
			Reach(first, Ready)
			b.through(b.Begin(ctx, asking(2, 2)), Verify)
		}, []string{"queue 0s", "queue 3s", "fetch 1s", "verify 1s"}},
		"what a pass skips took no time": {func(ctx context.Context, b *bench) {
			b.Requested(asking(1, 0))
			b.through(b.Begin(ctx, asking(1, 0)), Ready)
		}, []string{"queue 0s", "ready 1s"}},
		"a deletion has no phases": {func(ctx context.Context, b *bench) {
			b.Requested(asking(1, 0))
			going := asking(2, 1)
			going.DeletionTimestamp = &metav1.Time{Time: b.clock}
			b.through(b.Begin(ctx, going), Fetch, Ready)
		}, nil},
		"what is forgotten is not continued": {func(ctx context.Context, b *bench) {
			b.Requested(asking(1, 0))
			b.Forget(manifest)
			b.through(b.Begin(ctx, asking(1, 1)), Fetch)
		}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench()
			test.do(t.Context(), b)
			if diff := cmp.Diff(test.want, b.observed); diff != "" {
				t.Errorf("observed (-want +got):\n%s", diff)
			}
		})
	}
}

func TestTracker_KeepsOnlyWhatIsUnderWay(t *testing.T) {
	b := newBench()
	b.Wait(kyma, []string{"istio"})
	b.Requested(asking(1, 0))
	b.through(b.Begin(t.Context(), asking(1, 0)), Fetch, Verify, Apply, Ready)
	b.Wait(kyma, nil)
	if len(b.runs)+len(b.waiting) != 0 {
		t.Errorf("%d runs and the waits of %d Kymas are kept", len(b.runs), len(b.waiting))
	}
}

func TestTracker_NilTracksNothing(t *testing.T) {
	var none *Tracker
	none.Wait(kyma, []string{"istio"})
	none.Requested(asking(1, 0))
	none.Forget(manifest)
	if ctx := none.Begin(t.Context(), asking(1, 0)); ctx != t.Context() {
		t.Error("a pass without a Tracker got another context")
	}
}
