package kyma

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	clientfake "sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/module"
	"github.com/kyma-project/lifecycle-manager/internal/module/rollout"
)

const uidOfRollout = "5b1f9d62-7c0e-4f7f-9c59-1d2e3f4a5b6c"

func uidOf(number int) string { return fmt.Sprintf("%08x-91c5-4d5e-8a7b-3f0f5f6d7a01", number) }

// atVersion returns a Kyma that follows channel regular and has a version of the module eventing.
func atVersion(number int, name, version, ring string) *v1beta2.Kyma {
	kyma := kymaWith(name, []string{"eventing"}, []string{"eventing"})
	kyma.UID, kyma.Labels = types.UID(uidOf(number)), map[string]string{"ring": ring}
	kyma.Spec.Channel = "regular"
	kyma.Status.Modules[0].Version = version
	return kyma
}

func markedRelease() *v1beta2.ModuleReleaseMeta {
	release := &v1beta2.ModuleReleaseMeta{ObjectMeta: named("eventing")}
	release.Annotations = map[string]string{v1beta2.AnnotationRollout: uidOfRollout}
	release.Spec.Channels = []v1beta2.ChannelVersion{{Channel: "regular", Version: "2.0.0"}}
	return release
}

func newRollout(edit func(*v1beta2.ModuleRollout, *v1beta2.RolloutChannel)) *v1beta2.ModuleRollout {
	made := &v1beta2.ModuleRollout{ObjectMeta: named("eventing"), Spec: v1beta2.ModuleRolloutSpec{Waves: []v1beta2.RolloutWave{
		{Name: "canary", Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"ring": "canary"}}, MaxConcurrent: 1}, {Name: "rest"},
	}}}
	made.UID = uidOfRollout
	made.Status.Channels = []v1beta2.RolloutChannel{{
		Name: "regular", From: v1beta2.RolloutVersion{Version: "1.0.0"}, To: v1beta2.RolloutVersion{Version: "2.0.0"},
		Phase: v1beta2.RolloutProgressing, Wave: "canary",
		Waves: []v1beta2.RolloutWaveStatus{{Name: "canary", Since: metav1.NewTime(time.Unix(1, 0))}, {Name: "rest"}, {Name: "others"}},
	}}
	edit(made, &made.Status.Channels[0])
	return made
}

func unchanged(*v1beta2.ModuleRollout, *v1beta2.RolloutChannel) {}

// cached returns a Reconciler whose cache has the objects.
func cached(t *testing.T, objects ...client.Object) *Reconciler {
	t.Helper()
	return &Reconciler{Rollouts: true, Client: clientfake.NewClientBuilder().WithScheme(scheme(t)).WithObjects(objects...).
		WithStatusSubresource().WithIndex(&v1beta2.Kyma{}, indexModule, func(o client.Object) []string {
		return slices.Collect(maps.Keys(versionsByModule(&module.Snapshot{Kyma: o.(*v1beta2.Kyma)})))
	}).Build()}
}

