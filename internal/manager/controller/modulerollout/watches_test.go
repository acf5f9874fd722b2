package modulerollout

import (
	"context"
	"fmt"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/manager/sharding"
	"github.com/kyma-project/lifecycle-manager/internal/module"
)

// enqueued records what handlers enqueue.
type enqueued struct {
	queue
	requests int
}

func (e *enqueued) Add(reconcile.Request)                     { e.requests++ }
func (e *enqueued) AddAfter(reconcile.Request, time.Duration) { e.requests++ }

func newQueue() *enqueued {
	return &enqueued{queue: workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[reconcile.Request]())}
}

// newFleet returns as many Kymas with their Manifests as count says.
func newFleet(count int) []client.Object {
	var objects []client.Object
	for i := range count {
		one := newKyma(fmt.Sprintf("k%d", i), "1.0.0")
		one[0].SetUID(one[0].GetUID() + "-")
		objects = append(objects, one...)
	}
	return objects
}

func TestWatches_AnEventCostsALookAtItsKymaAlone(t *testing.T) {
	s := newStage(t, append(newFleet(30), newPlan(), newRelease("1.0.0"), newTemplate("1.0.0"))...)
	s.run()
	reads, lists := 0, 0
	s.Client = interceptor.NewClient(s.hub.(client.WithWatch), interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, k client.ObjectKey, o client.Object, options ...client.GetOption) error {
			reads++
			return c.Get(ctx, k, o, options...)
		},
		List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
			lists++
			return c.List(ctx, list, options...)
		},
	})
	to := newQueue()
	changed := newKyma("k7", "1.1.0")
	s.ofKyma(changed[0], to)
	s.ofManifest(changed[1], to)
	if to.requests != 1 {
		t.Errorf("%d passes are enqueued for two events", to.requests)
	}
	s.run()
	if reads > 5 || lists > 0 { // rollout, release, template, Kyma and Manifest
		t.Errorf("the pass reads %d objects and lists %d times", reads, lists)
	}
	reads = 0
	s.run()
	if reads > 3 {
		t.Errorf("a pass without an event reads %d objects", reads)
	}
}

func TestWatches_OnlyWhatConcernsARolloutEnqueuesIt(t *testing.T) {
	s := newStage(t, append(newFleet(1), newPlan(), newRelease("1.0.0"), newTemplate("1.0.0"))...)
	foreign := &v1beta2.Kyma{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: "other"}}
	alone := &v1beta2.Manifest{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: "alone"}}
	member := newKyma("k0", "1.0.0")
	to := newQueue()
	s.ofKyma(member[0], to)
	s.ofManifest(member[1], to)
	s.ofTemplate(newTemplate("1.1.0"), to)
	if to.requests != 0 {
		t.Errorf("%d passes are enqueued before the rollout is counted", to.requests)
	}
	s.run()
	s.ofKyma(foreign, to)
	s.ofManifest(alone, to)
	s.ofTemplate(&v1beta2.ModuleTemplate{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: "other-1.0.0"}}, to)
	s.ofKyma(alone, to)
	if to.requests != 0 {
		t.Errorf("%d passes are enqueued by what is no member", to.requests)
	}
	s.ofTemplate(newTemplate("1.1.0"), to)
	if to.requests != 1 {
		t.Errorf("%d passes are enqueued by a template of the module", to.requests)
	}
	without := member[0].DeepCopyObject().(*v1beta2.Kyma)
	without.Spec.Modules = nil
	to.requests = 0
	s.ofKyma(without, to)
	if to.requests != 1 {
		t.Errorf("%d passes are enqueued by a member that gave up the module", to.requests)
	}
}

