package manifest

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/util/flowcontrol"
	clocktesting "k8s.io/utils/clock/testing"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	clientfake "sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/manager/runtimes"
	"github.com/kyma-project/lifecycle-manager/internal/manager/sharding"
	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

// configMaps returns what a content declares, and the entries that record it.
func configMaps(names ...string) (objects []*unstructured.Unstructured, entries []inventory.Entry) {
	for _, name := range names {
		made := object("v1", "ConfigMap", name)
		made.SetNamespace("default")
		entry := entryOf(inventory.IDOf(made))
		entry.Hash = inventory.ContentHash(made)
		objects, entries = append(objects, made), append(entries, entry)
	}
	return objects, entries
}

func TestPlan(t *testing.T) {
	for name, test := range map[string]struct {
		change func(desired *[]*unstructured.Unstructured, recorded *[]inventory.Entry, live map[inventory.ID]inventory.Live)
		open   []string // what counts as not yet applied
		told   bool     // written before the first object
	}{
		"a new object would leak, so it is written first": {
			func(_ *[]*unstructured.Unstructured, recorded *[]inventory.Entry, _ map[inventory.ID]inventory.Live) {
				*recorded = (*recorded)[:2]
			},
			[]string{"c"}, true,
		},
		"of changed content no one could tell later whether it was applied, so it is written first": {
			func(desired *[]*unstructured.Unstructured, _ *[]inventory.Entry, _ map[inventory.ID]inventory.Live) {
				(*desired)[1].Object["data"] = map[string]any{"version": "2"}
			}, []string{"b"}, true,
		},
		"what is only put back is noticed again": {
			func(_ *[]*unstructured.Unstructured, recorded *[]inventory.Entry, live map[inventory.ID]inventory.Live) {
				live[(*recorded)[0].ID] = inventory.Live{Presence: inventory.Absent}
			}, []string{"a"}, false,
		},
		"what was planned before is not written again": {
			func(_ *[]*unstructured.Unstructured, recorded *[]inventory.Entry, _ map[inventory.ID]inventory.Live) {
				(*recorded)[2].Hash = ""
			},
			[]string{"c"}, false,
		},
	} {
		t.Run(name, func(t *testing.T) {
			desired, recorded := configMaps("a", "b", "c")
			live := map[inventory.ID]inventory.Live{}
			for _, entry := range recorded {
				live[entry.ID] = seen(entry)
			}
			test.change(&desired, &recorded, live)
			manifest := newManifest(func(m *v1beta2.Manifest) { m.Status.Synced = toStatus(recorded) })
			r := newReconciler(t, manifest)
			w := newScope(stored(t, r, manifest), testTime)
			w.runtime, w.desired, w.recorded, w.stored = &cluster{live: live}, desired, recorded, recorded
			decision := inventory.Decide(w.recorded, w.desired, w.runtime.Live)
			if err := r.plan(t.Context(), w, decision.Apply); err != nil {
				t.Fatal(err)
			}
			var open []string
			for _, entry := range w.recorded {
				if entry.Hash == "" {
					open = append(open, entry.Name)
				}
			}
			if diff := cmp.Diff(test.open, open); diff != "" || len(w.recorded) != 3 {
				t.Errorf("%d recorded, not yet applied differs (-want +got):\n%s", len(w.recorded), diff)
			}
			got := stored(t, r, manifest)
			if told := got.Status.State == v1beta2.StateProcessing; told != test.told {
				t.Errorf("written before the first object: %v", told)
			}
			if test.told && !cmp.Equal(fromStatus(got.Status.Synced), w.recorded) {
				t.Errorf("written: %v, want %v", got.Status.Synced, w.recorded)
			}
		})
	}
}

