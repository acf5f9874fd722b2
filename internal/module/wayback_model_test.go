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
	verdicts := Resolve(s.w)
	plan := MakePlan(s.w, verdicts)
	for _, want := range plan.Apply {
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

// manifest is one pass of the Manifest controller.
func (s *saga) manifest() {
	s.w = carryOut(s.w, Plan{})
	if len(s.w.Manifests) == 0 {
		return
	}
	m := &s.w.Manifests[0]
	m.Status.Revisions = revision.Begin(m.Status.Revisions, revision.Of(&m.Spec), m.Status.State,
		m.Annotations[v1beta2.AnnotationRollback], s.w.Now.Time)
	source, _ := sourceOf(m)
	before, _ := report(m)
	defer func() {
		reason, _ := report(m)
		m.Status.Revisions = revision.Clear(m.Status.Revisions, before, reason, s.w.Now.Time)
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

func (s *saga) later(by time.Duration) { s.w.Now = metav1.NewTime(s.w.Now.Add(by)) }

// rests lets two days pass in which nothing is changed, and checks that the module is ready, or that its status says why not.
func (s *saga) rests() {
	s.reachable, s.moves, s.tried = true, nil, map[string]bool{}
	for range 100 {
		s.pass(false)
		s.manifest()
		s.later(29 * time.Minute)
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
			switch s.IntN(10) {
			case 0:
				s.person()
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
