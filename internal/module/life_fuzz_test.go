package module

import (
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/pkg/moduleversion"
)

// tape is a source of random numbers that a fuzzer provides: one byte for each number, then numbers that are seeded with the length.
type tape struct {
	bytes []byte
	after *rand.PCG
}

func (s *tape) Uint64() uint64 {
	if len(s.bytes) == 0 {
		return s.after.Uint64()
	}
	value := uint64(s.bytes[0]) * 0x0101010101010101
	s.bytes = s.bytes[1:]
	return value
}

// life is a Kyma to which users, registries and controllers make changes in any order.
type life struct {
	dice
	t *testing.T
	w Snapshot
}

// A user makes one of several typical changes.
func (l *life) someone() {
	l.w = carryOut(l.w, Plan{})
	name := l.one(letters...)
	switch l.IntN(8) {
	case 0:
		l.w.Kyma.Spec.Channel = l.one("regular", "fast", "none")
	case 1:
		l.w.Kyma.Labels = map[string]string{l.one(v1beta2.LabelBeta, v1beta2.LabelInternal): l.one("true", "")}
	case 2:
		l.released(name)
		return
	case 3:
		l.kubectl()
		return
	case 4:
		l.rolled(name)
		return
	default:
		modules := &l.w.Kyma.Spec.Modules
		at := slices.IndexFunc(*modules, func(m v1beta2.Module) bool { return m.Name == name })
		switch {
		case at < 0:
			*modules = append(*modules, l.module(name))
		case l.rarely(2):
			*modules = slices.Delete(*modules, at, at+1)
		default:
			(*modules)[at] = l.module(name)
		}
	}
	l.w.Kyma.Generation++
}

// released changes the version of a channel, or deletes or recreates a release.
func (l *life) released(name string) {
	release := l.w.Releases[name]
	switch {
	case release == nil:
		l.w.Releases[name] = newRelease(name, "regular", l.version(), "fast", l.version())
	case release.Spec.Mandatory != nil || len(release.Spec.Channels) == 0:
	case l.rarely(5):
		delete(l.w.Releases, name)
	default:
		release.Spec.Channels[l.IntN(len(release.Spec.Channels))].Version = l.version()
	}
}

// rolled changes how far the rollouts of a release are, takes its mark away, or makes its rollout unknown.
func (l *life) rolled(name string) {
	release := l.w.Releases[name]
	l.w.Rollouts = maps.Clone(l.w.Rollouts)
	delete(l.w.Rollouts, name)
	if release == nil {
		return
	}
	release.Annotations = nil
	l.rollsOut(&l.w, release)
}

// kubectl deletes a Manifest, or makes an edit that must be reverted.
func (l *life) kubectl() {
	if len(l.w.Manifests) == 0 {
		return
	}
	if m := &l.w.Manifests[l.IntN(len(l.w.Manifests))]; l.rarely(2) && !terminating(m) {
		dying(m)
	} else {
		m.Spec.Install.Source.Raw = []byte(`{"type":"oci-ref"}`)
		m.Generation++
	}
}

// works does one step of the Manifest controller with one Manifest, and reports whether there was one to do.
func (l *life) works() bool {
	for _, at := range l.Perm(len(l.w.Manifests)) {
		m := &l.w.Manifests[at]
		switch {
		case terminating(m):
			l.w = carryOut(l.w, Plan{})
			l.w.Manifests = slices.Delete(l.w.Manifests, at, at+1)
			return true
		case leaving(m):
			l.w = carryOut(l.w, Plan{})
			dying(&l.w.Manifests[at])
			return true
		case m.Status.State != v1beta2.StateReady || m.Status.ObservedGeneration != m.Generation:
			l.w = carryOut(l.w, Plan{})
			makeReady(&l.w.Manifests[at])
			return true
		}
	}
	return false
}

