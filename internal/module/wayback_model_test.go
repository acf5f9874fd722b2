package module

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/module/revision"
)

var modelVersions = []string{"1.0.0", "1.1.0", "1.2.0", "1.3.0", "2.0.0"}

// saga is a Kyma with one module whose versions may fail, over days of a clock that only the test moves.
type saga struct {
	dice
	t *testing.T
	w Snapshot
	// broken are the contents that never become ready, by the reference of their source.
	broken map[string]bool
	// builds counts how often the component of a version was published.
	builds map[string]int
	// reachable is false while the runtime does not answer.
	reachable bool
	// observed is what this process has observed of the upgrade; watched is for how long any process has, since it began or since its obstacle
	// went away.
	observed revision.Observed
	watched  time.Duration
	// moves are the versions that the Manifest was given since a person or a publisher last did something, and tried what of that was no way
	// back.
	moves []string
	tried map[string]bool
	// offered is what the channels name. In a saga with holds it may have to wait; release, gone and left belong to these.
	offered string
	holds   bool
	release *v1beta2.ModuleReleaseMeta
	gone    *v1beta2.ModuleTemplate
	left    map[string]int
	// log is what happened, for the message of a failure.
	log []string
}

func newSaga(t *testing.T, seed uint64) *saga {
	t.Helper()
	s := &saga{dice: dice{rand.New(rand.NewPCG(seed, 25))}, t: t, broken: map[string]bool{}, builds: map[string]int{}, reachable: true}
	s.w, s.tried = sampleWorld(ofChannel("fast"), automatic), map[string]bool{}
	s.release = s.w.Releases[operator]
	for _, version := range modelVersions {
		template := newTemplate(operator, version)
		template.Spec.RollbackTo = s.one(">=1.0.0", ">=1.0.0", ">=1.0.0", ">=1.2.0", "")
		s.w.Templates[template.Name] = template
		s.publish(version)
	}
	s.offer("1.0.0")
	delete(s.broken, s.source("1.0.0").Ref)
	return s
}

func (s *saga) notef(format string, values ...any) {
	s.log = append(s.log, s.w.Now.Format("02 15:04:05 ")+fmt.Sprintf(format, values...))
}

func (s *saga) source(version string) *v1beta2.ImageSpec {
	source := newSource(version)
	source.Ref = fmt.Sprintf("sha256:%s-%d", version, s.builds[version])
	return source
}

// publish publishes a component version, which may be broken.
func (s *saga) publish(version string) {
	s.builds[version]++
	source := s.source(version)
	s.broken[source.Ref] = s.rarely(2)
	s.w.Components[ComponentKey{component, version}] = Component{Source: source}
	s.notef("%s is published, broken: %v", version, s.broken[source.Ref])
}

func (s *saga) offer(version string) {
	for i := range s.release.Spec.Channels {
		s.release.Spec.Channels[i].Version = version
	}
	s.offered = version
	s.notef("%s is offered", version)
}

// person does something that justifies another try.
func (s *saga) person() {
	s.moves, s.tried = nil, map[string]bool{}
	entry := &s.w.Kyma.Spec.Modules[0]
	switch s.IntN(10) {
	case 6:
		entry.Retry = int64(s.IntN(3)) * 1000000 // which no revision has
		s.notef("revision %d is retried", entry.Retry)
	case 0:
		s.publish(s.one(modelVersions...))
	case 1:
		template := s.w.Templates[operator+"-"+s.one(modelVersions...)].DeepCopy()
		if template == nil {
			break // it is gone
		}
		template.Spec.Manager.Name = fmt.Sprint("manager-", s.IntN(3))
		s.w.Templates[template.Name] = template
		s.notef("%s is edited", template.Name)
	case 2, 3:
		if held, ok := revision.Holding(s.history(), entry.Retry); ok {
			entry.Retry, entry.Avoid, entry.BackTo = held.Number, "", 0
			s.notef("revision %d is retried", held.Number)
		}
	case 4:
		if newest, ok := s.newest(); ok {
			entry.Avoid = revision.ReferenceOf(newest)
			s.notef("%s is avoided", entry.Avoid)
		}
	case 5:
		entry.Avoid, entry.BackTo = "", 0
		s.notef("nothing is avoided")
	default:
		s.offer(s.one(modelVersions...))
	}
	s.w.Kyma.Generation++
}

func (s *saga) history() []v1beta2.Revision {
	if len(s.w.Manifests) == 0 {
		return nil
	}
	return s.w.Manifests[0].Status.Revisions
}

func (s *saga) newest() (v1beta2.Revision, bool) {
	if history := s.history(); len(history) > 0 {
		return history[len(history)-1], true
	}
	return v1beta2.Revision{}, false
}

