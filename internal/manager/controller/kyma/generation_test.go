package kyma

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/time/rate"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	apiruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	clientfake "sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/manager/runtimes"
	"github.com/kyma-project/lifecycle-manager/internal/manager/sharding"
	"github.com/kyma-project/lifecycle-manager/internal/module"
	"github.com/kyma-project/lifecycle-manager/pkg/conditions"
	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

// silentRuntime is connected, and its objects were not listed yet.
type silentRuntime struct{ Runtime }

func (silentRuntime) ID() string                                             { return "one" }
func (silentRuntime) Track(types.NamespacedName, []runtimes.Interest)        {}
func (silentRuntime) Known(types.NamespacedName) (bool, *runtimes.Problem)   { return false, nil }
func (silentRuntime) Object(inventory.ID) (*unstructured.Unstructured, bool) { return nil, false }

// oneRuntime is a fleet in which every Kyma has the same runtime.
type oneRuntime struct{ runtime Runtime }

func (f oneRuntime) Get(context.Context, types.NamespacedName) (Runtime, error) {
	return f.runtime, nil
}

func (f oneRuntime) Local(context.Context, types.NamespacedName) (Runtime, error) {
	return f.runtime, nil
}
func (oneRuntime) Source() source.Source { return nil }

// editedDuringRestart returns a Kyma that was Ready at generation 1, and then got module b while the manager was away.
func editedDuringRestart() *v1beta2.Kyma {
	kyma := kymaWith("kyma", []string{"b"}, nil)
	kyma.Generation, kyma.Finalizers = 2, []string{v1beta2.FinalizerKyma}
	kyma.Labels = map[string]string{v1beta2.LabelManagedBy: v1beta2.ManagedByLifecycleManager}
	seen := v1beta2.SeenSpec{Channel: v1beta2.DefaultChannel}
	kyma.Status = v1beta2.KymaStatus{
		State: v1beta2.StateReady, ObservedGeneration: 1, RuntimeID: "one", LastSeen: &v1beta2.LastSeen{Hub: &seen, Runtime: &seen},
	}
	for _, kind := range []string{v1beta2.ConditionModules, v1beta2.ConditionReady} {
		conditions.Set(&kyma.Status.Conditions, kind, metav1.ConditionTrue, v1beta2.ReasonReady, "", 1, noon)
	}
	return kyma
}

func TestReconcile_ClaimsNothingForAGenerationThatWasNotMerged(t *testing.T) {
	kyma := editedDuringRestart()
	builder := clientfake.NewClientBuilder().WithScheme(scheme(t)).WithIndex(&v1beta2.Manifest{}, indexKyma, kymaNames)
	hub := builder.WithIndex(&v1beta2.ModuleReleaseMeta{}, indexMandatory, isMandatory).WithObjects(kyma).WithStatusSubresource(kyma).Build()
	runtime := silentRuntime{}
	r := &Reconciler{
		Client: hub, Reader: hub, Shard: sharding.All{}, Metrics: &forgetful{}, Events: &events.FakeRecorder{}, Now: metav1.Now,
		Clusters: oneRuntime{runtime},
	}
	r.tracked.Store(client.ObjectKeyFromObject(kyma), Runtime(runtime))
	if _, err := r.Reconcile(t.Context(), ctrl.Request{NamespacedName: client.ObjectKeyFromObject(kyma)}); err != nil {
		t.Fatal(err)
	}
	after := &v1beta2.Kyma{}
	if err := hub.Get(t.Context(), client.ObjectKeyFromObject(kyma), after); err != nil {
		t.Fatal(err)
	}
	for _, kind := range []string{v1beta2.ConditionModules, v1beta2.ConditionReady} {
		told := conditions.Find(after.Status.Conditions, kind)
		if told.Status == metav1.ConditionTrue || told.ObservedGeneration != 1 {
			t.Errorf("%s is %s (%s) for generation %d, and module b was never looked at", kind, told.Status, told.Reason, told.ObservedGeneration)
		}
	}
	if after.Status.ObservedGeneration != 1 {
		t.Errorf("generation %d counts as observed, and module b was never looked at", after.Status.ObservedGeneration)
	}
	if reason, _ := readyReason(after); after.Status.State != v1beta2.StateProcessing || reason != v1beta2.ReasonRuntimeConnecting {
		t.Errorf("state %s, reason %s", after.Status.State, reason)
	}
}

func TestReadRuntimeKyma_LeavesHubEditOpenWhileRuntimeEditWaits(t *testing.T) {
	kyma := editedDuringRestart()
	copied := kymaWith("default", []string{"c"}, nil)
	copied.Spec.Channel = v1beta2.DefaultChannel
	r := &Reconciler{Now: func() metav1.Time { return noon }}
	limiter := rate.NewLimiter(rate.Every(time.Hour), 1)
	limiter.AllowN(noon.Time, 1)
	r.paces.Store(client.ObjectKeyFromObject(kyma), &specRateLimiter{limiter: limiter})
	s := &remoteScope{hub: kyma, remote: true, runtime: &overtakenRuntime{}, found: objectOf(t, copied)}
	r.readRuntimeKyma(s)
	if s.merged != nil || s.retry != editInterval {
		t.Fatalf("the edit was taken over: %+v", s)
	}
	if !s.behind() {
		t.Error("the hub's edit counts as considered")
	}
	if s.isReportable(&v1beta2.KymaStatus{Conditions: kyma.Status.Conditions}) {
		t.Error("the runtime's Kyma is told that it is Ready with an edit that was not looked at")
	}
	if !s.isReportable(&v1beta2.KymaStatus{}) {
		t.Error("the runtime's Kyma is not told what it waits for")
	}
	kyma.Spec.Modules = nil // as it was last seen
	if s.behind() {
		t.Error("the hub has not changed")
	}
}

