package releasepreview

import (
	"errors"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/module"
)

// weekend is a policy whose windows open on Saturdays.
func weekend(t testing.TB) *module.WindowPolicy {
	t.Helper()
	begin, err := time.Parse("15:04:05Z07:00", "02:00:00Z")
	if err != nil {
		t.Fatal(err)
	}
	return &module.WindowPolicy{
		Default:      []module.Window{{Days: []time.Weekday{time.Saturday}, Begin: begin, End: begin.Add(4 * time.Hour)}},
		MinRemaining: 20 * time.Minute,
	}
}

func withDowntime(hub *Hub) {
	hub.Templates[1] = newTemplate("1.1.0", needsDowntime)
}

func TestForesee(t *testing.T) {
	for name, test := range map[string]struct {
		hub    func(*Hub)
		ask    Request
		member Member
		want   Outcome
		detail string // a part of it
	}{
		"one with the version before upgrades": {member: newMember(1, "1.0.0"), want: Upgrades, detail: "from 1.0.0"},
		"one with none yet installs":           {member: newMember(1, ""), want: Installs},
		"one with the version has it already":  {member: newMember(1, "1.1.0"), want: Same},
		"one with a higher version keeps it":   {member: newMember(1, "2.0.0"), want: Downgrade},
		"one with other content of the same version gets this one": {
			member: newMember(1, "1.1.0", func(m *Member) {
				m.Manifests[0].Spec = *module.ContentOf("1.1.0", newComponent("other"))
			}), want: Upgrades, detail: "to other content of the same version",
		},
		"one that is being deleted is": {
			member: newMember(1, "1.0.0", func(m *Member) { now := metav1.NewTime(noon); m.Kyma.DeletionTimestamp = &now }), want: Leaving,
		},
		"one that is suspended is skipped": {
			member: newMember(1, "1.0.0", func(m *Member) { m.Kyma.Labels = map[string]string{v1beta2.LabelSkipReconciliation: "true"} }),
			want:   Suspended,
		},
		"one whose runtime does not answer is unreachable": {
			member: newMember(1, "1.0.0", func(m *Member) {
				m.Kyma.Status.Conditions = []metav1.Condition{{
					Type: v1beta2.ConditionReady, Status: metav1.ConditionFalse, Reason: v1beta2.ReasonRuntimeUnreachable,
				}}
			}), want: Unreachable, detail: v1beta2.ReasonRuntimeUnreachable,
		},
		"a version without a template is refused": {
			hub: func(h *Hub) { h.Templates = h.Templates[:1] }, member: newMember(1, "1.0.0"), want: Refused, detail: "not found",
		},
		"an internal version takes the module from one that is not": {
			hub: func(h *Hub) { h.Templates[1].Labels = map[string]string{v1beta2.LabelInternal: "true"} }, member: newMember(1, "1.0.0"),
			want: Removed, detail: "internal module",
		},
		"a restricted module does not come to one that is not selected": {
			hub: func(h *Hub) {
				h.Releases[0].Spec.KymaSelector = &metav1.LabelSelector{MatchLabels: map[string]string{"a": "b"}}
				h.Restricted = []string{beacon}
			}, member: newMember(1, ""), want: Refused, detail: "restricted",
		},
		"a selector without the operator's list is not mistaken for a contradiction while the list is not known": {
			hub: func(h *Hub) {
				h.Releases[0].Spec.KymaSelector = &metav1.LabelSelector{MatchLabels: map[string]string{"a": "b"}}
				h.RestrictedKnown = false
			}, member: newMember(1, "1.0.0", func(m *Member) { m.Kyma.Labels = map[string]string{"a": "b"} }), want: Upgrades,
		},
		"a version that needs downtime waits for the window": {
			hub:    func(h *Hub) { withDowntime(h); h.Windows = weekend(t) },
			member: newMember(1, "1.0.0"), want: WaitsForWindow, detail: "opens 2026-03-07T02:00:00Z",
		},
		"a first installation needs no window": {
			hub: func(h *Hub) { withDowntime(h); h.Windows = weekend(t) }, member: newMember(1, ""), want: Installs,
		},
		"one that skips windows does not wait for one": {
			hub:    func(h *Hub) { withDowntime(h); h.Windows = weekend(t) },
			member: newMember(1, "1.0.0", func(m *Member) { m.Kyma.Spec.SkipMaintenanceWindows = true }), want: Upgrades,
		},
		"without a policy a version that needs downtime is refused": {
			hub: withDowntime, member: newMember(1, "1.0.0"), want: Refused, detail: "no maintenance policy is in force",
		},
		"a policy that could not be read is not mistaken for none": {
			hub:    func(h *Hub) { withDowntime(h); h.WindowsKnown = false },
			member: newMember(1, "1.0.0"), want: WaitsForWindow, detail: "not known",
		},
		"one that went back from the version avoids it": {
			member: newMember(1, "1.0.0", func(m *Member) {
				m.Kyma.Spec.Modules[0].Avoid = "1.1.0@" + digest("1.1.0")
			}), want: Avoids,
		},
		"content that could not be read is taken for installable": {
			hub: func(h *Hub) { h.Component = nil }, member: newMember(1, "1.0.0"), want: Upgrades,
		},
		"a channel that is new reaches those that ask for it": {
			ask:    Request{Module: beacon, Channel: "stable", Version: "1.1.0"},
			member: newMember(1, "", func(m *Member) { m.Kyma.Spec.Channel = "stable" }), want: Installs,
		},
	} {
		t.Run(name, func(t *testing.T) {
			hub, ask := newHub(), upgrade
			if test.hub != nil {
				test.hub(hub)
			}
			if test.ask != (Request{}) {
				ask = test.ask
			}
			got := foresee(t, hub, ask, test.member)
			if got.Kymas != 1 || len(got.Groups) != 1 || got.Groups[0].Outcome != test.want || !strings.Contains(got.Groups[0].Detail, test.detail) {
				t.Errorf("want %s (%s), got %+v", test.want, test.detail, got)
			}
		})
	}
}

