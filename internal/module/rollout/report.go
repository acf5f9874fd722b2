package rollout

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/dustin/go-humanize/english"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

const (
	maxWorst     = 5
	maxBlocking  = 3
	nameLimit    = 64
	messageLimit = 200
)

// failure is a Kyma that failed, or may be about to.
type failure struct {
	v1beta2.RolloutFailure

	late bool
}

// addWorst keeps the five Kymas to look at first.
func (s *stepper) addWorst(m *Member, reason string, since time.Time, late bool) {
	next := failure{v1beta2.RolloutFailure{Kyma: m.Name, Reason: reason}, late}
	if !since.IsZero() {
		next.Since = floor(since)
	}
	if len(s.worst) == maxWorst && compareFailures(s.worst[maxWorst-1], next) <= 0 {
		return
	}
	next.Message = shorten(m.Message, messageLimit)
	at, _ := slices.BinarySearchFunc(s.worst, next, compareFailures)
	s.worst = slices.Insert(s.worst, at, next)
	s.worst = s.worst[:min(len(s.worst), maxWorst)]
}

// compareFailures orders failures before what may become one, the earlier before the later, and then by name.
func compareFailures(a, b failure) int {
	switch {
	case a.late && !b.late:
		return 1
	case b.late && !a.late:
		return -1
	}
	return cmp.Or(a.Since.Compare(b.Since.Time), cmp.Compare(a.Kyma, b.Kyma))
}

// report writes what people see, and says who must be woken.
func (s *stepper) report() {
	s.describeEnd()
	s.describeRest()
	if isFinal(s.channel.Phase) {
		s.channel.Underway, s.channel.LastAdmission, s.notes = nil, metav1.Time{}, nil // No decision is waited for.
	}
	s.channel.Message = strings.Join(append([]string{s.message}, s.notes...), "; ")
	if s.channel.Message == "" {
		s.channel.Message = "there is nothing to do"
	}
	if len(s.worst) > 0 || !isStopped(s.channel.Phase) { // Who failed is still asked when they have recovered or gone back.
		s.channel.Worst = nil
	}
	for at := range s.worst {
		s.channel.Worst = append(s.channel.Worst, s.worst[at].RolloutFailure)
	}
	s.channel.Waves = s.waves
	if last := &s.waves[len(s.waves)-1]; last.Total == 0 && s.channel.Wave != Others {
		s.channel.Waves = s.waves[:len(s.waves)-1]
	}
	s.step.Channel = s.channel
	s.step.All = s.mustWakeAll()
}

// describeEnd says how a rollout ended.
func (s *stepper) describeEnd() {
	switch s.channel.Phase {
	case v1beta2.RolloutCompleted:
		s.message = s.channel.To.Version + " is released to every Kyma"
		if s.channel.Cause != "" {
			s.message = s.channel.Cause
		}
		if s.plan.paused {
			s.message += "; paused: those that run another version keep it"
		}
	case v1beta2.RolloutAborted:
		s.message = s.channel.Cause
		if !setBack(&s.channel) {
			s.message += "; those that have it keep it, and no other Kyma gets it"
		}
	default:
	}
}

// describeRest adds what the person who planned may not expect.
func (s *stepper) describeRest() {
	if isFinal(s.channel.Phase) {
		return
	}
	if decision := s.plan.decision; isStopped(s.channel.Phase) && counts(decision, &s.channel) && decision.Action == v1beta2.RolloutResume {
		if why := s.whyNotResumed(decision); why != "" {
			s.notef("%s", why)
		}
	}
	if rest := s.waves[len(s.waves)-1].Total; rest > 0 {
		s.notef("%s in no wave of the plan: they come last, in wave %s", countKymas(int(rest)), Others)
	}
	if from := LastCompleted(&s.channel); from.Version != "" && s.facts.FromMissing != "" {
		s.notef("first installations wait, since %s cannot be installed: %s", from.Version, shorten(s.facts.FromMissing, messageLimit))
	}
	if s.plan.rollback && s.facts.NoWayBack != "" && !isStopped(s.channel.Phase) {
		s.notef("those that fail will stay there, although onFailure is Rollback: %s", shorten(s.facts.NoWayBack, messageLimit))
	}
	if blocking := s.held.blocking; len(blocking) > 0 && s.channel.Phase == v1beta2.RolloutProgressing {
		s.notef("%s %s a place and cannot begin: %s", english.Plural(len(blocking), "Kyma", ""), english.PluralWord(len(blocking), "has", "have"),
			firstNames(blocking))
	}
}

// firstNames returns the first of some names, in their order.
func firstNames(names []string) string {
	slices.Sort(names)
	return strings.Join(names[:min(len(names), maxBlocking)], ", ")
}

// mustWakeAll reports whether the answer for Kymas changed that the step does not name.
func (s *stepper) mustWakeAll() bool {
	before, now := s.before, &s.channel
	switch {
	case !Same(before.To, now.To) || isFinal(before.Phase) != isFinal(now.Phase):
		return true
	case now.Open:
		return !before.Open || before.Wave != now.Wave
	}
	return now.Phase == v1beta2.RolloutCompleted && before.Message != now.Message // paused, or no longer
}

func countKymas(count int) string {
	if count == 1 {
		return "1 Kyma is"
	}
	return fmt.Sprintf("%d Kymas are", count)
}

func formatTime(at time.Time) string {
	return at.UTC().Format(time.RFC3339)
}

// shorten cuts a text of others.
func shorten(text string, limit int) string {
	runes := []rune(text)
	if len(runes) <= limit {
		return text
	}
	return string(runes[:limit-1]) + "…"
}
