package testkit

import (
	"bytes"
	"strconv"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/pkg/conditions"
)

// recorded writes a history of statuses in the order in which the two streams of a Watch deliver it. Each entry gets the next revision.
type recorded struct {
	t        *testing.T
	watch    *Watch
	revision int
}

func record(t *testing.T) *recorded {
	t.Helper()
	return &recorded{t: t, watch: &Watch{out: &bytes.Buffer{}, last: map[types.UID]subject{}}, revision: 100}
}

func (r *recorded) write(objects ...client.Object) {
	for _, object := range objects {
		r.revision++
		object.SetResourceVersion(strconv.Itoa(r.revision))
		r.watch.record(object)
	}
}

// moment is the time of everything that is written here.
var moment = metav1.NewTime(time.Unix(1000, 0))

// kymaAt returns a Kyma with one status that requests the modules asked; seen are those that were merged with the runtime's request.
func kymaAt(generation, observed int64, state v1beta2.State, asked, seen []v1beta2.Module, modules ...v1beta2.ModuleStatus) *v1beta2.Kyma {
	kyma := &v1beta2.Kyma{ObjectMeta: metav1.ObjectMeta{Namespace: "kcp-system", Name: "alice", UID: "k", Generation: generation}}
	kyma.Spec = v1beta2.KymaSpec{Channel: "regular", Modules: asked}
	last := v1beta2.SeenSpec{Channel: "regular"}
	for _, one := range seen {
		last.Modules = append(last.Modules, v1beta2.SeenModule{Name: one.Name, Channel: one.Channel, Version: one.Version, Managed: one.Managed,
			CustomResourcePolicy: v1beta2.CustomResourcePolicyCreateAndDelete})
	}
	kyma.Status = v1beta2.KymaStatus{
		State: state, ObservedGeneration: observed, Modules: modules, LastSeen: &v1beta2.LastSeen{Hub: &last, Runtime: last.DeepCopy()},
	}
	status := metav1.ConditionFalse
	if state == v1beta2.StateReady {
		status = metav1.ConditionTrue
	}
	conditions.Set(&kyma.Status.Conditions, v1beta2.ConditionReady, status, "Because", "", observed, moment)
	return kyma
}

// manifestAt returns the Manifest of a module of that Kyma.
func manifestAt(module string, generation, observed int64, state v1beta2.State, hashes ...string) *v1beta2.Manifest {
	manifest := &v1beta2.Manifest{ObjectMeta: metav1.ObjectMeta{
		Namespace: "kcp-system", Name: "alice-" + module, UID: types.UID(module), Generation: generation,
	}}
	manifest.Status = v1beta2.ManifestStatus{State: state, ObservedGeneration: observed}
	for _, hash := range hashes {
		manifest.Status.Synced = append(manifest.Status.Synced, v1beta2.Resource{Kind: "ConfigMap", Namespace: "default", Name: module, Hash: hash})
	}
	status := metav1.ConditionFalse
	if state == v1beta2.StateReady {
		status = metav1.ConditionTrue
	}
	conditions.Set(&manifest.Status.Conditions, v1beta2.ConditionReady, status, "Because", "", observed, moment)
	return manifest
}

// entry returns a module of a Kyma's status, by a generation of its Manifest.
func entry(module, version string, state v1beta2.State, generation int64) v1beta2.ModuleStatus {
	return v1beta2.ModuleStatus{Name: module, Channel: "regular", Version: version, State: state, Manifest: &v1beta2.TrackingObject{
		PartialMeta: v1beta2.PartialMeta{Namespace: "kcp-system", Name: "alice-" + module, Generation: generation},
	}}
}

const (
	ready      = v1beta2.StateReady
	processing = v1beta2.StateProcessing
)