func TestPlan_IsNotTakenForDoneAfterAnEarlyStop(t *testing.T) {
	// The upgrade from one content to the next stopped before the first object, as when a definition is not yet established. Every
	// object is as it was recorded, but it is the old content.
	w, c := settledWork()
	desired, recorded := configMaps("a", "b")
	for _, entry := range recorded {
		c.live[entry.ID] = seen(entry)
	}
	for _, changed := range desired {
		changed.Object["data"] = map[string]any{"version": "2"}
	}
	w.manifest.Status.Synced = toStatus(recorded)
	r := newReconciler(t, w.manifest.DeepCopy())
	w.manifest, w.before = stored(t, r, w.manifest), stored(t, r, w.manifest)
	w.desired, w.recorded, w.stored = desired, recorded, recorded
	if err := r.plan(t.Context(), w, inventory.Decide(w.recorded, w.desired, c.Live).Apply); err != nil {
		t.Fatal(err)
	}
	w.report(passResult{state: v1beta2.StateProcessing, reason: v1beta2.ReasonWaitingForCRDs, parsed: true})
	if err := r.flush(t.Context(), w); err != nil {
		t.Fatal(err)
	}
	next := newScope(stored(t, r, w.manifest), testTime)
	next.runtime, next.sources, next.recorded = c, w.sources, fromStatus(stored(t, r, w.manifest).Status.Synced)
	if next.settled() {
		t.Error("the next pass takes the old content for the new one")
	}
}

func TestPlan_IsNotCarriedOutForAnOldSpec(t *testing.T) {
	manifest := newManifest()
	r := newReconciler(t, manifest)
	w := newScope(stored(t, r, manifest), testTime)
	w.runtime = &cluster{}
	w.desired, _ = configMaps("a")
	w.generation-- // a user changed the spec since
	err := r.plan(t.Context(), w, inventory.Decide(nil, w.desired, w.runtime.Live).Apply)
	if stop, ok := errors.AsType[*passResult](err); !ok || !stop.gone || stop.retry != 0 {
		t.Errorf("error %v, want an end without a word: the event of the new spec is on its way", err)
	}
}

func TestRenderDesired_RefusesContentWithoutObjects(t *testing.T) {
	w, _ := settledWork()
	r := newReconciler(t, w.manifest.DeepCopy())
	r.Content = &contents{}
	if problem := problemOf(r.renderDesired(t.Context(), w)); problem == nil || problem.Reason != v1beta2.ReasonContentInvalid {
		t.Errorf("problem %+v", problem)
	}
	w.recorded = nil
	if err := r.renderDesired(t.Context(), w); err != nil {
		t.Errorf("where nothing is installed it is as good as any: %v", err)
	}
}

func TestFailed(t *testing.T) {
	if found := failed(&runtimes.Problem{Reason: v1beta2.ReasonRuntimeConnecting}); !found.gone {
		t.Errorf("the first contact is told as %+v", found)
	}
	found, err := deleting(&passResult{gone: true})
	if err != nil || !found.gone {
		t.Errorf("a stop while deleting: %+v, error %v", found, err)
	}
}

// silent is a Fleet whose clusters do not respond.
type silent struct{ reached }

func (silent) Get(context.Context, Target) (Runtime, error) {
	return nil, &runtimes.Problem{Reason: v1beta2.ReasonRuntimeUnreachable, Message: "no", Retry: time.Second}
}

func TestReconcile_ResetsBackoffForANewSpec(t *testing.T) {
	for name, test := range map[string]struct {
		observed int64
		want     time.Duration
	}{
		"a spec that failed before waits as long as it has earned": {3, 8 * time.Second},
		"a new one begins anew": {2, time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			manifest := newManifest(func(m *v1beta2.Manifest) { m.Status.ObservedGeneration = test.observed })
			r := newReconciler(t, manifest)
			r.Clusters = silent{}
			now := clocktesting.NewFakeClock(testTime.Time)
			r.Backoff = flowcontrol.NewFakeBackOff(time.Second, time.Minute, now)
			key := client.ObjectKeyFromObject(manifest)
			for range 3 {
				now.Step(r.pause(key, passResult{retry: time.Second}))
			}
			result, err := r.Reconcile(t.Context(), ctrl.Request{NamespacedName: key})
			if err != nil || result.RequeueAfter != test.want {
				t.Errorf("looks again after %s (%v), want %s", result.RequeueAfter, err, test.want)
			}
		})
	}
}

func TestPause(t *testing.T) {
	r := newReconciler(t)
	now := clocktesting.NewFakeClock(testTime.Time)
	r.Backoff = flowcontrol.NewFakeBackOff(time.Second, time.Minute, now)
	key := client.ObjectKey{Namespace: "a", Name: "b"}
	var got []time.Duration
	for range 4 {
		pause := r.pause(key, passResult{retry: 2 * time.Second})
		if early := r.pause(key, passResult{retry: 2 * time.Second}); early != pause {
			t.Errorf("an event within the pause makes %s of %s", early, pause)
		}
		got = append(got, pause)
		now.Step(pause)
	}
	if diff := cmp.Diff([]time.Duration{2 * time.Second, 2 * time.Second, 4 * time.Second, 8 * time.Second}, got); diff != "" {
		t.Errorf("the pauses differ (-want +got):\n%s", diff)
	}
	if got := r.pause(key, passResult{}); got != 0 {
		t.Errorf("what is in order is looked at again after %s", got)
	}
	if got := r.pause(key, passResult{retry: time.Second}); got != time.Second {
		t.Errorf("the first failure after that is tried again after %s", got)
	}
}

