package modulerollout

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	clientfake "sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/manager/sharding"
	"github.com/kyma-project/lifecycle-manager/internal/module"
	"github.com/kyma-project/lifecycle-manager/internal/module/rollout"
)

// published records what the metrics get.
type published struct{ observed, halted, forgotten int }

func (p *published) ObserveRollout(*v1beta2.ModuleRollout) { p.observed++ }
func (p *published) RolloutHalted(string, string)          { p.halted++ }
func (p *published) ForgetRollout(string, string)          { p.forgotten++ }

// undigested knows no component.
type undigested struct{}

func (undigested) Digest(module.ComponentKey) string { return "" }

// elsewhere owns nothing.
type elsewhere struct{ sharding.All }

func (elsewhere) Begin(ctx context.Context, _ int) (context.Context, func(), sharding.Ownership) {
	return ctx, func() {}, sharding.Elsewhere
}

// stage is a hub, and the reconciler of its rollout "eventing".
type stage struct {
	*Reconciler
	t      *testing.T
	hub    client.Client
	events *events.FakeRecorder
	writes int
	told   published
}

var (
	key     = client.ObjectKey{Namespace: "kcp-system", Name: "eventing"}
	inPlace = metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name}
)

func newPlan() *v1beta2.ModuleRollout {
	plan := &v1beta2.ModuleRollout{ObjectMeta: inPlace, Spec: v1beta2.ModuleRolloutSpec{Waves: []v1beta2.RolloutWave{{Name: "all"}}}}
	plan.UID = "uid-of-the-rollout"
	return plan
}

func newRelease(version string) *v1beta2.ModuleReleaseMeta {
	return &v1beta2.ModuleReleaseMeta{ObjectMeta: inPlace, Spec: v1beta2.ModuleReleaseMetaSpec{
		ModuleName: key.Name, OCMComponentName: "example.com/eventing",
		Channels: []v1beta2.ChannelVersion{{Channel: "regular", Version: version}},
	}}
}

// newKyma returns a Kyma that follows channel regular, and its Manifest in a version.
func newKyma(name, version string) []client.Object {
	kyma := &v1beta2.Kyma{
		ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: name, UID: "uid-of-the-kyma"},
		Spec:       v1beta2.KymaSpec{Channel: "regular", Modules: []v1beta2.Module{{Name: key.Name}}},
	}
	manifest := &v1beta2.Manifest{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: key.Namespace, Name: module.ManifestName(name, "example.com/eventing", key.Name), Labels: map[string]string{
				v1beta2.LabelKymaName: name, v1beta2.LabelManagedBy: v1beta2.ManagedByLifecycleManager, v1beta2.LabelModuleName: key.Name,
			},
		},
		Spec: v1beta2.ManifestSpec{Version: version},
	}
	return []client.Object{kyma, manifest}
}

func newTemplate(version string) *v1beta2.ModuleTemplate {
	return &v1beta2.ModuleTemplate{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name + "-" + version}}
}

func newStage(t *testing.T, objects ...client.Object) *stage {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := v1beta2.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	s := &stage{t: t, events: events.NewFakeRecorder(100)}
	s.hub = clientfake.NewClientBuilder().WithScheme(scheme).WithStatusSubresource(&v1beta2.ModuleRollout{}).WithObjects(objects...).
		WithIndex(&v1beta2.Kyma{}, "module", func(o client.Object) []string {
			var names []string
			for _, entry := range o.(*v1beta2.Kyma).Spec.Modules {
				names = append(names, entry.Name)
			}
			return names
		}).
		WithIndex(&v1beta2.Manifest{}, "kyma", func(o client.Object) []string {
			return []string{module.KymaName(o)}
		}).Build()
	counted := interceptor.NewClient(s.hub.(client.WithWatch), interceptor.Funcs{
		Update: func(ctx context.Context, c client.WithWatch, o client.Object, options ...client.UpdateOption) error {
			s.writes++
			return c.Update(ctx, o, options...)
		},
		Patch: func(ctx context.Context, c client.WithWatch, o client.Object, p client.Patch, options ...client.PatchOption) error {
			s.writes++
			return c.Patch(ctx, o, p, options...)
		},
		SubResourceUpdate: func(ctx context.Context, c client.Client, sub string, o client.Object, options ...client.SubResourceUpdateOption) error {
			s.writes++
			return c.SubResource(sub).Update(ctx, o, options...)
		},
	})
	s.Reconciler = &Reconciler{
		Client: counted, Reader: s.hub, Indexes: Indexes{Module: "module", Kyma: "kyma"}, Digests: undigested{}, Events: s.events,
		Metrics: &s.told, Shard: sharding.All{}, Clock: func() (time.Time, time.Duration) { return noon, 0 },
	}
	return s
}