// pass is one pass of the Kyma controller; the second of its two writes may be lost.
func (s *saga) pass(interrupted bool) {
	s.w.Progress = nil
	if known, ok := s.observed.For(s.history(), s.w.Now.Time); ok {
		s.w.Progress = map[string]time.Duration{s.w.Manifests[0].Name: known}
	}
	verdicts := Resolve(s.w)
	plan := MakePlan(s.w, verdicts)
	for _, want := range plan.Apply {
		s.checkBack(want)
		if len(s.w.Manifests) == 0 || s.w.Manifests[0].Spec.Version != want.Spec.Version {
			s.moves = append(s.moves, want.Spec.Version)
			s.notef("the Manifest asks for %s: %s %s", want.Spec.Version, verdicts[0].Reason, verdicts[0].Message)
			if again := s.tried[want.Spec.Version]; again && verdicts[0].Back == "" {
				s.t.Errorf("%s is tried again: %v", want.Spec.Version, s.moves)
			}
			s.tried[want.Spec.Version] = true
		}
	}
	if len(plan.Delete) > 0 {
		s.t.Error("the Manifest is deleted")
	}
	if len(s.moves) > 3 && !s.holds { // back from what was broken before the change, forward, and back from that
		s.t.Errorf("nothing was changed, and the Manifest was given %v", s.moves)
	}
	before, after := s.w, carryOut(s.w, plan)
	if !interrupted {
		after.Kyma.Status = Rollup(s.w, verdicts, nil)
	}
	s.w = after
	s.obeys(before, verdicts)
	if wake := NextWake(verdicts, s.w.Now.Time); wake > 2*DefaultProgressDeadline && !s.holds {
		s.t.Errorf("the next pass comes after %s", wake)
	}
}

// checkBack checks that the module goes back only from what is broken at this moment, and was for progressDeadline before the operator's eyes.
func (s *saga) checkBack(want *v1beta2.Manifest) {
	newest, underWay := revision.UnderWay(s.history())
	if !underWay || want.Spec.Version == s.w.Manifests[0].Spec.Version || s.w.Kyma.Spec.Modules[0].Avoid != "" ||
		want.Annotations[v1beta2.AnnotationRollback] != v1beta2.ReasonProgressDeadlineExceeded || revision.KeyOf(newest) != revision.Of(&s.w.Manifests[0].Spec) {
		return
	}
	if _, held := revision.Holding(s.history(), s.w.Kyma.Spec.Modules[0].Retry); held {
		return // an attempt before is the reason
	}
	if source, _ := sourceOf(&s.w.Manifests[0]); !s.broken[source.Ref] {
		s.t.Errorf("it goes back from %s, which is not broken", newest.Version)
	}
	if s.watched < DefaultProgressDeadline {
		s.t.Errorf("it goes back from %s, which was observed for %s", newest.Version, s.watched)
	}
}

// manifest is one pass of the Manifest controller.
func (s *saga) manifest() {
	s.w = carryOut(s.w, Plan{})
	if len(s.w.Manifests) == 0 {
		return
	}
	m := &s.w.Manifests[0]
	found := m.Status.Revisions
	m.Status.Revisions = revision.Begin(m.Status.Revisions, revision.Of(&m.Spec), m.Status.State,
		m.Annotations[v1beta2.AnnotationRollback], s.w.Now.Time)
	source, _ := sourceOf(m)
	before, _ := report(m)
	defer func() {
		reason, _ := report(m)
		m.Status.Revisions = revision.Clear(m.Status.Revisions, before, reason, s.w.Now.Time)
		s.follow(m, found)
	}()
	switch {
	case !s.reachable:
		reporting(m, v1beta2.StateError, v1beta2.ReasonRuntimeUnreachable, "it does not answer")
	case s.broken[source.Ref]:
		state, reason := v1beta2.StateProcessing, v1beta2.ReasonWaitingForObjects
		if s.rarely(2) {
			state, reason = v1beta2.StateError, v1beta2.ReasonObjectFailed
		}
		reporting(m, state, reason, "Deployment x is not available")
		if state == v1beta2.StateError {
			m.Status.Revisions = revision.End(m.Status.Revisions, v1beta2.RevisionFailed, reason)
		}
	default:
		makeReady(m)
		m.Status.Revisions = revision.End(m.Status.Revisions, v1beta2.RevisionSucceeded, "")
	}
}

// follow does what the Manifest controller does at the end of a pass.
func (s *saga) follow(m *v1beta2.Manifest, found []v1beta2.Revision) {
	known, ok := s.observed.For(m.Status.Revisions, s.w.Now.Time)
	if !ok {
		known = revision.Recorded(m.Status.Revisions)
	}
	if reason, _ := report(m); revision.OfTheModule(reason) {
		m.Status.Revisions, _ = revision.Record(m.Status.Revisions, known, DefaultProgressDeadline)
	}
	was, wasUnderWay := revision.UnderWay(found)
	is, _ := revision.UnderWay(m.Status.Revisions)
	if !wasUnderWay || was.Number != is.Number || !was.Since.Equal(is.Since) {
		s.watched = 0
	}
	s.observed = s.observed.Follow(found, m.Status.Revisions, s.w.Now.Time)
}

func (s *saga) later(by time.Duration) {
	if _, ok := s.observed.For(s.history(), s.w.Now.Time); ok {
		s.watched += by
	}
	s.w.Now = metav1.NewTime(s.w.Now.Add(by))
}