func digest(version string) string {
	forecast := &Forecast{content: module.ContentOf(version, newComponent(version))}
	s := forecast.stepOf(&Member{Kyma: &v1beta2.Kyma{}})
	return s.to
}

func TestForesee_ConcernsOnlyThoseThatFollowTheChannel(t *testing.T) {
	pinned := newMember(2, "1.0.0", func(m *Member) { m.Kyma.Spec.Modules[0].Version = "1.0.0" })
	fast := newMember(3, "1.0.0", func(m *Member) { m.Kyma.Spec.Modules[0].Channel = "fast" })
	without := newMember(4, "", func(m *Member) { m.Kyma.Spec.Modules = nil })
	no := false
	unmanaged := newMember(5, "1.0.0", func(m *Member) { m.Kyma.Spec.Modules[0].Managed = &no })
	got := foresee(t, newHub(), upgrade, newMember(1, "1.0.0"), pinned, fast, without, unmanaged)
	if got.Kymas != 1 || got.Others != 3 || got.Offered != "1.0.0" {
		t.Errorf("%+v", got)
	}
}

func TestForesee_CountsEachStepOnce(t *testing.T) {
	var members []Member
	for i := range 10 {
		members = append(members, newMember(i, "1.0.0"))
	}
	values := newMember(20, "1.0.0", func(m *Member) { m.Manifests[0].Spec.TargetNamespace = "elsewhere" })
	members = append(members, values, newMember(21, ""), newMember(22, "1.1.0"))
	got := foresee(t, newHub(), upgrade, members...)
	if len(got.Pairs) != 3 || got.Pairs[0].Kymas != 10 || got.Pairs[0].From.Version != "1.0.0" {
		t.Fatalf("%+v", got.Pairs)
	}
	targets := map[string]bool{}
	for _, pair := range got.Pairs {
		targets[pair.To.Digest] = true
	}
	if len(targets) != 2 || !targets[digest("1.1.0")] {
		t.Errorf("a target namespace of a user's is part of the digest, and only that: %v", targets)
	}
	if first := got.Groups[0]; first.Count != 11 || len(first.Names) != 3 || first.More != 8 {
		t.Errorf("%+v", first)
	}
}

