package server

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/client/modulestatus"
	"github.com/kyma-project/lifecycle-manager/internal/client/rollouts"
	"github.com/kyma-project/lifecycle-manager/internal/dashboard/operations"
	"github.com/kyma-project/lifecycle-manager/tests/testkit/apiserver"
)

const someDigest = "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

// rollout creates a rollout of greeter that has halted in its second wave.
func (s *site) rollout(namespace string) *v1beta2.ModuleRollout {
	s.Helper()
	r := halted(namespace)
	status := r.Status
	s.make(r)
	r.Status = status
	r.Status.ObservedGeneration = r.Generation
	if err := s.admin.Status().Update(s.Context(), r); err != nil {
		s.Fatal(err)
	}
	return r
}

func halted(namespace string) *v1beta2.ModuleRollout {
	canary := v1beta2.RolloutWave{Name: "canary", Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"ring": "canary"}}}
	canary.Soak = metav1.Duration{Duration: 2 * time.Hour}
	r := &v1beta2.ModuleRollout{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "greeter"}, Spec: v1beta2.ModuleRolloutSpec{
		Waves:            []v1beta2.RolloutWave{canary, {Name: "early", Share: "10%", MaxConcurrent: 5, MaxFailed: "1%"}, {Name: "rest", Approval: true}},
		ProgressDeadline: metav1.Duration{Duration: 30 * time.Minute}, OnFailure: v1beta2.RolloutHalt,
	}}
	since := metav1.NewTime(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))
	r.Status = v1beta2.ModuleRolloutStatus{
		Phase: v1beta2.RolloutHalted,
		Conditions: []metav1.Condition{
			{Type: "Halted", Status: metav1.ConditionTrue, Reason: "TooManyFailed", Message: "2 failed", LastTransitionTime: since},
			{Type: "Stalled", Status: metav1.ConditionTrue, Reason: "TooManyFailed", Message: "2 failed", LastTransitionTime: since},
		},
		Channels: []v1beta2.RolloutChannel{{
			Name: "fast", From: v1beta2.RolloutVersion{Version: "1.0.0"}, To: v1beta2.RolloutVersion{Version: "1.1.0", Digest: someDigest},
			Wave: "early", Phase: v1beta2.RolloutHalted, Message: "2 of 20 Kymas failed, and none may", Underway: []string{"a", "b"},
			Waves: []v1beta2.RolloutWaveStatus{
				{Name: "canary", Since: since, Total: 3, Ready: 3}, {Name: "early", Since: since, Total: 20, Waiting: 10, Updating: 3, Ready: 5, Failed: 2},
				{Name: "rest", Total: 177, Waiting: 177}, {Name: "others", Total: 1, Skipped: 1},
			},
			Worst: []v1beta2.RolloutFailure{{Kyma: "bad", Reason: "ProgressDeadlineExceeded", Message: "no replica", Since: since}},
		}},
	}
	return r
}

func TestRollouts_ListAndPage(t *testing.T) {
	s := open(t, ModeLocal)
	s.createAll("waves")
	s.rollout("waves")
	s.enter()
	list := get[rolloutList](s, "/api/v1/rollouts?search=waves+1.1.0&phase=Halted")
	if list.Total != 1 || list.Missing != "" || len(list.Unread) != 0 || list.Items[0].Phase != v1beta2.RolloutHalted || !list.Items[0].Observed {
		t.Fatalf("rollouts: %+v", list)
	}
	if none := get[rolloutList](s, "/api/v1/rollouts?search=waves/&phase=Completed"); none.Total != 0 {
		t.Errorf("completed rollouts: %+v", none)
	}
	if r := s.do(http.MethodGet, "/api/v1/rollouts?fase=Halted", ""); r.status != http.StatusBadRequest {
		t.Errorf("a filter that there is not: %d", r.status)
	}
	page := get[rolloutDetail](s, "/api/v1/rollouts/waves/greeter")
	channel := page.Rollout.Channels[0]
	if channel.Underway != 2 || channel.Worst[0].Kyma != "bad" || channel.WaitsFor != "Decision" || len(page.Conditions) != 1 {
		t.Errorf("page: %+v", page)
	}
	if page.Selects["canary"] != "ring=canary" || len(page.Selects) != 1 {
		t.Errorf("what waves select: %v", page.Selects)
	}
	if len(page.Decisions) != 1 || !page.Actions[0].Allowed || page.Actions[0].Deed.Action != operations.RolloutPause {
		t.Errorf("buttons: %+v %+v", page.Actions, page.Decisions)
	}
	if r := s.do(http.MethodGet, "/api/v1/rollouts/waves/nothing", ""); r.status != http.StatusNotFound {
		t.Errorf("a rollout that there is not: %d %s", r.status, r.body)
	}
}

