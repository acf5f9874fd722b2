package server

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

func TestWavesOf(t *testing.T) {
	since := metav1.NewTime(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))
	for name, c := range map[string]struct {
		change func(*v1beta2.RolloutChannel)
		want   []string
	}{
		"waves before the current one have passed, and others wait": {
			func(*v1beta2.RolloutChannel) {}, []string{"canary Passed ring=canary 2h", "early Current", "rest Ahead", "others Ahead unplanned"},
		},
		"once completed all have passed": {
			func(c *v1beta2.RolloutChannel) { c.Phase, c.Wave = v1beta2.RolloutCompleted, "" },
			[]string{"canary Passed ring=canary 2h", "early Passed", "rest Passed", "others Passed unplanned"},
		},
		"before the first wave none has": {
			func(c *v1beta2.RolloutChannel) { c.Phase, c.Wave = v1beta2.RolloutWaiting, "" },
			[]string{"canary Ahead ring=canary 2h", "early Ahead", "rest Ahead", "others Ahead unplanned"},
		},
		"a soak ends when its time has passed since all were ready": {
			func(c *v1beta2.RolloutChannel) {
				c.Wave, c.Waves = "canary", []v1beta2.RolloutWaveStatus{{Name: "canary", Since: since, Soaking: true}}
			},
			[]string{"canary Current ring=canary 2h until 05:04"},
		},
		"a wave that was counted and is not planned any more has counts only": {
			func(c *v1beta2.RolloutChannel) { c.Waves = []v1beta2.RolloutWaveStatus{{Name: "gone", Total: 3}} },
			[]string{"gone Passed unplanned"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := halted("x")
			c.change(&r.Status.Channels[0])
			var got []string
			for _, w := range wavesOf(&r.Spec, &r.Status.Channels[0]) {
				line := strings.TrimSpace(fmt.Sprintf("%s %s %s %s", w.Name, w.Stage, w.Selects, w.Soak))
				if !w.Planned {
					line += " unplanned"
				}
				if w.SoakEnds != nil {
					line += " until " + w.SoakEnds.Format("15:04")
				}
				got = append(got, line)
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("got  %q\nwant %q", got, c.want)
			}
		})
	}
}

func TestSoakText(t *testing.T) {
	for d, want := range map[time.Duration]string{
		2 * time.Hour: "2h", 30 * time.Minute: "30m", 90 * time.Minute: "1h30m", 10 * time.Second: "10s", 100 * time.Minute: "1h40m",
		time.Hour + time.Second: "1h0m1s", 20 * time.Hour: "20h",
	} {
		if got := soakText(d); got != want {
			t.Errorf("%s is written %q, want %q", d, got, want)
		}
	}
}

func TestDecisionsOf(t *testing.T) {
	for name, c := range map[string]struct {
		phase           v1beta2.RolloutPhase
		from            string
		decide, release bool
		want            []string
	}{
		"a halted one can be resumed and aborted": {
			v1beta2.RolloutHalted, "1.0.0", true, true, []string{"approve: no wave waits for an approval", "resume", "abort to 1.0.0"},
		},
		"one that waits can be approved": {
			v1beta2.RolloutWaiting, "1.0.0", true, true, []string{"approve", "resume: it has not halted", "abort to 1.0.0"},
		},
		"one that is over leaves nothing to decide": {
			v1beta2.RolloutCompleted, "1.0.0", true, true,
			[]string{"approve: no wave waits for an approval", "resume: it has not halted", "abort to 1.0.0: it is over"},
		},
		"an abort sets a channel back, which needs the right to": {
			v1beta2.RolloutHalted, "1.0.0", true, false,
			[]string{"approve: no wave waits for an approval", "resume", "abort to 1.0.0: you may not change the rollout and its ModuleReleaseMeta"},
		},
		"without a version before, an abort changes the rollout only": {
			v1beta2.RolloutHalted, "", true, false, []string{"approve: no wave waits for an approval", "resume", "abort"},
		},
		"without rights nothing can be decided": {
			v1beta2.RolloutHalted, "1.0.0", false, false,
			[]string{
				"approve: no wave waits for an approval", "resume: you may not change the rollout",
				"abort to 1.0.0: you may not change the rollout and its ModuleReleaseMeta",
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := halted("x")
			channel := &r.Status.Channels[0]
			channel.Phase, channel.From.Version = c.phase, c.from
			var got []string
			for _, act := range decisionsOf(r, channel, c.decide, c.release) {
				line := string(act.Deed.Action)
				if act.Deed.Version != "" {
					line += " to " + act.Deed.Version
				}
				if why, _, _ := strings.Cut(act.Why, ": ask"); why != "" {
					line += ": " + why
				}
				if act.Allowed != (act.Why == "") || act.Deed.Target != "1.1.0@"+someDigest || act.Deed.Validate() != nil {
					t.Errorf("%+v: %v", act, act.Deed.Validate())
				}
				got = append(got, line)
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("got  %q\nwant %q", got, c.want)
			}
		})
	}
}

func TestTimelineOf(t *testing.T) {
	if got := timelineOf(nil, nil); got == nil || len(got) != 0 {
		t.Errorf("no Manifest: %v", got)
	}
	manifest := &v1beta2.Manifest{}
	manifest.Status.Revisions = []v1beta2.Revision{
		{Number: 7, Version: "1.0.0", Digest: someDigest, Outcome: v1beta2.RevisionSucceeded},
		{Number: 9, Version: "1.2.0", Digest: someDigest, Before: v1beta2.StateReady},
		{Number: 8, Version: "1.1.0", Digest: someDigest, Outcome: v1beta2.RevisionRolledBack, Reason: "ProgressDeadlineExceeded"},
	}
	var got []string
	for _, r := range timelineOf(manifest, []string{"1.1.0@" + someDigest}) {
		got = append(got, fmt.Sprintf("%d %s %s%s current=%v avoided=%v", r.Number, r.Version, r.Outcome, r.Reason, r.Current, r.Avoided))
	}
	want := []string{
		"9 1.2.0  current=true avoided=false", "8 1.1.0 RolledBackProgressDeadlineExceeded current=false avoided=true",
		"7 1.0.0 Succeeded current=false avoided=false",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}