// wave is a rollout of the module, in which the release is marked.
func wave(hub *Hub, waves ...v1beta2.RolloutWave) {
	its := &v1beta2.ModuleRollout{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: beacon, UID: "rollout", Generation: 2}}
	its.Spec.Waves = waves
	its.Status.Channels = []v1beta2.RolloutChannel{{
		Name: "regular", Phase: v1beta2.RolloutCompleted, From: v1beta2.RolloutVersion{Version: "1.0.0"}, To: v1beta2.RolloutVersion{Version: "1.0.0"},
	}}
	hub.Rollout = its
	hub.Releases[0].Annotations = map[string]string{v1beta2.AnnotationRollout: string(its.UID)}
}

// ring puts a Kyma into the first wave.
func ring(m *Member) { m.Kyma.Labels = map[string]string{"ring": "canary"} }

var canary = v1beta2.RolloutWave{Name: "canary", Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"ring": "canary"}}, MaxConcurrent: 2}

func TestForesee_AsksTheRolloutThatTakesUpTheVersion(t *testing.T) {
	var members []Member
	for i := range 4 {
		members = append(members, newMember(i, "1.0.0", ring))
	}
	for i := range 6 {
		members = append(members, newMember(10+i, "1.0.0"))
	}
	members = append(members, newMember(30, "1.0.0", func(m *Member) { m.Kyma.Spec.Modules[0].Avoid = "1.1.0@" + digest("1.1.0") }))
	hub := newHub(func(h *Hub) { wave(h, canary, v1beta2.RolloutWave{Name: "rest"}) })
	got := foresee(t, hub, upgrade, members...)
	if got.Count(Upgrades) != 2 || got.Count(WaitsForRollout) != 8 || got.Count(Avoids) != 1 {
		t.Errorf("%+v", got.Groups)
	}
	var details []string
	for _, group := range got.Groups {
		if group.Outcome == WaitsForRollout {
			details = append(details, group.Detail)
		}
	}
	if !slices.Equal(details, []string{`wave "rest"`, `wave "canary", for a free place in it`}) {
		t.Errorf("%q", details)
	}
}

func TestForesee_TellsWhatComesAfterTheWave(t *testing.T) {
	hub := newHub(withDowntime, func(h *Hub) { wave(h, canary, v1beta2.RolloutWave{Name: "rest"}); h.Windows = weekend(t) })
	free := newMember(3, "1.0.0", ring, func(m *Member) { m.Kyma.Spec.SkipMaintenanceWindows = true })
	got := foresee(t, hub, upgrade, newMember(1, "1.0.0", ring), newMember(2, "1.0.0"), free)
	if got.Count(WaitsForWindow) != 1 || got.Count(WaitsForRollout) != 1 || got.Count(Upgrades) != 1 {
		t.Errorf("%+v", got.Groups)
	}
	if len(got.Then) != 1 || got.Then[0].Outcome != WaitsForWindow {
		t.Errorf("then %+v", got.Then)
	}
}

func TestForesee_AWaveThatCannotBecomeReadySaysSo(t *testing.T) {
	hub := newHub(withDowntime, func(h *Hub) { wave(h, canary, v1beta2.RolloutWave{Name: "rest"}); h.Windows = weekend(t) })
	got := foresee(t, hub, upgrade, newMember(1, "1.0.0", ring))
	if got.Count(WaitsForRollout) != 1 || !strings.Contains(got.Groups[0].Detail, "waits for approval to pass") {
		t.Errorf("%+v", got.Groups)
	}
}

func TestForesee_APausedRolloutAdmitsNoKyma(t *testing.T) {
	hub := newHub(func(h *Hub) { wave(h, canary); h.Rollout.Spec.Paused = true })
	got := foresee(t, hub, upgrade, newMember(1, "1.0.0", ring))
	if got.Count(WaitsForRollout) != 1 || !strings.Contains(got.Groups[0].Detail, "paused") {
		t.Errorf("%+v", got.Groups)
	}
}