func TestAwaited_WakesThoseThatGetSomethingElse(t *testing.T) {
	pinned := atVersion(7, "pinned", "1.0.0", "rest")
	pinned.Spec.Modules[0].Version = "1.0.0"
	elsewhere := atVersion(8, "elsewhere", "1.0.0", "rest")
	elsewhere.Spec.Channel = "fast"
	fleet := []client.Object{
		atVersion(1, "canary", "1.0.0", "canary"), atVersion(2, "canary-too", "1.0.0", "canary"), atVersion(3, "ready", "2.0.0", "canary"),
		atVersion(4, "rest", "1.0.0", "rest"), atVersion(5, "rest-too", "1.0.0", "rest"), pinned, elsewhere,
		kymaWith("other", []string{"other"}, nil),
	}
	type queue = workqueue.TypedRateLimitingInterface[reconcile.Request]
	for name, test := range map[string]struct {
		before, now *v1beta2.ModuleRollout
		want        []string
	}{
		"a place wakes its Kyma": {newRollout(unchanged), newRollout(func(_ *v1beta2.ModuleRollout, c *v1beta2.RolloutChannel) {
			c.Underway = []string{rollout.Prefix(uidOf(2))}
		}), []string{"canary-too"}},
		"counts and messages wake no one": {newRollout(unchanged), newRollout(func(r *v1beta2.ModuleRollout, c *v1beta2.RolloutChannel) {
			c.Waves[0].Ready, c.Message, r.Status.Summary = 2, "so far", "so far"
		}), nil},
		"a place that is given back wakes no one": {newRollout(func(_ *v1beta2.ModuleRollout, c *v1beta2.RolloutChannel) {
			c.Underway = []string{rollout.Prefix(uidOf(2))}
		}), newRollout(unchanged), nil},
		"a wave that is open wakes its Kymas": {newRollout(unchanged), newRollout(func(_ *v1beta2.ModuleRollout, c *v1beta2.RolloutChannel) {
			c.Wave, c.Open, c.Waves[1].Since = "rest", true, metav1.NewTime(time.Unix(2, 0))
		}), []string{"rest", "rest-too"}},
		"a halt wakes no one": {newRollout(unchanged), newRollout(func(_ *v1beta2.ModuleRollout, c *v1beta2.RolloutChannel) {
			c.Phase = v1beta2.RolloutHalted
		}), nil},
		"the way back wakes those that go": {newRollout(func(_ *v1beta2.ModuleRollout, c *v1beta2.RolloutChannel) {
			c.Phase = v1beta2.RolloutRollingBack
		}), newRollout(func(_ *v1beta2.ModuleRollout, c *v1beta2.RolloutChannel) {
			c.Phase, c.Back = v1beta2.RolloutRollingBack, []string{rollout.Prefix(uidOf(3))}
		}), []string{"ready"}},
		"the end wakes those that still wait": {newRollout(unchanged), newRollout(func(_ *v1beta2.ModuleRollout, c *v1beta2.RolloutChannel) {
			c.Phase, c.Wave = v1beta2.RolloutCompleted, ""
		}), []string{"canary", "canary-too", "rest", "rest-too"}},
		"an abort wakes all that follow the channel": {newRollout(unchanged), newRollout(func(r *v1beta2.ModuleRollout, _ *v1beta2.RolloutChannel) {
			r.Spec.Decision = &v1beta2.RolloutDecision{Action: v1beta2.RolloutAbort, Target: "2.0.0"}
		}), []string{"canary", "canary-too", "ready", "rest", "rest-too"}},
		"one that comes wakes those that wait for it": {nil, newRollout(unchanged), []string{"canary", "canary-too", "rest", "rest-too"}},
		"one that goes wakes those that waited":       {newRollout(unchanged), nil, []string{"canary", "canary-too", "rest", "rest-too"}},
	} {
		t.Run(name, func(t *testing.T) {
			handler := cached(t, append(fleet, markedRelease())...).rolloutEvents(0)
			got := drained(t, func(q queue) {
				switch {
				case test.before == nil:
					handler.Create(t.Context(), event.CreateEvent{Object: test.now}, q)
				case test.now == nil:
					handler.Delete(t.Context(), event.DeleteEvent{Object: test.before}, q)
				default:
					handler.Update(t.Context(), event.UpdateEvent{ObjectOld: test.before, ObjectNew: test.now}, q)
				}
			})
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("woken differently (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAwaited_WakesNoneWithoutAMark(t *testing.T) {
	type queue = workqueue.TypedRateLimitingInterface[reconcile.Request]
	plain := markedRelease()
	plain.Annotations = nil
	for name, objects := range map[string][]client.Object{
		"the release is not marked":  {atVersion(1, "canary", "1.0.0", "canary"), plain},
		"there is no release":        {atVersion(1, "canary", "1.0.0", "canary")},
		"the Kymas live elsewhere":   {markedRelease()},
		"it is there from the start": {atVersion(1, "canary", "1.0.0", "canary"), markedRelease()},
	} {
		t.Run(name, func(t *testing.T) {
			got := drained(t, func(q queue) {
				cached(t, objects...).rolloutEvents(0).Create(t.Context(), event.CreateEvent{Object: newRollout(unchanged),
					IsInInitialList: name == "it is there from the start"}, q)
			})
			if len(got) > 0 {
				t.Errorf("woken: %v", got)
			}
		})
	}
}

func TestAwaited_WakesAllForAMandatoryModule(t *testing.T) {
	type queue = workqueue.TypedRateLimitingInterface[reconcile.Request]
	release := markedRelease()
	release.Spec.Channels, release.Spec.Mandatory = nil, &v1beta2.Mandatory{Version: "2.0.0"}
	mandatory := func(wave string, open bool) *v1beta2.ModuleRollout {
		return newRollout(func(_ *v1beta2.ModuleRollout, c *v1beta2.RolloutChannel) {
			c.Name, c.Wave, c.Open, c.Waves[1].Since = "", wave, open, metav1.NewTime(time.Unix(2, 0))
		})
	}
	kymas := []client.Object{kymaWith("one", nil, nil), atVersion(2, "canary", "1.0.0", "canary"), release}
	got := drained(t, func(q queue) {
		cached(t, kymas...).rolloutEvents(0).Update(t.Context(), event.UpdateEvent{ObjectOld: mandatory("canary", false), ObjectNew: mandatory("rest", true)}, q)
	})
	if diff := cmp.Diff([]string{"canary", "one"}, got); diff != "" {
		t.Errorf("woken differently (-want +got):\n%s", diff)
	}
}

func TestAwaited_ManyComeLater(t *testing.T) {
	type queue = workqueue.TypedRateLimitingInterface[reconcile.Request]
	objects := []client.Object{markedRelease()}
	for number := range few + 1 {
		objects = append(objects, atVersion(number, fmt.Sprintf("kyma-%d", number), "1.0.0", "rest"))
	}
	open := newRollout(func(_ *v1beta2.ModuleRollout, c *v1beta2.RolloutChannel) {
		c.Wave, c.Open, c.Waves[1].Since = "rest", true, metav1.NewTime(time.Unix(2, 0))
	})
	r := cached(t, objects...)
	change := event.UpdateEvent{ObjectOld: newRollout(unchanged), ObjectNew: open}
	if got := drained(t, func(q queue) { r.rolloutEvents(0).Update(t.Context(), change, q) }); len(got) != few+1 {
		t.Errorf("%d are woken", len(got))
	}
	if got := drained(t, func(q queue) { r.rolloutEvents(time.Hour).Update(t.Context(), change, q) }); len(got) > few/10 {
		t.Errorf("%d are woken at once, though they must be spread over an hour", len(got))
	}
}

func TestMarkChanged_PassesAnotherMark(t *testing.T) {
	plain, other := markedRelease(), markedRelease()
	plain.Annotations = map[string]string{"a": "b"}
	other.Annotations[v1beta2.AnnotationRollout] = "another"
	for name, test := range map[string]struct {
		before, now *v1beta2.ModuleReleaseMeta
		want        bool
	}{
		"the mark is set":      {plain, markedRelease(), true},
		"the mark is taken":    {markedRelease(), plain, true},
		"another mark":         {markedRelease(), other, true},
		"another annotation":   {plain, &v1beta2.ModuleReleaseMeta{}, false},
		"nothing of the marks": {markedRelease(), markedRelease(), false},
	} {
		if got := markChanged.Update(event.UpdateEvent{ObjectOld: test.before, ObjectNew: test.now}); got != test.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

func TestCatalog_ReadsTheRolloutsOfMarkedReleases(t *testing.T) {
	template := func(version string) *v1beta2.ModuleTemplate {
		return &v1beta2.ModuleTemplate{ObjectMeta: named("eventing-" + version)}
	}
	plain := markedRelease()
	plain.Annotations = nil
	for name, test := range map[string]struct {
		objects  []client.Object
		rollouts bool
		want     []string // templates
		read     int      // rollouts
	}{
		"a marked release":                   {[]client.Object{markedRelease(), newRollout(unchanged)}, true, []string{"eventing-1.0.0", "eventing-2.0.0"}, 1},
		"a release without the mark":         {[]client.Object{plain, newRollout(unchanged)}, true, []string{"eventing-1.0.0", "eventing-2.0.0"}, 1},
		"a marked release without a rollout": {[]client.Object{markedRelease()}, true, []string{"eventing-2.0.0"}, 0},
		"a hub without the kind":             {[]client.Object{markedRelease(), newRollout(unchanged)}, false, []string{"eventing-2.0.0"}, 0},
		"a rollout without a version before": {[]client.Object{markedRelease(), newRollout(func(_ *v1beta2.ModuleRollout, c *v1beta2.RolloutChannel) {
			c.From.Version = ""
		})}, true, []string{"eventing-2.0.0"}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			r := cached(t, append(test.objects, template("1.0.0"), template("2.0.0"))...)
			r.Rollouts = test.rollouts
			world := module.Snapshot{
				Kyma: kymaWith("kyma", []string{"eventing"}, nil), Releases: map[string]*v1beta2.ModuleReleaseMeta{},
				Templates: map[string]*v1beta2.ModuleTemplate{}, Rollouts: map[string]*v1beta2.ModuleRollout{},
			}
			if err := r.catalog(t.Context(), &world); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, slices.Sorted(maps.Keys(world.Templates))); diff != "" || len(world.Rollouts) != test.read {
				t.Errorf("%d rollouts; templates (-want +got):\n%s", len(world.Rollouts), diff)
			}
		})
	}
}