func TestRollouts_WhoMayNotListThemIsToldAndSeesEverythingElse(t *testing.T) {
	s := open(t, ModeCluster)
	s.createAll("unseen")
	s.rollout("unseen")
	token := s.token("sees-no-rollouts", "")
	role := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "no-rollouts"}, Rules: []rbacv1.PolicyRule{
		{APIGroups: []string{ownGroup}, Resources: []string{"kymas", "manifests", "moduletemplates", "modulereleasemetas"}, Verbs: []string{"list"}},
	}}
	s.make(role, &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "no-rollouts"}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role.Name},
		Subjects: []rbacv1.Subject{{Kind: "ServiceAccount", Namespace: "default", Name: "sees-no-rollouts"}},
	})
	apiserver.Allowed(t, s.admin, "system:serviceaccount:default:sees-no-rollouts", "", role.Rules[0])
	s.enterAs(token)
	list := get[rolloutList](s, "/api/v1/rollouts")
	if list.Total != 0 || len(list.Unread) != 1 || list.Unread[0].Message != "you may not list ModuleRollout.operator.kyma-project.io" {
		t.Errorf("rollouts: %+v", list)
	}
	if r := s.do(http.MethodGet, "/api/v1/rollouts/unseen/greeter", ""); r.status != http.StatusForbidden {
		t.Errorf("the page: %d %s", r.status, r.body)
	}
	kymas := get[List[modulestatus.KymaLine]](s, "/api/v1/kymas?namespace=unseen")
	told := slices.ContainsFunc(kymas.Unread, func(u Unread) bool { return strings.Contains(u.Kind, kindRollout) })
	if kymas.Total != 2 || told {
		t.Errorf("pages without rollouts depend on them: %+v", kymas)
	}
}

func TestRollouts_AHubThatDoesNotServeThemSaysSo(t *testing.T) {
	s := open(t, ModeLocal)
	s.createAll("older")
	s.enter()
	kind := v1beta2.GroupVersion.WithKind(kindRollout).GroupKind()
	s.server.watches.mutex.Lock()
	s.server.watches.unknown[kind] = time.Now()
	s.server.watches.mutex.Unlock()
	list := get[rolloutList](s, "/api/v1/rollouts")
	if list.Missing != noRollouts || len(list.Unread) != 0 || list.Items == nil {
		t.Errorf("rollouts: %+v", list)
	}
	r := s.do(http.MethodGet, "/api/v1/rollouts/older/greeter", "")
	if r.status != http.StatusNotFound || r.problem(t).Message != noRollouts {
		t.Errorf("the page: %d %s", r.status, r.body)
	}
	if kymas := get[List[modulestatus.KymaLine]](s, "/api/v1/kymas?namespace=older"); kymas.Total != 2 || len(kymas.Unread) != 0 {
		t.Errorf("Kymas: %+v", kymas)
	}
}

func TestDecisionsOf(t *testing.T) {
	all, none := rolloutRights{true, true}, rolloutRights{}
	for name, c := range map[string]struct {
		change func(*v1beta2.ModuleRollout)
		may    rolloutRights
		want   []string
	}{
		"a halted one can be resumed and aborted": {func(*v1beta2.ModuleRollout) {}, all, []string{"resume early", "abort early to 1.0.0"}},
		"one that waits can be approved": {
			func(r *v1beta2.ModuleRollout) {
				r.Status.Channels[0].Phase, r.Status.Channels[0].Wave = v1beta2.RolloutWaiting, "rest"
			}, all, []string{"approve rest", "abort rest to 1.0.0"},
		},
		"one that is over leaves nothing to decide": {
			func(r *v1beta2.ModuleRollout) { r.Status.Channels[0].Phase = v1beta2.RolloutCompleted }, all, nil,
		},
		"an abort sets a channel back, which needs the right to": {
			func(*v1beta2.ModuleRollout) {}, rolloutRights{decide: true},
			[]string{"resume early", "abort early to 1.0.0: It also sets the channel back, and you may not change the ModuleReleaseMeta"},
		},
		"without a version before, an abort changes the rollout only": {
			func(r *v1beta2.ModuleRollout) { r.Status.Channels[0].From.Version = "" }, rolloutRights{decide: true},
			[]string{"resume early", "abort early"},
		},
		"without rights nothing can be decided": {
			func(*v1beta2.ModuleRollout) {}, none,
			[]string{"resume early: You may not change this rollout", "abort early to 1.0.0: You may not change this rollout"},
		},
		"a mandatory module has a rollout without a channel": {
			func(r *v1beta2.ModuleRollout) { r.Status.Channels[0].Name = "" }, all, []string{"resume early", "abort early to 1.0.0"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := halted("x")
			r.Status.ObservedGeneration = r.Generation
			c.change(r)
			shown := rollouts.Describe(r, nil)
			var got []string
			for _, act := range decisionsOf(r, nil, &shown.Channels[0], c.may) {
				line := string(act.Deed.Action) + " " + act.Deed.Wave
				if act.Deed.Version != "" {
					line += " to " + act.Deed.Version
				}
				if why, _, _ := strings.Cut(act.Why, ". "); why != "" {
					line += ": " + why
				}
				if act.Allowed != (act.Why == "") || act.Deed.Target != "1.1.0@"+someDigest || act.Deed.Validate() != nil {
					t.Errorf("%+v: %v", act, act.Deed.Validate())
				}
				got = append(got, line)
			}
			if !slices.Equal(got, c.want) || r.Spec.Decision != nil {
				t.Errorf("got  %q\nwant %q", got, c.want)
			}
		})
	}
}

