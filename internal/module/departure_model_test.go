package module

import (
	"cmp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/module/revision"
	"github.com/kyma-project/lifecycle-manager/internal/module/rollout"
	"github.com/kyma-project/lifecycle-manager/pkg/moduleversion"
)

// newHeldSaga is a saga in which what is offered need not come: waves, windows, the registry and people hold it back.
func newHeldSaga(t *testing.T, seed uint64) *saga {
	t.Helper()
	s := newSaga(t, seed)
	s.holds, s.left = true, map[string]int{}
	s.release = s.w.Releases[operator]
	for _, template := range s.w.Templates {
		template.Spec.RollbackTo = s.one(">=1.0.0", ">=1.0.0", ">=1.0.0", ">=1.0.0", "")
	}
	s.w.Windows = &WindowPolicy{Default: []Window{{Days: wholeWeek, Begin: noon.Add(9 * time.Hour), End: noon.Add(10 * time.Hour)}}}
	return s
}

// hold changes what holds back what is offered, or lets it go.
func (s *saga) hold() {
	s.moves, s.tried = nil, map[string]bool{}
	entry, version := &s.w.Kyma.Spec.Modules[0], s.one(modelVersions...)
	name := templateName(operator, version)
	did := ""
	switch s.IntN(10) {
	case 0, 1, 2:
		did = s.rollsOut()
	case 3:
		did, s.release.Annotations, s.w.Rollouts = "no rollout decides", nil, nil
	case 4:
		template := s.w.Templates[name]
		if template == nil {
			break
		}
		template = template.DeepCopy()
		template.Spec.RequiresDowntime = !template.Spec.RequiresDowntime
		s.w.Templates[name], did = template, version+" needs downtime, or no more"
	case 5:
		known := Component{Source: s.source(version)}
		if s.w.Components[ComponentKey{component, version}].Reason == "" {
			known = Component{Reason: s.one("RegistryUnreachable", "ComponentNotFound", "SignatureInvalid", "ComponentInvalid"), Message: "no"}
		}
		s.w.Components[ComponentKey{component, version}], did = known, "component of "+version+" cannot be read "+known.Reason
	case 6:
		if s.gone == nil {
			s.gone, did = s.w.Templates[name], "no template of "+version
			delete(s.w.Templates, name)
		} else {
			s.w.Templates[s.gone.Name], s.gone, did = s.gone, nil, "the template is back"
		}
	case 7:
		entry.Channel = s.one("fast", "fast", "rapid")
		entry.Version, did = "", "channel "+entry.Channel
	case 8:
		if s.w.Releases[operator] == nil {
			s.w.Releases[operator], did = s.release, "the release is back"
		} else if s.rarely(2) {
			did = "the release is gone"
			delete(s.w.Releases, operator)
		}
	case 9:
		s.w.Restricted, did = nil, "restricted, or not"
		if s.rarely(2) {
			s.w.Restricted = []string{operator}
		}
	}
	s.w.Kyma.Labels = map[string]string{"ring": s.one("canary", "other")}
	s.notef("hold: %s, labels %v", did, s.w.Kyma.Labels)
}

// rollsOut gives the module a rollout in any state.
func (s *saga) rollsOut() string {
	s.release.Annotations = map[string]string{v1beta2.AnnotationRollout: rolloutUID}
	channel := s.rolloutChannel("fast", s.one(modelVersions...), s.one(s.offered, s.offered, s.one(modelVersions...)))
	channel.Underway = nil
	if self := []string{rollout.Prefix(string(s.w.Kyma.UID))}; s.rarely(3) {
		channel.Underway, channel.Back = self, self
	}
	s.w.Rollouts = map[string]*v1beta2.ModuleRollout{operator: newRollout(operator, channel)}
	s.w.Rollouts[operator].Spec.OnFailure = v1beta2.RolloutRollback
	if s.rarely(8) {
		s.w.Rollouts = nil
	}
	return "rollout of " + channel.To.Version + " from " + channel.From.Version + ": " + string(channel.Phase) + " in " + channel.Wave
}

// mustLeave reports whether what the Manifest asks for is broken and has a way back, by the sentences of the specification and whatever is
// offered; from is when that must be left, if it is observed until then.
func (s *saga) mustLeave() (from time.Time, must bool) {
	if len(s.w.Manifests) == 0 || s.w.Kyma.Spec.Modules[0].Avoid != "" {
		return from, false // what a person avoids decides otherwise
	}
	m := &s.w.Manifests[0]
	history := m.Status.Revisions
	if len(history) < 2 || revision.KeyOf(history[len(history)-1]) != revision.Of(&m.Spec) || m.Status.ObservedGeneration != m.Generation {
		return from, false
	}
	newest, before := history[len(history)-1], history[len(history)-2]
	if before.Outcome == v1beta2.RevisionRolledBack || newest.Outcome != "" && newest.Outcome != v1beta2.RevisionFailed {
		return from, false // it is a way back itself, or was ready once
	}
	if reason, _ := report(m); reason != v1beta2.ReasonWaitingForObjects && reason != v1beta2.ReasonObjectFailed {
		return from, false
	}
	observed, known := s.w.Progress[m.Name]
	if !known {
		return from, false // nothing is judged that is not observed
	}
	return s.w.Now.Add(DefaultProgressDeadline - observed), s.vouchedWay(history, newest)
}