// pass runs one pass, which must succeed.
func (s *stage) run() ctrl.Result {
	s.t.Helper()
	result, err := s.Reconcile(s.t.Context(), ctrl.Request{NamespacedName: key})
	if err != nil {
		s.t.Fatal(err)
	}
	return result
}

// plan returns the rollout, nil when it is gone.
func (s *stage) plan() *v1beta2.ModuleRollout {
	s.t.Helper()
	plan := &v1beta2.ModuleRollout{}
	if err := s.hub.Get(s.t.Context(), key, plan); err != nil {
		if client.IgnoreNotFound(err) != nil {
			s.t.Fatal(err)
		}
		return nil
	}
	return plan
}

func (s *stage) mark() string {
	s.t.Helper()
	release := &v1beta2.ModuleReleaseMeta{}
	if err := s.hub.Get(s.t.Context(), key, release); err != nil {
		s.t.Fatal(err)
	}
	return release.Annotations[v1beta2.AnnotationRollout]
}

// told returns the events so far.
func (s *stage) news() []string {
	var all []string
	for {
		select {
		case text := <-s.events.Events:
			all = append(all, text)
		default:
			return all
		}
	}
}

func TestReconcile_ARolloutIsArmedOnceItsReleaseIsMarked(t *testing.T) {
	s := newStage(t, append(newKyma("k", "1.0.0"), newPlan(), newRelease("1.0.0"), newTemplate("1.0.0"))...)
	s.run()
	plan := s.plan()
	if s.mark() != string(plan.UID) || !slices.Contains(plan.Finalizers, v1beta2.FinalizerRollout) {
		t.Errorf("mark %q and finalizers %v", s.mark(), plan.Finalizers)
	}
	if len(plan.Status.Channels) != 1 || plan.Status.Channels[0].Phase != v1beta2.RolloutCompleted || plan.Status.Phase == "" {
		t.Errorf("a rollout made after the move has not let everyone have the version: %+v", plan.Status)
	}
	s.run()
	if told := strings.Join(s.news(), "\n"); !strings.Contains(told, v1beta2.ReasonArmed) {
		t.Errorf("events: %s", told)
	}
	before := s.writes
	s.run()
	if s.writes != before {
		t.Errorf("a pass with nothing to do writes %d times", s.writes-before)
	}
}

// A channel that moves right after the mark has a version that it came from: otherwise it would look like a rollout made after the move.
func TestReconcile_WhatChannelsOfferIsWrittenBeforeTheMark(t *testing.T) {
	s := newStage(t, append(newKyma("k", "1.0.0"), newPlan(), newRelease("1.0.0"), newTemplate("1.0.0"))...)
	hub, marks := s.hub.(client.WithWatch), 0
	s.Client = interceptor.NewClient(hub, interceptor.Funcs{
		Update: func(ctx context.Context, c client.WithWatch, o client.Object, options ...client.UpdateOption) error {
			if _, release := o.(*v1beta2.ModuleReleaseMeta); release {
				marks++
				if channels := s.plan().Status.Channels; len(channels) != 1 || channels[0].To.Version != "1.0.0" {
					t.Errorf("the release is marked, and the status has %+v", channels)
				}
			}
			return c.Update(ctx, o, options...)
		},
	})
	s.run()
	s.run()
	if marks != 1 {
		t.Errorf("the release was marked %d times", marks)
	}
}