func TestWatch_FindsSeededLies(t *testing.T) {
	one, two, none := []v1beta2.Module{{Name: "a"}}, []v1beta2.Module{{Name: "a"}, {Name: "b"}}, []v1beta2.Module(nil)
	pinned, no := []v1beta2.Module{{Name: "a", Version: "2.0.0"}}, false
	letGo := []v1beta2.Module{{Name: "a", Managed: &no}}
	running := func(r *recorded) { // module a of generation 1 runs
		r.write(kymaAt(1, 0, "", one, none), manifestAt("a", 1, 0, ""))
		r.write(kymaAt(1, 1, processing, one, one, entry("a", "1.0.0", processing, 1)), manifestAt("a", 1, 1, processing, ""))
		r.write(manifestAt("a", 1, 1, ready, "h"), kymaAt(1, 1, ready, one, one, entry("a", "1.0.0", ready, 1)))
	}
	for name, c := range map[string]struct {
		history func(*recorded)
		want    string // part of the one violation; "" for none
	}{
		"a module that becomes ready, and one more after it": {func(r *recorded) {
			r.write(kymaAt(2, 1, ready, two, one, entry("a", "1.0.0", ready, 1)))
			r.write(kymaAt(2, 2, processing, two, two, entry("a", "1.0.0", ready, 1), entry("b", "1.0.0", processing, 0)))
			r.write(manifestAt("b", 1, 0, ""), manifestAt("b", 1, 1, ready, "h"))
			r.write(kymaAt(2, 2, ready, two, two, entry("a", "1.0.0", ready, 1), entry("b", "1.0.0", ready, 1)))
		}, ""},
		"Ready for a generation that was not merged, as after a restart": {func(r *recorded) {
			r.write(kymaAt(2, 1, ready, two, one, entry("a", "1.0.0", ready, 1)))
			r.write(kymaAt(2, 2, ready, two, one, entry("a", "1.0.0", ready, 1)))
		}, "generation 2 was not merged"},
		"a module of the spec that is missing in the status": {func(r *recorded) {
			r.write(kymaAt(2, 2, ready, two, two, entry("a", "1.0.0", ready, 1)))
		}, "module b is asked for and not in the status"},
		"a module that is no longer requested, and still exists": {func(r *recorded) {
			r.write(kymaAt(2, 2, ready, none, none, entry("a", "1.0.0", ready, 1)))
		}, "nothing asks for module a"},
		"a version other than the pinned one": {func(r *recorded) {
			r.write(kymaAt(2, 2, ready, pinned, pinned, entry("a", "1.0.0", ready, 1)))
		}, "version 1.0.0, 2.0.0 is asked for"},
		"the old version while the new one waits for its window": {func(r *recorded) {
			waits := entry("a", "1.0.0", ready, 1)
			waits.Maintenance = true
			r.write(kymaAt(2, 2, ready, pinned, pinned, waits))
		}, ""},
		"the old version while the new one waits for consent": {func(r *recorded) {
			waits := entry("a", "1.0.0", ready, 1)
			waits.Pending = &v1beta2.PendingVersion{Version: "2.0.0"}
			r.write(kymaAt(2, 2, ready, pinned, pinned, waits))
		}, ""},
		"a channel other than the requested one": {func(r *recorded) {
			strays := entry("a", "1.0.0", ready, 1)
			strays.Channel = "fast"
			r.write(kymaAt(2, 2, ready, one, one, strays))
		}, `follows channel "fast", "regular" is asked for`},
		"a channel although the Kyma names a release": {func(r *recorded) {
			follows := kymaAt(2, 2, ready, one, one, entry("a", "1.0.0", ready, 1))
			follows.Spec.Release = "2.2"
			r.write(follows)
		}, `follows channel "regular", "" is asked for`},
		"an unmanaged module that is still reported as managed": {func(r *recorded) {
			r.write(kymaAt(2, 2, ready, letGo, letGo, entry("a", "1.0.0", ready, 1)))
		}, "module a is Ready, managed: false is asked for"},
		"a module by a generation of its Manifest that was never Ready": {func(r *recorded) {
			r.write(manifestAt("a", 2, 1, ready, "h"), manifestAt("a", 2, 2, processing, ""))
			r.write(kymaAt(1, 1, ready, one, one, entry("a", "1.0.0", ready, 2)))
			r.write(manifestAt("a", 2, 2, ready, "h")) // too late: it was claimed before
		}, "by generation 2 of Manifest kcp-system/alice-a, which never said so"},
		"a Manifest whose stream is late": {func(r *recorded) {
			r.revision += 2
			r.write(kymaAt(1, 1, ready, one, one, entry("a", "1.0.0", ready, 2)))
			r.revision -= 3
			r.write(manifestAt("a", 2, 2, ready, "h"))
			r.revision += 10
			r.write(manifestAt("other", 1, 0, ""))
		}, ""},
		"a Manifest with an object that is not applied": {func(r *recorded) {
			r.write(manifestAt("a", 2, 2, ready, "h", ""))
		}, "ConfigMap default/a is not applied"},
		"a condition for an earlier generation than the status": {func(r *recorded) {
			stale := manifestAt("a", 2, 2, ready, "h")
			stale.Status.Conditions[0].ObservedGeneration = 1
			r.write(stale)
		}, "condition Ready speaks of generation 1, and the status of 2"},
		"Ready while it is being deleted": {func(r *recorded) {
			going := kymaAt(2, 2, ready, one, one, entry("a", "2.0.0", ready, 1))
			going.DeletionTimestamp = &moment
			r.write(going)
		}, "it is being deleted"},
		"a label that changes the effective spec, before a status for it was written": {func(r *recorded) {
			relabelled := kymaAt(1, 1, ready, one, one, entry("a", "1.0.0", ready, 1))
			relabelled.Labels, relabelled.Status.LastSeen.Runtime = map[string]string{v1beta2.LabelSync: "false"}, nil
			relabelled.Spec.Modules = two
			r.write(relabelled)
		}, ""},
		"a status that upstream wrote": {func(r *recorded) {
			theirs := kymaAt(2, 0, ready, two, none, entry("a", "1.0.0", ready, 7))
			theirs.Status.Conditions = []metav1.Condition{{Type: v1beta2.ConditionModules, Status: metav1.ConditionTrue}}
			r.write(theirs)
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			r := record(t)
			running(r)
			if broken := r.watch.Violations(); len(broken) > 0 {
				t.Fatalf("what ran before is no lie: %q", broken)
			}
			c.history(r)
			got := r.watch.Violations()
			if c.want == "" && len(got) == 0 {
				return
			}
			if c.want == "" || len(got) != 1 || !strings.Contains(got[0], c.want) {
				t.Errorf("violations are %q, want one with %q", got, c.want)
			}
		})
	}
}
