package rollout

import (
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

var noon = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

// fixture is one channel with its Kymas, and a clock that a test moves. Every step is judged by what always holds.
type fixture struct {
	*testing.T

	rollout v1beta2.ModuleRollout
	offered v1beta2.RolloutVersion
	facts   Facts
	last    Step
}

const (
	oldVersion = "1.2.0"
	newVersion = "1.3.0"
	mark       = "uid-of-the-rollout"
)

// newFixture is a channel that completed 1.2.0 and now names 1.3.0.
func newFixture(t *testing.T, waves ...v1beta2.RolloutWave) *fixture {
	s := &fixture{T: t}
	s.rollout = v1beta2.ModuleRollout{
		ObjectMeta: metav1.ObjectMeta{Name: "eventing", UID: types.UID(mark), Generation: 1},
		Spec:       v1beta2.ModuleRolloutSpec{Waves: waves},
	}
	s.facts = Facts{Armed: true, Now: noon}
	s.offered = v1beta2.RolloutVersion{Version: oldVersion}
	s.step()
	s.offered = v1beta2.RolloutVersion{Version: newVersion}
	return s
}

func wavesOf(names ...string) []v1beta2.RolloutWave {
	var waves []v1beta2.RolloutWave
	for _, name := range names {
		waves = append(waves, ring(name))
	}
	return waves
}

// ring is a wave of the Kymas with the label ring=name, one at a time.
func ring(name string, change ...func(*v1beta2.RolloutWave)) v1beta2.RolloutWave {
	made := v1beta2.RolloutWave{Name: name, Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"ring": name}}, MaxConcurrent: 1}
	for _, each := range change {
		each(&made)
	}
	return made
}

func soak(d time.Duration) func(*v1beta2.RolloutWave) {
	return func(w *v1beta2.RolloutWave) { w.Soak.Duration = d }
}

func atOnce(count int32) func(*v1beta2.RolloutWave) {
	return func(w *v1beta2.RolloutWave) { w.MaxConcurrent = count }
}

func maxFailed(text string) func(*v1beta2.RolloutWave) {
	return func(w *v1beta2.RolloutWave) { w.MaxFailed = text }
}

func approval(w *v1beta2.RolloutWave) { w.Approval = true }

// uidOf makes a UID whose beginning differs for each name.
func uidOf(name string) string {
	const digits = "0123456789abcdef"
	hash := seedOf(v1beta2.RolloutVersion{Version: name})
	var made strings.Builder
	for range 13 {
		made.WriteByte(digits[hash&15])
		hash = hash>>4 | hash<<60
	}
	return made.String()[:8] + "-" + made.String()[8:12] + "-4000-8000-" + name
}

// kymas adds Kymas of a ring, which run the old version.
func (s *fixture) kymas(ring string, names ...string) {
	for _, name := range names {
		s.facts.Members = append(s.facts.Members, Member{UID: uidOf(name), Name: name, Labels: map[string]string{"ring": ring},
			State: v1beta2.StateReady})
	}
}

func (s *fixture) of(name string) *Member {
	at := slices.IndexFunc(s.facts.Members, func(m Member) bool { return m.Name == name })
	if at < 0 {
		s.Fatalf("no Kyma %s", name)
	}
	return &s.facts.Members[at]
}

func (s *fixture) channel() *v1beta2.RolloutChannel { return &s.rollout.Status.Channels[0] }

func (s *fixture) wave(name string) v1beta2.RolloutWaveStatus {
	at := findWave(s.channel(), name)
	if at < 0 {
		s.Fatalf("no wave %s in %+v", name, s.channel().Waves)
	}
	return s.channel().Waves[at]
}

// step lets the owner look, twice: the second look changes nothing.
func (s *fixture) step() {
	s.Helper()
	plan, err := Compile(&s.rollout.Spec)
	if err != nil {
		s.Fatal(err)
	}
	before := v1beta2.RolloutChannel{Name: "regular"}
	if len(s.rollout.Status.Channels) > 0 {
		before = *s.channel()
	}
	s.facts.Offered = s.offered
	if !Same(before.To, s.offered) {
		s.facts.Awaited = nil
	}
	kept := before.DeepCopy()
	s.last = Next(plan, before, s.facts)
	mustEqual(s.T, "Next changed its argument", *kept, before)
	again := Next(plan, s.last.Channel, s.facts)
	mustEqual(s.T, "a second step with the same facts", s.last.Channel, again.Channel)
	s.rollout.Status.Channels = []v1beta2.RolloutChannel{s.last.Channel}
	s.rollout.Status.ObservedGeneration = s.rollout.Generation
	SetConditions(&s.rollout, "", metav1.NewTime(s.facts.Now))
	s.facts.Gone, s.facts.Awaited = nil, s.last.Awaited
	if wake := s.last.Wake; !wake.IsZero() && !wake.After(s.facts.Now) {
		s.Errorf("wakes in the past: %v", wake)
	}
}

// after moves the clock and lets the owner look.
func (s *fixture) after(d time.Duration) {
	s.Helper()
	s.facts.Now = s.facts.Now.Add(d)
	s.step()
}

// ask is what a Kyma hears, with the version that it runs.
func (s *fixture) ask(name, running string) Answer {
	m := s.of(name)
	return Ask(&s.rollout, mark, "regular", FormatTarget(s.offered), Applicant{UID: m.UID, Labels: m.Labels, Running: running})
}

// begin lets Kymas begin, which must be allowed to.
func (s *fixture) begin(names ...string) {
	s.Helper()
	for _, name := range names {
		if answer := s.ask(name, oldVersion); !answer.Allowed {
			s.Fatalf("%s may not begin: %s", name, answer.Detail)
		}
		m := s.of(name)
		m.Begun, m.At, m.State = true, s.facts.Now, v1beta2.StateProcessing
	}
}

// upgrade lets Kymas begin and become ready, and the owner see it.
func (s *fixture) upgrade(names ...string) {
	s.Helper()
	s.begin(names...)
	for _, name := range names {
		s.of(name).Ready, s.of(name).ReadySince, s.of(name).State = true, s.facts.Now, v1beta2.StateReady
	}
	s.step()
}

// must compares what people see first.
func (s *fixture) must(phase v1beta2.RolloutPhase, wave, message string) {
	s.Helper()
	if got := s.channel(); got.Phase != phase || got.Wave != wave || !strings.Contains(got.Message, message) {
		s.Fatalf("got %s in wave %q: %s\nwant %s in wave %q: %s", got.Phase, got.Wave, got.Message, phase, wave, message)
	}
}

// places compares who is named in underway.
func (s *fixture) places(names ...string) {
	s.Helper()
	var got []string
	for _, prefix := range s.channel().Underway {
		for i := range s.facts.Members {
			if Prefix(s.facts.Members[i].UID) == prefix {
				got = append(got, s.facts.Members[i].Name)
			}
		}
	}
	slices.Sort(got)
	if !slices.Equal(got, names) {
		s.Fatalf("got %q under way, want %q; %s", got, names, s.channel().Message)
	}
}

func (s *fixture) decide(action v1beta2.RolloutAction, wave string) {
	s.rollout.Generation++
	s.rollout.Spec.Decision = &v1beta2.RolloutDecision{Action: action, Target: FormatTarget(s.offered), Wave: wave, By: "ann",
		At: floor(s.facts.Now)}
}

func (s *fixture) pause(paused bool) {
	s.rollout.Generation++
	s.rollout.Spec.Paused = paused
}