func TestReconcile_SortsErrors(t *testing.T) {
	resource := schema.GroupResource{Resource: "manifests"}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for name, test := range map[string]struct {
		ctx   context.Context
		err   error
		again time.Duration
		fails bool
	}{
		"an end of the manager is no error":   {ended, context.Canceled, 0, false},
		"a conflict is tried again":           {t.Context(), apierrors.NewConflict(resource, "a", errors.New("newer")), time.Second, false},
		"a Manifest that is gone is no error": {t.Context(), apierrors.NewNotFound(resource, "a"), 0, false},
		"anything else is an error to count":  {t.Context(), errors.New("broken"), 0, true},
	} {
		t.Run(name, func(t *testing.T) {
			r := newReconciler(t)
			r.Client = clientfake.NewClientBuilder().WithScheme(scheme(t)).WithInterceptorFuncs(interceptor.Funcs{
				Get: func(context.Context, client.WithWatch, client.ObjectKey, client.Object, ...client.GetOption) error {
					return test.err
				},
			}).Build()
			result, err := r.Reconcile(test.ctx, ctrl.Request{NamespacedName: client.ObjectKey{Namespace: "a", Name: "b"}})
			if (err != nil) != test.fails || result.RequeueAfter != test.again {
				t.Errorf("result %+v, error %v", result, err)
			}
		})
	}
}

func TestReconcile_IgnoresReleasedManifest(t *testing.T) {
	manifest := newManifest()
	r := newReconciler(t, manifest)
	r.Shard = sharding.All{}
	key := client.ObjectKeyFromObject(manifest)
	r.released.Store(key, manifest.UID)
	if result, err := r.Reconcile(t.Context(), ctrl.Request{NamespacedName: key}); err != nil || result.RequeueAfter != 0 {
		t.Errorf("result %+v, error %v", result, err)
	}
	r.forget(key)
	if _, ok := r.released.Load(key); ok {
		t.Error("it is remembered for ever")
	}
}

func TestStatusWriteContext(t *testing.T) {
	if ctx, cancel := statusWriteContext(t.Context()); ctx != t.Context() {
		cancel()
		t.Error("a pass that has time gets another context")
	}
	late, end := context.WithTimeout(t.Context(), 0)
	defer end()
	ctx, cancel := statusWriteContext(late)
	defer cancel()
	if deadline, ok := ctx.Deadline(); ctx.Err() != nil || !ok || time.Until(deadline) > time.Minute {
		t.Errorf("error %v, deadline %s", ctx.Err(), deadline)
	}
}

// Calls fail in many ways after the shutdown of the manager began, and none of the failures says anything about the module.
func TestReconcile_ReportsNothingWhenCanceled(t *testing.T) {
	for name, test := range map[string]struct {
		ends func(context.Context) (context.Context, context.CancelFunc)
		told v1beta2.State
	}{
		"the manager ends amid a pass": {context.WithCancel, ""},
		"the time of a pass is up": {func(ctx context.Context) (context.Context, context.CancelFunc) {
			return context.WithTimeout(ctx, 0)
		}, v1beta2.StateError},
	} {
		t.Run(name, func(t *testing.T) {
			manifest := newManifest()
			r := newReconciler(t, manifest)
			ctx, cancel := test.ends(t.Context())
			defer cancel()
			r.Content = &contents{interrupt: func() error {
				cancel()
				return &runtimes.Problem{Reason: v1beta2.ReasonRegistryUnreachable, Message: "the login could not be read"}
			}}
			if _, err := r.Reconcile(ctx, ctrl.Request{NamespacedName: client.ObjectKeyFromObject(manifest)}); err != nil {
				t.Fatal(err)
			}
			if state := stored(t, r, manifest).Status.State; state != test.told {
				t.Errorf("the status says %q, want %q", state, test.told)
			}
		})
	}
}