func TestReconcile_ARolloutThatIsDeletedHoldsWhatIsUndecided(t *testing.T) {
	s := newStage(t, append(newKyma("k", "1.0.0"), newPlan(), newRelease("1.0.0"), newTemplate("1.0.0"), newTemplate("1.1.0"))...)
	s.run()
	release := &v1beta2.ModuleReleaseMeta{}
	if err := s.hub.Get(t.Context(), key, release); err != nil {
		t.Fatal(err)
	}
	release.Spec.Channels[0].Version = "1.1.0"
	if err := s.hub.Update(t.Context(), release); err != nil {
		t.Fatal(err)
	}
	if err := s.hub.Delete(t.Context(), s.plan()); err != nil {
		t.Fatal(err)
	}
	s.run()
	if s.plan() == nil || s.mark() == "" {
		t.Fatal("the rollout is gone while a version is undecided: every Kyma would get it")
	}
	if err := s.hub.Get(t.Context(), key, release); err != nil {
		t.Fatal(err)
	}
	release.Spec.Channels[0].Version = "1.0.0"
	if err := s.hub.Update(t.Context(), release); err != nil {
		t.Fatal(err)
	}
	s.run()
	s.run()
	if s.plan() != nil || s.mark() != "" {
		t.Error("the rollout stays although its channel was set back")
	}
	s.run()
	if s.told.forgotten != 1 {
		t.Errorf("forgotten %d times", s.told.forgotten)
	}
}

func TestReconcile_ARolloutWithoutAReleaseGoesAtOnce(t *testing.T) {
	s := newStage(t, newPlan())
	s.run()
	if armed := s.plan().Status.Conditions; len(armed) == 0 {
		t.Error("nothing says that there is no release")
	}
	if err := s.hub.Delete(t.Context(), s.plan()); err != nil {
		t.Fatal(err)
	}
	s.run()
	if s.plan() != nil {
		t.Error("it stays")
	}
}

func TestReconcile_AMarkOfARolloutThatIsGoneIsTold(t *testing.T) {
	release := newRelease("1.0.0")
	release.Annotations = map[string]string{v1beta2.AnnotationRollout: "uid-of-another"}
	s := newStage(t, release)
	s.run()
	if told := strings.Join(s.news(), "\n"); !strings.Contains(told, "create it again") {
		t.Errorf("events: %s", told)
	}
	if s.mark() == "" {
		t.Error("the mark is removed: every Kyma would get what the channel names")
	}
}

func TestReconcile_AnotherReplicaDoesTheWork(t *testing.T) {
	s := newStage(t, newPlan(), newRelease("1.0.0"))
	s.Shard = elsewhere{}
	s.run()
	if s.writes != 0 || s.mark() != "" {
		t.Error("it writes")
	}
	s.Shard = sharding.All{}
	s.run()
	s.Shard = elsewhere{}
	s.run()
	if s.told.forgotten != 1 || s.counts.get(key) != nil {
		t.Error("what was counted is not forgotten")
	}
}