// vouchedWay reports whether the newest revision that succeeded can take over from the newest of all.
func (s *saga) vouchedWay(history []v1beta2.Revision, newest v1beta2.Revision) bool {
	for i, one := range slices.Backward(history) {
		later := func(r v1beta2.Revision) bool {
			return r.Outcome == v1beta2.RevisionRolledBack && revision.KeyOf(r) == revision.KeyOf(one)
		}
		if one.Outcome != v1beta2.RevisionSucceeded || one.Version == newest.Version && one.Digest == newest.Digest ||
			slices.ContainsFunc(history[i:], later) {
			continue
		}
		author, template := s.w.Templates[templateName(operator, newest.Version)], s.w.Templates[templateName(operator, one.Version)]
		known := s.w.Components[ComponentKey{component, one.Version}]
		if author == nil || template == nil || known.Source == nil || history[i+1].Number == one.Number+1 && history[i+1].Before != v1beta2.StateReady {
			return false
		}
		covered, err := moduleversion.Satisfies(one.Version, author.Spec.RollbackTo)
		would := wanted(s.w.Kyma, &Verdict{Module: operator, Version: one.Version, ComponentName: component, Template: template, Source: known.Source})
		return err == nil && covered && revision.Of(&would.Spec) == revision.KeyOf(one)
	}
	return false
}

// obeys holds that a pass leaves what must be left by now, whatever is offered, and that the pass comes when that is due.
func (s *saga) obeys(before Snapshot, verdicts []Verdict) {
	was := s.w
	s.w = before
	from, must := s.mustLeave()
	now := s.w.Now.Time
	s.w = was
	if !must {
		return
	}
	stays := revision.Of(&s.w.Manifests[0].Spec) == revision.Of(&before.Manifests[0].Spec)
	switch wake := NextWake(verdicts, now); {
	case !stays:
		if reason := s.w.Manifests[0].Annotations[v1beta2.AnnotationRollback]; s.left != nil && !now.Before(from) {
			s.left[cmp.Or(reason, "upgraded")]++
			if before.Manifests[0].Spec.Version != s.offered {
				s.left["another was offered"]++
			}
		}
	case !now.Before(from):
		s.t.Errorf("%s is broken since before %s and stays: %s: %s", s.w.Manifests[0].Spec.Version, from.Format(time.DateTime), verdicts[0].Reason,
			verdicts[0].Message)
	case wake <= 0 || wake > from.Sub(now):
		s.t.Errorf("the next pass comes after %s, and %s must be left in %s", wake, s.w.Manifests[0].Spec.Version, from.Sub(now))
	}
}

// fails brings the module to a version that does not become ready, from one that was.
func (s *saga) fails() {
	for range 2 {
		s.pass(false)
		s.manifest()
	}
	version := s.one(modelVersions[1:4]...)
	s.broken[s.source(version).Ref] = true
	s.moves, s.tried = nil, map[string]bool{}
	s.offer(version)
	s.pass(s.rarely(3))
	s.manifest()
}

// goesOn lets something happen, mostly to what is offered.
func (s *saga) goesOn() {
	switch s.IntN(12) {
	case 0:
		s.person()
	case 1:
		s.moves, s.tried = nil, map[string]bool{}
		s.offer(s.one(modelVersions...))
	case 2, 3, 4:
		s.hold()
	case 5:
		s.reachable = !s.rarely(4)
	case 6, 7:
		s.manifest()
	case 8, 9:
		s.later(time.Duration(s.IntN(int(DefaultProgressDeadline))) + time.Second)
	default:
		s.pass(s.rarely(3))
	}
}

// ends lets the deadlines of all that is under way pass, and checks that everything is at rest then.
func (s *saga) ends() {
	s.reachable, s.moves, s.tried = true, nil, map[string]bool{}
	for range 12 {
		s.manifest()
		s.pass(false)
		s.manifest()
		s.later(DefaultProgressDeadline + time.Second)
	}
	if plan := MakePlan(s.w, Resolve(s.w)); !plan.Empty() {
		s.t.Errorf("it comes to no rest: %+v", plan)
	}
}

// TestDepartureModel holds the promise of onFailedUpgrade whatever holds back what is offered: a version that is broken, and has a vouched
// way back, is left within its deadline and one pass; and nothing is tried twice without cause.
func TestDepartureModel(t *testing.T) {
	const sagas = 400
	left := map[string]int{}
	for seed := range uint64(sagas) {
		s := newHeldSaga(t, seed)
		s.fails()
		for range 14 {
			s.goesOn()
		}
		s.ends()
		for reason, count := range s.left {
			left[reason] += count
		}
		if t.Failed() {
			t.Fatalf("in the saga of seed %d:\n%s", seed, strings.Join(s.log, "\n"))
		}
	}
	if left[v1beta2.ReasonProgressDeadlineExceeded] < sagas/4 || left["another was offered"] < sagas/8 {
		t.Errorf("too few broken versions were left: %v", left)
	}
	t.Log(left)
}
