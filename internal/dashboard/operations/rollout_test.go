package operations

import (
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

const someDigest = "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

func halted() *v1beta2.ModuleRollout {
	r := &v1beta2.ModuleRollout{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: "notes"}}
	r.Spec.Waves = []v1beta2.RolloutWave{{Name: "canary"}, {Name: "rest", Approval: true}}
	r.Spec.ProgressDeadline = metav1.Duration{Duration: time.Minute}
	r.Status.Phase = v1beta2.RolloutHalted
	r.Status.Channels = []v1beta2.RolloutChannel{{
		Name: "fast", From: v1beta2.RolloutVersion{Version: "1.0.0"}, To: v1beta2.RolloutVersion{Version: "1.1.0", Digest: someDigest},
		Wave: "canary", Phase: v1beta2.RolloutHalted, Waves: []v1beta2.RolloutWaveStatus{{Name: "canary", Total: 5, Waiting: 3, Failed: 2}},
		Worst: []v1beta2.RolloutFailure{{Kyma: "one", Reason: "x"}, {Kyma: "two", Reason: "x"}},
	}}
	return r
}

// about returns a request about the target of halted.
func about(action RolloutAction, change ...func(*Request)) *Request {
	deed := &Request{Kind: Rollout, Rollout: "a/notes", Action: action, Channel: "fast", Target: "1.1.0@" + someDigest, Wave: "canary"}
	if action == RolloutAbort {
		deed.Wave, deed.Version = "", "1.0.0"
	}
	for _, f := range change {
		f(deed)
	}
	return deed
}

// TestDecideRollout_IsAboutWhatTheUserSaw: package rollouts decides what may be decided; here a decision about anything else than what was
// shown is refused, and the others say what follows.
func TestDecideRollout_IsAboutWhatTheUserSaw(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	waiting := func(r *v1beta2.ModuleRollout) { r.Status.Channels[0].Phase = v1beta2.RolloutWaiting }
	for name, c := range map[string]struct {
		deed   *Request
		change func(*v1beta2.ModuleRollout)
		want   string
	}{
		"a pause stops admissions": {&Request{Action: RolloutPause}, nil, "no further Kyma begins"},
		"what is paused goes on": {
			&Request{Action: RolloutResume}, func(r *v1beta2.ModuleRollout) { waiting(r); r.Spec.Paused = true }, "Kymas begin again",
		},
		"a resume forgives, and says whom": {about(RolloutResume), nil, "further Kymas get 1.1.0, and what failed so far no longer counts; the failure of Kymas is forgiven: 2, among them one, two"},
		"what was paused before it was looked at goes on": {
			&Request{Action: RolloutResume}, func(r *v1beta2.ModuleRollout) { r.Spec.Paused, r.Status.Channels = true, nil }, "Kymas begin again",
		},
		"an approval is about its wave":     {about(RolloutApprove), waiting, "the Kymas of wave canary get 1.1.0"},
		"an abort also sets a channel back": {about(RolloutAbort), nil, "no further Kyma gets 1.1.0; those that have it keep it; back to 1.0.0"},
		"without a version before, the channel stays": {
			about(RolloutAbort, func(d *Request) { d.Version = "" }), func(r *v1beta2.ModuleRollout) { r.Status.Channels[0].From.Version = "" },
			"no further Kyma gets 1.1.0; those that have it keep it; no version before 1.1.0",
		},
		"what was done already says so":      {&Request{Action: RolloutPause}, func(r *v1beta2.ModuleRollout) { r.Spec.Paused = true }, "rollout notes is paused already"},
		"an approval that nothing waits for": {about(RolloutApprove), nil, "Refused: no wave of rollout notes on channel fast waits"},
		"another target meanwhile": {
			about(RolloutResume), func(r *v1beta2.ModuleRollout) { r.Status.Channels[0].To.Version = "1.2.0" }, "Conflict: is about 1.2.0@",
		},
		"another wave meanwhile": {
			about(RolloutResume), func(r *v1beta2.ModuleRollout) { r.Status.Channels[0].Wave = "rest" }, "Conflict: is in wave rest meanwhile",
		},
		"another version before, meanwhile": {
			about(RolloutAbort), func(r *v1beta2.ModuleRollout) { r.Status.Channels[0].From.Version = "0.9.0" }, "Conflict: the version before is 0.9.0",
		},
		"a channel that it is not about": {about(RolloutResume, func(d *Request) { d.Channel = "slow" }), nil, "NotFound: no channel slow: it has fast"},
		"two channels, and none is named": {
			&Request{Action: RolloutResume}, func(r *v1beta2.ModuleRollout) {
				second := r.Status.Channels[0]
				second.Name = "regular"
				r.Status.Channels = append(r.Status.Channels, second)
			}, "Refused: none is named: fast, regular",
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := halted()
			r.Status.ObservedGeneration = r.Generation
			if c.change != nil {
				c.change(r)
			}
			p := planner{Engine: &Engine{now: func() time.Time { return now }}, as: Actor{Name: "ann"}, deed: c.deed}
			outcome, err := p.decideRollout(r, nil)
			if err != nil {
				err = rolloutRefusal(err)
				kind, text, _ := strings.Cut(c.want, ": ")
				if ReasonOf(err) != kind || !strings.Contains(err.Error(), text) {
					t.Errorf("%s: %v, want %q", ReasonOf(err), err, c.want)
				}
				return
			}
			effect, warnings := p.rolloutEffect(r, outcome)
			got := strings.Join(append([]string{effect}, warnings...), "; ")
			if outcome.Back != nil {
				got += "; back to " + outcome.Back.To
			}
			if !strings.HasPrefix(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
			if d := r.Spec.Decision; d != nil && (d.By != "ann" || !d.At.Time.Equal(now) || d.Target != c.deed.Target) {
				t.Errorf("decision %+v", d)
			}
		})
	}
}