func TestReconcile_OneThatIsAdmittedAndDoesNotBeginFails(t *testing.T) {
	kyma := newKyma("k", "1.0.0")
	kyma[1].(*v1beta2.Manifest).Status.State = v1beta2.StateReady
	s := newStage(t, append(kyma, newPlan(), newRelease("1.0.0"), newTemplate("1.0.0"), newTemplate("1.1.0"))...)
	now := noon
	s.Clock = func() (time.Time, time.Duration) { return now, now.Sub(noon) }
	s.run()
	release := newRelease("1.1.0")
	release.Annotations = map[string]string{v1beta2.AnnotationRollout: s.mark()}
	if err := s.hub.Patch(t.Context(), release, client.Merge); err != nil {
		t.Fatal(err)
	}
	if result := s.run(); result.RequeueAfter != 5*time.Minute {
		t.Errorf("the next look is after %v", result.RequeueAfter)
	}
	now = noon.Add(30 * time.Minute)
	s.run()
	channel := s.plan().Status.Channels[0]
	if channel.Phase != v1beta2.RolloutHalted || len(channel.Worst) != 1 || channel.Worst[0].Reason != v1beta2.ReasonNotBegun {
		t.Errorf("got %+v", channel)
	}
}

func TestReconcile_SortsErrors(t *testing.T) {
	s := newStage(t, newPlan(), newRelease("1.0.0"))
	failure := errors.New("broken")
	s.Client = interceptor.NewClient(s.hub.(client.WithWatch), interceptor.Funcs{
		List: func(context.Context, client.WithWatch, client.ObjectList, ...client.ListOption) error { return failure },
	})
	if _, err := s.Reconcile(t.Context(), ctrl.Request{NamespacedName: key}); !errors.Is(err, failure) {
		t.Errorf("an error is kept back: %v", err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Reconcile(ended, ctrl.Request{NamespacedName: key}); err != nil {
		t.Errorf("the end of the manager is an error: %v", err)
	}
}

func TestDeparted_OnlyTheAPIServerTellsWhoHasLeft(t *testing.T) {
	kyma, manifest := newKyma("k", "1.0.0")[0], newKyma("k", "1.0.0")[1]
	s := newStage(t, kyma, manifest, newTemplate("1.0.0"))
	w := &inputs{rollout: newPlan(), release: newRelease("1.0.0"), now: noon}
	if err := s.readTargets(t.Context(), w); err != nil {
		t.Fatal(err)
	}
	there, gone := string(kyma.GetUID())[:13], "0123456789abc"
	got, err := s.departed(t.Context(), w, "regular", []string{there, gone})
	if err != nil || !slices.Equal(got, []string{gone}) {
		t.Errorf("gone: %v, %v", got, err)
	}
	got, err = s.departed(t.Context(), w, "fast", []string{there})
	if err != nil || !slices.Equal(got, []string{there}) {
		t.Errorf("gone from another channel: %v, %v", got, err)
	}
}

func TestMembers_WindowsAreComputedOncePerGroup(t *testing.T) {
	s := newStage(t)
	s.Windows = policy{&module.WindowPolicy{Default: []module.Window{{Begin: noon.Add(time.Hour), End: noon.Add(2 * time.Hour)}}}}
	known := s.counts.of(key)
	known.keep("waits", &record{channel: "regular", windowed: true})
	known.keep("free", &record{channel: "regular"})
	members, opens := s.members(&inputs{now: noon}, known)
	held := map[string]int{}
	for _, member := range members["regular"] {
		held[member.Held]++
	}
	if held[rollout.HeldByWindow] != 1 || held[""] != 1 || !opens.Equal(noon.Add(time.Hour)) {
		t.Errorf("held %v, the window opens at %v", held, opens)
	}
	members, opens = s.members(&inputs{now: noon.Add(time.Hour)}, known)
	if members["regular"][0].Held+members["regular"][1].Held != "" || !opens.IsZero() {
		t.Errorf("in the window: %+v, %v", members, opens)
	}
	s.Windows = nil
	members, _ = s.members(&inputs{now: noon}, known)
	if held := members["regular"][0].Held + members["regular"][1].Held; held != rollout.HeldByRefusal {
		t.Errorf("without a policy: %q", held)
	}
}

type policy struct{ of *module.WindowPolicy }

func (p policy) Policy() *module.WindowPolicy { return p.of }
func (p policy) OnChange(func())              {}