func TestUndecided_WhatWaitsForAPersonNeedsAttention(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*v1beta2.ModuleRollout)
		want   string
	}{
		"a halted one is the worst": {func(*v1beta2.ModuleRollout) {}, "Error Halted: 2 of 20 Kymas failed, and none may"},
		"one that waits for approval": {
			func(r *v1beta2.ModuleRollout) {
				r.Status.Channels[0].Phase, r.Status.Channels[0].Wave = v1beta2.RolloutWaiting, "rest"
				r.Status.Channels[0].Message = "wave rest waits for approval"
			},
			"Warning Waiting: wave rest waits for approval",
		},
		"one that a person has paused needs none": {
			func(r *v1beta2.ModuleRollout) {
				r.Status.Channels[0].Phase, r.Spec.Paused = v1beta2.RolloutWaiting, true
			}, "",
		},
		"one that goes on needs none": {func(r *v1beta2.ModuleRollout) { r.Status.Channels[0].Phase = v1beta2.RolloutProgressing }, ""},
		"a plan that cannot be carried out": {
			func(r *v1beta2.ModuleRollout) {
				r.Status.Channels = nil
				r.Status.Conditions = []metav1.Condition{{Type: "Progressing", Reason: v1beta2.ReasonSpecInvalid, Message: "no such wave"}}
			}, "Error SpecInvalid: no such wave",
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := halted("x")
			c.change(r)
			got := ""
			for _, one := range troubled(nil, nil, []rollouts.Rollout{rollouts.Describe(r, nil)}, time.Now()).Items {
				got = fmt.Sprintf("%s %s: %s", one.State, one.Reason, one.Message)
				if one.Kind != "Rollout" || one.Namespace != "x" || one.Name != "greeter" {
					t.Errorf("%+v", one)
				}
			}
			if got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestPauseOf(t *testing.T) {
	r := halted("x")
	if acts := pauseOf(r, rolloutRights{decide: true}); acts[0].Deed.Action != operations.RolloutPause || !acts[0].Allowed {
		t.Errorf("%+v", acts)
	}
	r.Spec.Paused = true
	if acts := pauseOf(r, rolloutRights{}); acts[0].Deed.Action != operations.RolloutResume || acts[0].Allowed || acts[0].Why == "" {
		t.Errorf("%+v", acts)
	}
}

func TestPhasePriority_WhatNeedsAPersonComesFirst(t *testing.T) {
	phases := []v1beta2.RolloutPhase{"Completed", "Strange", "Progressing", "Halted", "Waiting"}
	slices.SortFunc(phases, func(a, b v1beta2.RolloutPhase) int { return phasePriority(a) - phasePriority(b) })
	if !slices.Equal(phases, []v1beta2.RolloutPhase{"Halted", "Waiting", "Progressing", "Completed", "Strange"}) {
		t.Errorf("%q", phases)
	}
}

func TestFleet_CountsAndWhereTheyLead(t *testing.T) {
	s := open(t, ModeLocal)
	s.createAll("fleet")
	waits := s.kyma("fleet", "waits", v1beta2.StateReady, "beacon")
	waits.Status.Modules[0].Offered, waits.Status.Modules[0].Message = "1.1.0", "wave rest begins later"
	if err := s.admin.Status().Update(t.Context(), waits); err != nil {
		t.Fatal(err)
	}
	s.enter()
	fleet := get[List[modulestatus.FleetModule]](s, "/api/v1/fleet?search=fleet&sort=-name")
	if fleet.Total != 2 || fleet.Items[0].Name != "greeter" || fleet.Items[1].Kymas != 3 || fleet.Items[1].Waiting != 1 {
		t.Fatalf("fleet: %+v", fleet)
	}
	versions := fleet.Items[1].Versions
	if len(versions) < 2 || versions[0].Version != "1.1.0" || versions[0].Kymas != 0 || versions[1].Kymas != 2 || versions[1].Channels[0] != "regular" {
		t.Errorf("versions of beacon: %+v", versions)
	}
	for query, want := range map[string]int{
		"module=beacon": 3, "module=greeter": 1, "module=beacon&version=1.0.0": 2, "module=beacon&version=none": 1, "module=nothing": 0,
	} {
		if list := get[List[modulestatus.KymaLine]](s, "/api/v1/kymas?namespace=fleet&"+query); list.Total != want {
			t.Errorf("%s leads to %d Kymas, want %d", query, list.Total, want)
		}
	}
	module := get[moduleDetail](s, "/api/v1/modules/fleet/waits/beacon")
	if module.Waits == nil || *module.Waits != (moduleWait{Version: "1.1.0", Message: "wave rest begins later"}) || module.Module.Offered != "1.1.0" {
		t.Errorf("module: %+v %+v", module.Waits, module.Module)
	}
}