// full returns a spec with 15 modules, of which those from one to before another have as many values as an entry may have.
func full(from, to int) v1beta2.KymaSpec {
	spec := v1beta2.KymaSpec{Channel: v1beta2.DefaultChannel}
	for i := range 15 {
		entry := v1beta2.Module{Name: fmt.Sprintf("m%02d", i)}
		if from <= i && i < to {
			entry.Values = &apiruntime.RawExtension{Raw: []byte(`{"a":"` + strings.Repeat("x", v1beta2.MaxEntryValues-8) + `"}`)}
		}
		spec.Modules = append(spec.Modules, entry)
	}
	return spec
}

func TestReadRuntimeKyma_KeepsWhatWasMergedWhereTwoSpecsFitOnlyAlone(t *testing.T) {
	before, theirs := full(0, 0), full(7, 15)
	lastHub, lastRuntime := module.SeenOf(&before), module.SeenOf(&theirs)
	kyma, copied := editedDuringRestart(), kymaWith("default", nil, nil)
	kyma.Spec, copied.Spec = full(0, 7), theirs
	kyma.Status.LastSeen = &v1beta2.LastSeen{Hub: &lastHub, Runtime: &lastRuntime}
	r := &Reconciler{Now: func() metav1.Time { return noon }}
	s := &remoteScope{hub: kyma, remote: true, runtime: &overtakenRuntime{}, found: objectOf(t, copied)}
	r.readRuntimeKyma(s)
	if s.merged != nil || !s.behind() || s.Access != nil || len(s.Syncs) != 1 || s.Syncs[0].Reason != v1beta2.ReasonValuesInvalid {
		t.Fatalf("merged %v, behind %t, access %+v, conditions %+v", s.merged, s.behind(), s.Access, s.Syncs)
	}
	effective, known := s.effective()
	if diff := cmp.Diff(lastRuntime, module.SeenOf(&effective.Spec)); diff != "" || !known {
		t.Errorf("known %t, in force (-before +after):\n%s", known, diff)
	}
	kyma.Spec = full(0, 4)
	s = &remoteScope{hub: kyma, remote: true, runtime: &overtakenRuntime{}, found: objectOf(t, copied)}
	if r.readRuntimeKyma(s); s.merged == nil || !s.merged.Write || len(s.Syncs) > 0 {
		t.Errorf("what fits is not merged: %+v", s.Syncs)
	}
}

func TestReadRuntimeKyma_ValuesOfTheHubThatAreRefusedTakeAwayNoneOfTheRuntime(t *testing.T) {
	good, theirs := full(0, 1), full(0, 0)
	theirs.Modules[0].Values = &apiruntime.RawExtension{Raw: []byte(`{"theirs":1}`)}
	lastHub, lastRuntime := module.SeenOf(&good), module.SeenOf(&theirs)
	kyma, copied := editedDuringRestart(), kymaWith("default", nil, nil)
	kyma.Spec, copied.Spec = full(0, 15), theirs
	kyma.Status.LastSeen = &v1beta2.LastSeen{Hub: &lastHub, Runtime: &lastRuntime}
	r := &Reconciler{Now: func() metav1.Time { return noon }}
	s := &remoteScope{hub: kyma, remote: true, runtime: &overtakenRuntime{}, found: objectOf(t, copied)}
	r.readRuntimeKyma(s)
	if s.merged == nil || s.merged.Write || len(s.refusedValues()) != 14 {
		t.Fatalf("merged %+v, refused %v", s.merged, s.refusedValues())
	}
	effective, _ := s.effective()
	if values := effective.Spec.Modules[0].Values; values == nil || string(values.Raw) != `{"theirs":1}` {
		t.Errorf("the values of the runtime's user: %+v", values)
	}
}

func TestSyncRuntimeStatus_ReportsReadyOnlyForTheMergedSpec(t *testing.T) {
	ready := &v1beta2.KymaStatus{Conditions: editedDuringRestart().Status.Conditions}
	effective := v1beta2.SeenSpec{Channel: v1beta2.DefaultChannel, Modules: []v1beta2.SeenModule{{Name: "b"}}}
	for name, test := range map[string]struct {
		copied []string
		want   bool
	}{
		"the runtime's Kyma asks for what counts":                      {[]string{"b"}, true},
		"an edit came back with a write of ours and was not looked at": {[]string{"b", "c"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			s := &remoteScope{hub: kymaWith("kyma", nil, nil), copy: kymaWith("default", test.copied, nil), merged: &module.Merged{Effective: effective}}
			if got := s.isReportable(ready); got != test.want {
				t.Errorf("tellable is %v", got)
			}
		})
	}
}

func objectOf(t *testing.T, kyma *v1beta2.Kyma) *unstructured.Unstructured {
	t.Helper()
	object, err := apiruntime.DefaultUnstructuredConverter.ToUnstructured(kyma)
	if err != nil {
		t.Fatal(err)
	}
	return &unstructured.Unstructured{Object: object}
}