func TestForesee_ARolloutOfOtherChannelsSaysNothing(t *testing.T) {
	hub := newHub(func(h *Hub) {
		wave(h, canary)
		h.Rollout.Spec.Channels, h.Rollout.Status.Channels = []string{"fast"}, nil
	})
	if got := foresee(t, hub, upgrade, newMember(1, "1.0.0")); got.Count(Upgrades) != 1 {
		t.Errorf("%+v", got.Groups)
	}
}

func TestForesee_ARolloutThatHasNotLookedYetDecidesAllTheSame(t *testing.T) {
	hub := newHub(func(h *Hub) { wave(h, canary, v1beta2.RolloutWave{Name: "rest"}); h.Rollout.Status.Channels = nil })
	got := foresee(t, hub, upgrade, newMember(1, "1.0.0", ring), newMember(2, "1.0.0"))
	if got.Count(Upgrades) != 1 || got.Count(WaitsForRollout) != 1 {
		t.Errorf("%+v", got.Groups)
	}
}

func TestForesee_ReasonsAreBounded(t *testing.T) {
	policy := weekend(t)
	for i := range 40 {
		begin := policy.Default[0].Begin.Add(time.Duration(i) * time.Minute)
		policy.Rules = append(policy.Rules, module.WindowRule{
			Match:   module.WindowMatch{Plan: mustCompile(i)},
			Windows: []module.Window{{Days: []time.Weekday{time.Sunday}, Begin: begin, End: begin.Add(time.Hour)}},
		})
	}
	hub := newHub(withDowntime, func(h *Hub) { h.Windows = policy })
	var members []Member
	for i := range 80 {
		members = append(members, newMember(i, "1.0.0", func(m *Member) {
			m.Kyma.Labels = map[string]string{"kyma-project.io/broker-plan-name": planName(i % 40)}
		}))
	}
	got := foresee(t, hub, upgrade, members...)
	if got.Count(WaitsForWindow) != 80 || len(got.Groups) > maxGroups+1 {
		t.Errorf("%d in %d groups", got.Count(WaitsForWindow), len(got.Groups))
	}
}

func planName(i int) string { return "plan-" + string(rune('a'+i/26)) + string(rune('a'+i%26)) }

func mustCompile(i int) *regexp.Regexp { return regexp.MustCompile("^" + planName(i) + "$") }

func TestNewForecast_RefusesModulesWithoutChannels(t *testing.T) {
	hub := newHub(func(h *Hub) { h.Releases[0].Spec.Mandatory = &v1beta2.Mandatory{Version: "1.0.0"} })
	for _, ask := range []Request{upgrade, {Module: "unknown", Channel: "regular", Version: "1.0.0"}} {
		_, err := NewForecast(hub, ask)
		if _, is := errors.AsType[*UnknownModuleError](err); !is {
			t.Errorf("%s: %v", ask.Module, err)
		}
	}
}

// TestNewForecast_LeavesTheHubAsItIs, which others read at the same time.
func TestNewForecast_LeavesTheHubAsItIs(t *testing.T) {
	hub := newHub(func(h *Hub) { wave(h, canary) })
	before := asJSON(t, hub.Releases) + asJSON(t, hub.Rollout)
	foresee(t, hub, upgrade, newMember(1, "1.0.0", ring))
	if after := asJSON(t, hub.Releases) + asJSON(t, hub.Rollout); before != after {
		t.Errorf("before %s\nafter %s", before, after)
	}
}

func TestOutcome_Holds(t *testing.T) {
	for _, outcome := range order {
		if _, told := holdsByItself[outcome]; !told {
			t.Errorf("%s is not decided about", outcome)
		}
		if outcome.Holds() == holdsByItself[outcome] {
			t.Errorf("%s holds: %v", outcome, outcome.Holds())
		}
	}
}

// holdsByItself are the outcomes, and whether time is all that they need.
var holdsByItself = map[Outcome]bool{
	Upgrades: true, Installs: true, WaitsForRollout: true, WaitsForWindow: true, Same: true, Leaving: true, NeedsConsent: false,
	RequirementMissing: false, WouldBreak: false, Unreachable: false, Suspended: false, Refused: false, Removed: false, Downgrade: false, Avoids: false,
}