// restart lets the operator be down for a while, in which what is installed may become ready.
func (s *saga) restart(down time.Duration) {
	s.observed = revision.Observed{}
	s.later(down)
	if len(s.w.Manifests) > 0 && s.rarely(3) {
		source, _ := sourceOf(&s.w.Manifests[0])
		delete(s.broken, source.Ref)
	}
	s.notef("the operator was down for %s", down)
}

// rests lets two days pass in which nothing is changed, and checks that the module is ready, or that its status says why not.
func (s *saga) rests() {
	s.reachable, s.moves, s.tried = true, nil, map[string]bool{}
	for range 200 {
		s.pass(false)
		s.manifest()
		s.pass(false)
		s.later(14 * time.Minute)
		s.manifest() // what happens in the runtime wakes it, and its timer
	}
	if plan := MakePlan(s.w, Resolve(s.w)); !plan.Empty() {
		s.t.Errorf("it comes to no rest: %+v", plan)
	}
	entry := Rollup(s.w, Resolve(s.w), nil).Modules[0]
	if entry.State == v1beta2.StateReady || s.holds && entry.Message != "" {
		return
	}
	for _, told := range []string{"stays, although", "failed here", "is avoided", "update not allowed", "is not available"} {
		if strings.Contains(entry.Message, told) {
			return
		}
	}
	s.t.Errorf("%s at %s, and the status does not say why: %s", entry.State, entry.Version, entry.Message)
}

func TestWayBackModel_NoVersionIsTriedTwice(t *testing.T) {
	for seed := range uint64(150) {
		s := newSaga(t, seed)
		for range 60 {
			switch s.IntN(11) {
			case 0:
				s.person()
			case 10:
				s.restart(time.Duration(s.IntN(int(12 * time.Hour))))
			case 1:
				s.reachable = !s.rarely(3)
			case 2, 3, 4:
				s.manifest()
			case 5:
				s.later(time.Duration(s.IntN(3*int(DefaultProgressDeadline)))/2 + time.Second)
			default:
				s.pass(s.rarely(3))
			}
		}
		s.rests()
		if t.Failed() {
			t.Fatalf("in the saga of seed %d:\n%s", seed, strings.Join(s.log, "\n"))
		}
	}
}

// TestWayBackModel_AFailingVersionAlwaysGivesWay holds the promise of onFailedUpgrade: with the author's word and a version that was
// ready, a module whose new versions all fail is ready two days later, with that version.
func TestWayBackModel_AFailingVersionAlwaysGivesWay(t *testing.T) {
	for seed := range uint64(60) {
		s := newSaga(t, seed)
		for _, template := range s.w.Templates {
			template.Spec.RollbackTo = ">=1.0.0"
		}
		for range 3 {
			s.pass(false)
			s.manifest()
		}
		for _, version := range modelVersions[1:] {
			s.broken[s.source(version).Ref] = true
			s.moves = nil
			s.offer(version)
			for range s.IntN(8) {
				s.pass(s.rarely(2))
				if !s.rarely(3) {
					s.manifest()
				}
				if s.rarely(4) {
					s.observed = revision.Observed{} // a restart
				}
				s.later(time.Duration(s.IntN(int(DefaultProgressDeadline))))
			}
		}
		s.rests()
		if entry := s.w.Kyma.Status.Modules[0]; entry.State != v1beta2.StateReady || entry.Version != "1.0.0" || entry.Avoid == "" {
			t.Errorf("%s at %s, avoids %q: %s", entry.State, entry.Version, entry.Avoid, entry.Message)
		}
		if t.Failed() {
			t.Fatalf("in the saga of seed %d:\n%s", seed, strings.Join(s.log, "\n"))
		}
	}
}

// TestWayBackModel_RestartsDoNotPostponeForEver restarts the operator again and again, each time before the deadline, with outages between.
func TestWayBackModel_RestartsDoNotPostponeForEver(t *testing.T) {
	for seed := range uint64(60) {
		s := newSaga(t, seed)
		for _, template := range s.w.Templates {
			template.Spec.RollbackTo = ">=1.0.0"
		}
		for range 3 {
			s.pass(false)
			s.manifest()
		}
		s.broken[s.source("1.1.0").Ref], s.moves = true, nil
		s.offer("1.1.0")
		life, lived := DefaultProgressDeadline/6+time.Duration(s.IntN(int(DefaultProgressDeadline))), time.Duration(0)
		for s.w.Manifests[0].Spec.Version != "1.0.0" || lived == 0 {
			for begun := s.w.Now; s.w.Now.Sub(begun.Time) < life; s.later(time.Minute) {
				s.pass(false)
				s.manifest()
				s.pass(false)
			}
			if lived += life; lived > 2*DefaultProgressDeadline+life {
				t.Fatalf("with lives of %s it did not go back after %s in the saga of seed %d:\n%s", life, lived, seed, strings.Join(s.log, "\n"))
			}
			s.observed = revision.Observed{}
			s.later(time.Duration(s.IntN(int(6 * time.Hour))))
		}
	}
}