func TestWatches_EveryKymaConcernsAMandatoryModule(t *testing.T) {
	release := newRelease("1.0.0")
	release.Spec.Channels, release.Spec.Mandatory = nil, &v1beta2.Mandatory{Version: "1.0.0"}
	s := newStage(t, append(newFleet(2), newPlan(), release, newTemplate("1.0.0"))...)
	s.run()
	plan := s.plan()
	if len(plan.Status.Channels) != 1 || plan.Status.Channels[0].Name != "" || plan.Status.Channels[0].Waves[0].Total != 2 {
		t.Fatalf("status: %+v", plan.Status.Channels)
	}
	to := newQueue()
	s.ofKyma(&v1beta2.Kyma{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: "new"}}, to)
	if to.requests != 1 {
		t.Errorf("%d passes are enqueued by a new Kyma", to.requests)
	}
}

func TestWatches_AResyncIsNoEvent(t *testing.T) {
	noted := 0
	handler := noting(func(client.Object, queue) { noted++ })
	before, after := newPlan(), newPlan()
	before.ResourceVersion, after.ResourceVersion = "1", "1"
	handler.Update(t.Context(), event.UpdateEvent{ObjectOld: before, ObjectNew: after}, nil)
	if noted != 0 {
		t.Error("an object that did not change is noted")
	}
	after.ResourceVersion = "2"
	handler.Update(t.Context(), event.UpdateEvent{ObjectOld: before, ObjectNew: after}, nil)
	handler.Create(t.Context(), event.CreateEvent{Object: after}, nil)
	handler.Delete(t.Context(), event.DeleteEvent{Object: after}, nil)
	if noted != 4 {
		t.Errorf("noted %d times", noted)
	}
}

func TestWatches_WhoGetsABucketCountsItsRollouts(t *testing.T) {
	s := newStage(t, newPlan())
	to, moved := newQueue(), sharding.OwnershipChange{}
	s.moved(t.Context(), to, moved)
	if to.requests != 0 {
		t.Error("a rollout that did not move is enqueued")
	}
	moved.Lost[sharding.Bucket(key.Namespace, key.Name)] = true
	s.moved(t.Context(), to, moved)
	if to.requests != 1 {
		t.Errorf("%d passes are enqueued", to.requests)
	}
}

// announced is a policy that can change.
type announced struct{ changed func() }

func (a *announced) Policy() *module.WindowPolicy { return nil }
func (a *announced) OnChange(do func())           { a.changed = do }

func TestWatches_AnotherPolicyEnqueuesWhatIsCounted(t *testing.T) {
	s := newStage(t, newPlan(), newRelease("1.0.0"))
	windows := &announced{}
	s.Windows = windows
	s.run()
	to := newQueue()
	ctx, cancel := context.WithCancel(t.Context())
	if err := s.policyChanged().Start(ctx, to); err != nil {
		t.Fatal(err)
	}
	windows.changed()
	cancel()
	windows.changed()
	if to.requests != 1 {
		t.Errorf("%d passes are enqueued", to.requests)
	}
}

// TestReconcile_LeavesASuspendedRolloutAlone is what an import depends on: the position of a rollout is written after it.
func TestReconcile_LeavesASuspendedRolloutAlone(t *testing.T) {
	plan := newPlan()
	plan.Labels = map[string]string{v1beta2.LabelSkipReconciliation: v1beta2.EnabledValue}
	s := newStage(t, append(newFleet(1), plan, newRelease("1.0.0"), newTemplate("1.0.0"))...)
	if s.run(); s.writes != 0 || s.mark() != "" || len(s.plan().Status.Channels) > 0 {
		t.Errorf("%d writes, mark %q, status %+v", s.writes, s.mark(), s.plan().Status)
	}
	before, now := s.plan(), s.plan()
	now.Labels = nil
	passes := func(old, next client.Object) bool {
		return resumed.Update(event.UpdateEvent{ObjectOld: old, ObjectNew: next})
	}
	if !passes(before, now) || passes(now, before) {
		t.Error("the end of a suspension is an event, its beginning is none")
	}
	if err := s.hub.Update(t.Context(), now); err != nil {
		t.Fatal(err)
	}
	if s.run(); s.mark() == "" || len(s.plan().Status.Channels) == 0 {
		t.Errorf("resumed: mark %q, status %+v", s.mark(), s.plan().Status)
	}
}
