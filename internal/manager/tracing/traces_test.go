package tracing

import (
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

const (
	writes  = "PATCH manifests.operator.kyma-project.io"
	status  = "PUT kymas.operator.kyma-project.io"
	applies = "Manifest reconcile(PATCH deployments.apps)"
)

func TestTraces(t *testing.T) {
	for name, test := range map[string]struct {
		do   func(b *bench)
		want []string
	}{
		"an installation is one trace, and ends with the status of the Kyma": {func(b *bench) {
			b.kymaPass(1, manifest(1, -1), v1beta2.StateProcessing)
			b.manifestPass(manifest(1, -1), "queue", "fetch", "verify", "apply")
			b.manifestPass(manifest(1, 1), "ready")
			b.kymaPass(1, nil, v1beta2.StateReady)
		}, []string{"Kyma reconcile(" + writes + ", " + status + ", " + applies +
			", phase queue, phase fetch, phase verify, phase apply, " + applies + ", phase ready, Kyma reconcile(" + status + "))"}},
		"what comes after it is no part of it": {func(b *bench) {
			b.kymaPass(1, manifest(1, -1), v1beta2.StateProcessing)
			b.manifestPass(manifest(1, -1), "ready")
			b.kymaPass(1, nil, v1beta2.StateReady)
			b.manifestPass(manifest(1, 1))
			b.kymaPass(1, nil, v1beta2.StateReady)
		}, []string{"Kyma reconcile(" + writes + ", " + status + ", " + applies + ", phase ready, Kyma reconcile(" + status + "))",
			applies, "Kyma reconcile(" + status + ")"}},
		"another change of the Kyma is another trace, with a link to the one that it overtakes": {func(b *bench) {
			b.kymaPass(1, manifest(1, -1), v1beta2.StateProcessing)
			b.kymaPass(2, manifest(2, -1), v1beta2.StateProcessing)
			b.manifestPass(manifest(2, -1))
		}, []string{"Kyma reconcile(" + writes + ", " + status + ")", "Kyma reconcile*(" + writes + ", " + status + ", " + applies + ")"}},
		"a Manifest that another client changed has a trace of its own, with a link": {func(b *bench) {
			b.kymaPass(1, manifest(1, -1), v1beta2.StateReady)
			b.manifestPass(manifest(2, 1), "fetch")
		}, []string{"Kyma reconcile(" + writes + ", " + status + ")", "Manifest reconcile*(PATCH deployments.apps, phase fetch)"}},
		"a Manifest that was asked for before this process begins the trace": {func(b *bench) {
			b.manifestPass(manifest(1, -1), "fetch")
			b.manifestPass(manifest(1, 1), "ready")
			b.manifestPass(manifest(1, 1))
		}, []string{"Manifest reconcile(PATCH deployments.apps, phase fetch, " + applies + ", phase ready)", applies}},
		"a pass that does nothing for a Manifest leaves the trace to the next one": {func(b *bench) {
			_, pass := b.BeginManifest(b.t.Context(), manifest(1, -1))
			pass.End(v1beta2.StateProcessing, nil)
			b.manifestPass(manifest(1, -1), "fetch")
			b.manifestPass(manifest(1, 1), "ready")
		}, []string{"Manifest reconcile(PATCH deployments.apps, phase fetch, " + applies + ", phase ready)"}},
		"a write that asks for nothing new changes nothing": {func(b *bench) {
			b.kymaPass(1, manifest(1, 1), v1beta2.StateReady)
			b.manifestPass(manifest(1, 1))
		}, []string{"Kyma reconcile(" + writes + ", " + status + ")", applies}},
		"what takes too long gets a new trace, with a link": {func(b *bench) {
			b.kymaPass(1, manifest(1, -1), v1beta2.StateError)
			b.clock = b.clock.Add(longestChange + 1)
			b.manifestPass(manifest(1, 1))
			b.kymaPass(1, nil, v1beta2.StateError)
			b.kymaPass(1, nil, v1beta2.StateError)
		}, []string{"Kyma reconcile(" + writes + ", " + status + ")", "Manifest reconcile*(PATCH deployments.apps)",
			"Kyma reconcile*(" + status + ", Kyma reconcile(" + status + "))"}},
		"what is forgotten is not continued": {func(b *bench) {
			b.kymaPass(1, manifest(1, -1), v1beta2.StateProcessing)
			b.ForgetKyma(types.NamespacedName{Namespace: namespace, Name: "one"})
			b.ForgetManifest(manifestKey)
			b.manifestPass(manifest(1, 1), "ready")
			b.kymaPass(1, nil, v1beta2.StateReady)
		}, []string{"Kyma reconcile(" + writes + ", " + status + ")", applies, "Kyma reconcile(" + status + ")"}},
		"a pass that does nothing has no span": {func(b *bench) {
			ctx, pass := b.BeginKyma(b.t.Context(), &v1beta2.Kyma{})
			pass.End(v1beta2.StateReady, nil)
			b.send(ctx, http.MethodPatch, manifestsURL) // nor does what it left behind begin one
			_, pass = b.BeginManifest(b.t.Context(), manifest(1, 1))
			pass.End(v1beta2.StateReady, nil)
		}, nil},
		"a request of no pass, and a watch, have none": {func(b *bench) {
			b.send(b.t.Context(), http.MethodPatch, manifestsURL)
			ctx, pass := b.BeginManifest(b.t.Context(), manifest(1, 1))
			b.send(ctx, http.MethodGet, "https://runtime/api/v1/pods?watch=true")
			pass.End(v1beta2.StateReady, nil)
		}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			test.do(b)
			if diff := cmp.Diff(test.want, b.traces()); diff != "" {
				t.Errorf("traces (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAsking(t *testing.T) {
	const kyma = "Kyma reconcile(" + writes
	for name, test := range map[string]struct {
		// written is the response, and during happens before it arrives.
		written *v1beta2.Manifest
		err     error
		during  func(b *bench)
		want    []string
	}{
		"a pass that begins before the response belongs to the trace": {
			manifest(2, 1), nil, func(b *bench) { b.manifestPass(manifest(2, 1)) }, []string{kyma + ", " + applies + ", " + applies + ")"},
		},
		"a change that is carried out before the response is over": {
			manifest(2, 1), nil, func(b *bench) { b.manifestPass(manifest(2, 1), "ready") },
			[]string{kyma + ", " + applies + ", phase ready)", applies},
		},
		"of a write that failed no pass is a part": {nil, errSecret, func(*bench) {}, []string{kyma + ")", applies}},
		"a deletion has no generation to compare":  {nil, nil, func(*bench) {}, []string{kyma + ", " + applies + ")"}},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			ctx, pass := b.BeginKyma(t.Context(), &v1beta2.Kyma{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "one", Generation: 1}})
			asked := b.Asking(ctx, manifestKey)
			b.send(ctx, http.MethodPatch, manifestsURL)
			test.during(b)
			asked(test.written, test.err)
			after := manifest(2, 2)
			after.DeletionTimestamp = &metav1.Time{Time: b.clock}
			b.manifestPass(after)
			pass.End(v1beta2.StateReady, nil)
			if diff := cmp.Diff(test.want, b.traces()); diff != "" {
				t.Errorf("traces (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAsking_AFailedWriteLeavesTheChangeBefore(t *testing.T) {
	b := newBench(t)
	b.kymaPass(1, manifest(1, -1), v1beta2.StateProcessing)
	ctx, pass := b.BeginKyma(t.Context(), &v1beta2.Kyma{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "one", Generation: 2}})
	b.Asking(ctx, manifestKey)(nil, errSecret)
	pass.End(v1beta2.StateProcessing, errSecret)
	b.manifestPass(manifest(1, 1))
	want := []string{"Kyma reconcile(" + writes + ", " + status + ", " + applies + ")", "Kyma reconcile*"}
	if diff := cmp.Diff(want, b.traces()); diff != "" {
		t.Errorf("traces (-want +got):\n%s", diff)
	}
}

func TestTraces_KeepOnlyWhatIsUnderWay(t *testing.T) {
	b := newBench(t)
	b.kymaPass(1, manifest(1, -1), v1beta2.StateProcessing)
	b.manifestPass(manifest(1, -1), "ready")
	b.kymaPass(1, nil, v1beta2.StateReady)
	if len(b.kymas)+len(b.manifests) != 0 {
		t.Errorf("the changes of %d Kymas and %d Manifests are kept", len(b.kymas), len(b.manifests))
	}
}

func TestTraces_NilCostsNothing(t *testing.T) {
	var none *Traces
	kyma, m, ctx := &v1beta2.Kyma{}, manifest(1, 0), t.Context()
	allocated := testing.AllocsPerRun(100, func() {
		within, pass := none.BeginKyma(ctx, kyma)
		none.Asking(within, manifestKey)(m, nil)
		pass.End(v1beta2.StateReady, nil)
		within, pass = none.BeginManifest(ctx, m)
		none.Phase(manifestKey, "istio", "ready", true, m.CreationTimestamp.Time, m.CreationTimestamp.Time)
		pass.End(v1beta2.StateReady, nil)
		none.ForgetKyma(manifestKey)
		none.ForgetManifest(manifestKey)
		if within != ctx {
			t.Error("a pass that is not recorded got another context")
		}
	})
	if allocated != 0 {
		t.Errorf("%v allocations", allocated)
	}
}