// pass does one pass of the Kyma controller, checks its invariants, and returns its plan.
func (l *life) pass(interrupted bool) Plan {
	verdicts := Resolve(l.w)
	if again := Resolve(l.w); !reflect.DeepEqual(verdicts, again) {
		l.t.Errorf("another time, another verdict:\n%s", cmp.Diff(verdicts, again))
	}
	order := func(a, b Verdict) int { return strings.Compare(a.Module, b.Module) }
	if !slices.IsSortedFunc(verdicts, order) {
		l.t.Error("the verdicts are not sorted")
	}
	plan := MakePlan(l.w, verdicts)
	l.nothingDeletedByRefusal(verdicts, plan)
	l.nothingLowered(plan)
	neverEarly(l.t, l.w, verdicts)
	neverDown(l.t, verdicts, plan)
	after := carryOut(l.w, plan)
	if !interrupted {
		after.Kyma.Status = Rollup(l.w, verdicts, nil)
	}
	l.w = after
	return plan
}

func (l *life) nothingDeletedByRefusal(verdicts []Verdict, plan Plan) {
	for i := range plan.Delete {
		doomed := &plan.Delete[i]
		if terminating(doomed) {
			l.t.Errorf("%s is deleted twice", doomed.Name)
		}
		wanted := slices.ContainsFunc(verdicts, func(v Verdict) bool {
			its := slices.ContainsFunc(v.all(), func(m *v1beta2.Manifest) bool { return m.Name == doomed.Name })
			asked := v.Kind == Removed && (!v.Origin.Spec || noLongerAllowed(&v) || l.w.Kyma.DeletionTimestamp != nil)
			return its && (asked || v.Kind == Run && v.Manifest.Name != doomed.Name)
		})
		if !wanted {
			l.t.Errorf("%s is deleted, and no one asked for that", doomed.Name)
		}
	}
}

// nothingLowered checks that no write names a lower version where status and Manifest agree about the installed one.
func (l *life) nothingLowered(plan Plan) {
	told := statusByName(l.w.Kyma)
	for _, applied := range plan.Apply {
		for i := range l.w.Manifests {
			m := &l.w.Manifests[i]
			entry := told[applied.Labels[v1beta2.LabelModuleName]]
			if m.Name == applied.Name && entry != nil && entry.State != v1beta2.StateDeleting && entry.Version == m.Spec.Version &&
				applied.Labels[v1beta2.LabelMandatoryModule] == "" && moduleversion.IsDowngrade(m.Spec.Version, applied.Spec.Version) {
				l.t.Errorf("%s goes from %s to %s", m.Name, m.Spec.Version, applied.Spec.Version)
			}
		}
	}
}

// rests checks that without further changes everything settles, and then nothing is written any more.
func (l *life) rests() {
	for range 12 {
		for l.works() {
		}
		before := l.w.Kyma.Status
		if plan := l.pass(false); plan.Empty() && cmp.Equal(before, l.w.Kyma.Status) {
			l.w.Now = one
			if later := Rollup(l.w, Resolve(l.w), nil); !cmp.Equal(later, l.w.Kyma.Status) {
				l.t.Errorf("an hour later the status is another (-before +after):\n%s", cmp.Diff(l.w.Kyma.Status, later))
			}
			return
		}
	}
	l.t.Errorf("comes to no rest: %+v", MakePlan(l.w, Resolve(l.w)))
}

func live(t *testing.T, source rand.Source, events int) {
	t.Helper()
	d := dice{rand.New(source)}
	l := &life{dice: d, t: t, w: d.snapshot()}
	for range events {
		switch l.IntN(4) {
		case 0:
			l.someone()
		case 1:
			l.works()
		default:
			l.pass(l.rarely(3))
		}
	}
	l.rests()
}

func TestLifeFuzz_EveryLifeComesToRest(t *testing.T) {
	for seed := range uint64(300) {
		if live(t, rand.NewPCG(seed, 11), 15); t.Failed() {
			t.Fatalf("in the life of seed %d", seed)
		}
	}
}

func FuzzALife(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte("a life that begins with these words, and goes on by itself"))
	f.Fuzz(func(t *testing.T, tracks []byte) {
		live(t, &tape{tracks, rand.NewPCG(uint64(len(tracks)), 13)}, 5+len(tracks)%20)
	})
}