func TestRollout_ValidateAndTitle(t *testing.T) {
	for want, deed := range map[string]*Request{
		"Pause the rollout of a/notes":         {Kind: Rollout, Rollout: "a/notes", Action: RolloutPause},
		"Resume the rollout of a/notes":        {Kind: Rollout, Rollout: "a/notes", Action: RolloutResume},
		"Approve wave canary of a/notes 1.1.0": about(RolloutApprove),
		"Resume the rollout of a/notes 1.1.0":  about(RolloutResume),
		"Abort the rollout of a/notes 1.1.0":   about(RolloutAbort),
	} {
		if err := deed.Validate(); err != nil || deed.Title() != want {
			t.Errorf("%q, want %q: %v", deed.Title(), want, err)
		}
	}
	for want, deed := range map[string]*Request{
		"field rollout is missing": {Kind: Rollout, Action: RolloutPause},
		"is unknown":               {Kind: Rollout, Rollout: "a/notes", Action: "stop"},
		"is not NAMESPACE/NAME":    {Kind: Rollout, Rollout: "notes", Action: RolloutPause},
		"the whole rollout":        {Kind: Rollout, Rollout: "a/notes", Action: RolloutPause, Channel: "fast"},
		"field target is missing":  {Kind: Rollout, Rollout: "a/notes", Action: RolloutAbort, Channel: "fast"},
		"resume has none":          about(RolloutResume, func(d *Request) { d.Version = "1.0.0" }),
		"means nothing":            {Kind: Manage, Kyma: "a/x", Module: "notes", Action: RolloutPause},
	} {
		if err := deed.Validate(); ReasonOf(err) != WhyInvalid || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// rollout creates a rollout that has halted.
func (b *bench) rollout() string {
	b.Helper()
	r := halted()
	status := r.Status
	r.Namespace, r.Name = b.namespace, b.notes
	b.create(r)
	r.Status = status
	if err := b.Status().Update(b.Context(), r); err != nil {
		b.Fatal(err)
	}
	return b.namespace + "/" + b.notes
}

func TestRollout_DecisionsOfUsers(t *testing.T) {
	b := newBench(t)
	key := b.rollout()
	at := client.ObjectKey{Namespace: b.namespace, Name: b.notes}
	here := func(d *Request) { d.Rollout = key }
	decision := func() *v1beta2.ModuleRollout {
		found := &v1beta2.ModuleRollout{}
		if err := b.Get(t.Context(), at, found); err != nil {
			t.Fatal(err)
		}
		return found
	}
	admin, decider := b.admin(), b.user("decides-"+b.namespace)
	b.may(decider, rule(v1beta2.GroupVersion.Group, "modulerollouts", "get patch"))

	b.refused(b.user("without-rights-"+b.namespace), *about(RolloutResume, here), WhyForbidden, "lacks the permission")
	b.refused(decider, *about(RolloutAbort, here), WhyForbidden, "lacks the permission")
	preview := b.previews(decider, *about(RolloutResume, here))
	if len(preview.Diff) != 1 || len(preview.Warnings) != 1 || preview.Why == "" || decision().Spec.Decision != nil {
		t.Errorf("the preview: %+v, and then %+v", preview, decision().Spec)
	}
	b.succeeds(decider, *about(RolloutResume, here))
	if d := decision().Spec.Decision; d == nil || d.Action != v1beta2.RolloutResume || d.By != decider.Name || d.Wave != "canary" || d.At.IsZero() {
		t.Errorf("decision %+v", d)
	}
	b.succeeds(decider, Request{Kind: Rollout, Rollout: key, Action: RolloutPause})
	if !decision().Spec.Paused {
		t.Error("not paused")
	}

	op := b.succeeds(admin, *about(RolloutAbort, here))
	titles := []string{op.Steps[0].Title, op.Steps[1].Title}
	if !slices.Equal(titles, []string{"Abort the rollout of " + key + " 1.1.0", "Let channel fast offer 1.0.0 again"}) {
		t.Errorf("steps %q", titles)
	}
	release := &v1beta2.ModuleReleaseMeta{}
	if err := b.Get(t.Context(), at, release); err != nil || offeredBy(release, "fast") != "1.0.0" || offeredBy(release, "regular") != "1.0.0" {
		t.Errorf("release %+v: %v", release.Spec, err)
	}
	if d := decision().Spec.Decision; d.Action != v1beta2.RolloutAbort || d.By != admin.Name {
		t.Errorf("decision %+v", d)
	}
	b.succeeds(admin, *about(RolloutAbort, here)) // every request may be repeated
	b.refused(admin, *about(RolloutResume, here, func(d *Request) { d.Target = "1.2.0" }), WhyRefused, "rollout")
	b.refused(admin, *about(RolloutResume, here, func(d *Request) { d.Rollout += "x" }), WhyNotFound, "no ModuleRollout")
}
