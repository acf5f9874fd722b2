package rolloutcmd

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/cli/console"
)

// administrator is the user of the bench.
const administrator = "admin"

func TestDecisions(t *testing.T) {
	progressing, waits := channelOf("regular", v1beta2.RolloutProgressing, "early"), channelOf("regular", v1beta2.RolloutWaiting, "rest")
	halted, other := channelOf("regular", v1beta2.RolloutHalted, "early"), channelOf("fast", v1beta2.RolloutHalted, "canary")
	for name, c := range map[string]struct {
		channels []v1beta2.RolloutChannel
		line     string
		code     int
		says     string
		writes   string
		decides  string
	}{
		"pause":         {[]v1beta2.RolloutChannel{progressing}, "pause eventing", 0, "", "modulerollout/eventing   paused", "paused"},
		"pause, dry":    {[]v1beta2.RolloutChannel{progressing}, "pause eventing --dry-run=client", 0, "", "paused (dry run)", ""},
		"resume":        {[]v1beta2.RolloutChannel{halted}, "resume eventing", 0, "", "resumed   regular   1.3.0     early", "resume regular early 1.3.0@sha256:bb " + administrator},
		"resume, dry":   {[]v1beta2.RolloutChannel{halted}, "resume eventing --dry-run=server -o json", 0, "", `"dryRun": "server"`, ""},
		"resume of two": {[]v1beta2.RolloutChannel{halted, other}, "resume eventing", 64, "none is named: regular, fast\nHint: name one by --channel", "", ""},
		"resume of one": {
			[]v1beta2.RolloutChannel{halted, other}, "resume eventing --channel fast", 0, "", "resumed   fast", "resume fast canary 1.3.0@sha256:bb " + administrator,
		},
		"resume without need": {[]v1beta2.RolloutChannel{progressing}, "resume eventing", 0, "Nothing changed: rollout eventing is neither paused nor halted.", "unchanged", ""},
		"approve":             {[]v1beta2.RolloutChannel{waits}, "approve eventing -o name", 0, "", "modulerollout/eventing\n", "approve regular rest 1.3.0@sha256:bb " + administrator},
		"approve another":     {[]v1beta2.RolloutChannel{waits}, "approve eventing --wave early", 1, "wave rest of rollout eventing waits for approval, not wave early\nHint: kyma", "", ""},
		"approve none":        {[]v1beta2.RolloutChannel{progressing}, "approve eventing", 1, "no wave of rollout eventing waits for approval\nHint: kyma", "", ""},
		"too early":           {nil, "approve eventing", 1, "the lifecycle manager has not looked at rollout eventing yet\nHint: kyma", "", ""},
		"abort":               {[]v1beta2.RolloutChannel{progressing}, "abort eventing --yes", 0, "", "modulereleasemeta/eventing   set back   regular   1.2.0", "abort regular early 1.3.0@sha256:bb " + administrator},
		"abort, dry":          {[]v1beta2.RolloutChannel{progressing}, "abort eventing --dry-run=server", 0, "", "set back (dry run)", ""},
		"abort, unasked":      {[]v1beta2.RolloutChannel{progressing}, "abort eventing", 64, "aborting the rollout of eventing 1.3.0 needs confirmation, and there is no terminal\nHint: --yes", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.release("eventing", "regular", "1.3.0", "fast", "1.3.0")
			b.rollout("eventing", c.channels...)
			args := append([]string{"rollout"}, strings.Fields(c.line)...)
			out := b.expect(c.code, c.says, append(args, "--wait=false")...)
			if !strings.Contains(out, c.writes) || c.writes == "" && out != "" {
				t.Errorf("wrote %q, want %q in it", out, c.writes)
			}
			if got := strings.ReplaceAll(b.decision("eventing"), "system:admin", administrator); got != c.decides {
				t.Errorf("decided %q, want %q", got, c.decides)
			}
			want := "1.3.0"
			if name == "abort" {
				want = "1.2.0"
			}
			if got := b.offers("eventing", "regular"); got != want {
				t.Errorf("channel regular names %s, want %s", got, want)
			}
		})
	}
}

func TestDecisions_PauseAndResume(t *testing.T) {
	b := newBench(t)
	b.rollout("eventing", channelOf("regular", v1beta2.RolloutProgressing, "early"))
	b.expect(0, "", "rollout", "pause", "eventing", "--wait=false")
	b.expect(0, "Nothing changed: rollout eventing is paused already.", "rollout", "pause", "eventing")
	b.expect(0, "", "rollout", "resume", "eventing", "--wait=false")
	if got := b.decision("eventing"); got != "" {
		t.Errorf("decided %q: the end of a pause is no decision about a version", got)
	}
}

// TestDecisions_Wait: the command ends once the lifecycle manager has seen the change.
func TestDecisions_Wait(t *testing.T) {
	b := newBench(t)
	r := b.rollout("eventing", channelOf("regular", v1beta2.RolloutProgressing, "early"))
	b.expect(3, "the change of rollout eventing is written, and the lifecycle manager has not taken it up after 1s\nHint: kyma check",
		"rollout", "pause", "eventing", "--timeout", "1s")
	ended := make(chan int)
	go func() {
		code, _, _ := b.run("rollout", "resume", "eventing")
		ended <- code
	}()
	for r.Spec.Paused = true; r.Spec.Paused; {
		if err := b.Get(t.Context(), client.ObjectKeyFromObject(r), r); err != nil {
			t.Fatal(err)
		}
	}
	b.report(r, r.Status.Channels...)
	if code := <-ended; code != 0 {
		t.Errorf("exit code %d", code)
	}
}

func TestAbort_AsksAPerson(t *testing.T) {
	b := newBench(t)
	b.release("eventing", "regular", "1.3.0")
	b.rollout("eventing", channelOf("regular", v1beta2.RolloutProgressing, "early"))
	answer := func(text string) (int, string) {
		c := &console.Console{In: strings.NewReader(text), Asks: true}
		code, _, said := b.runAs(t.Context(), c, "rollout", "abort", "eventing", "--wait=false", "--namespace", b.namespace)
		return code, said
	}
	code, said := answer("n\n")
	if code != 1 || !strings.Contains(said, "Abort the rollout of eventing 1.3.0, and set channel regular back to 1.2.0? No further Kyma gets it. [y/N]") {
		t.Errorf("exit code %d, said %q", code, said)
	}
	if got := b.decision("eventing") + b.offers("eventing", "regular"); got != "1.3.0" {
		t.Errorf("a no changed something: %s", got)
	}
	if code, said := answer("y\n"); code != 0 || b.offers("eventing", "regular") != "1.2.0" {
		t.Errorf("exit code %d, said %q", code, said)
	}
	b.report(b.reread("eventing"), channelOf("regular", v1beta2.RolloutAborted, "early"))
	if code, said := answer(""); code != 0 || !strings.Contains(said, "rollout eventing is aborted already") || strings.Contains(said, "[y/N]") {
		t.Errorf("what changes nothing is not asked: exit code %d, said %q", code, said)
	}
}

func (b *bench) reread(name string) *v1beta2.ModuleRollout {
	b.Helper()
	r := &v1beta2.ModuleRollout{}
	if err := b.Get(b.Context(), client.ObjectKey{Namespace: b.namespace, Name: name}, r); err != nil {
		b.Fatal(err)
	}
	return r
}

func TestAbort_WhereTheChannelCannotGoBack(t *testing.T) {
	b := newBench(t)
	b.release("eventing", "regular", "1.5.0")
	b.rollout("eventing", channelOf("regular", v1beta2.RolloutProgressing, "early"))
	b.expect(0, "channel regular of release eventing names 1.5.0 by now, so that it stays", "rollout", "abort", "eventing", "--yes", "--wait=false")
	if got := b.offers("eventing", "regular"); got != "1.5.0" {
		t.Errorf("a version that another person set is overwritten by %s", got)
	}
	first := channelOf("regular", v1beta2.RolloutProgressing, "early")
	first.From = v1beta2.RolloutVersion{}
	b.release("first", "regular", "1.3.0")
	b.rollout("first", first)
	b.expect(0, "No other version of channel regular has completed, so that it keeps naming 1.3.0: kyma release set first CHANNEL=VERSION",
		"rollout", "abort", "first", "--yes", "--wait=false")
	b.rollout("lonely", channelOf("regular", v1beta2.RolloutProgressing, "early"))
	b.expect(1, "is gone, so that nothing offers 1.3.0 any more", "rollout", "abort", "lonely", "--yes", "--wait=false")
	if got := b.decision("lonely"); !strings.HasPrefix(got, "abort regular") {
		t.Errorf("decided %q", got)
	}
}

func TestAbort_AMandatoryModule(t *testing.T) {
	b := newBench(t)
	release := &v1beta2.ModuleReleaseMeta{ObjectMeta: metav1.ObjectMeta{Namespace: b.namespace, Name: "istio"}}
	release.Spec.ModuleName, release.Spec.Mandatory = "istio", &v1beta2.Mandatory{Version: "1.3.0"}
	b.create(release)
	b.rollout("istio", channelOf("", v1beta2.RolloutProgressing, "early"))
	b.expect(0, "", "rollout", "abort", "istio", "--yes", "--wait=false")
	if err := b.Get(t.Context(), client.ObjectKeyFromObject(release), release); err != nil || release.Spec.Mandatory.Version != "1.2.0" {
		t.Errorf("the release is %+v, %v", release.Spec, err)
	}
}

// TestDecisions_OfManyAtOnce: decisions are bound to what they were made from, so that none is half of two.
func TestDecisions_OfManyAtOnce(t *testing.T) {
	b := newBench(t)
	b.release("eventing", "regular", "1.3.0")
	r := b.rollout("eventing", channelOf("regular", v1beta2.RolloutWaiting, "rest"))
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var all sync.WaitGroup
	codes := make([]int, 8)
	for i := range codes {
		line := []string{"rollout", "pause", "eventing"}
		if i%2 == 0 {
			line = []string{"rollout", "approve", "eventing"}
		}
		all.Go(func() {
			one := &bench{T: t, WithWatch: b.WithWatch, config: b.config, namespace: b.namespace}
			codes[i], _, _ = one.runAs(ctx, &console.Console{}, append(line, "--wait=false", "--namespace", b.namespace)...)
		})
	}
	all.Wait()
	got := b.reread("eventing")
	if !got.Spec.Paused || got.Spec.Decision == nil || got.Spec.Decision.Wave != "rest" || len(got.Spec.Waves) != len(r.Spec.Waves) {
		t.Errorf("the spec is %+v", got.Spec)
	}
	for i, code := range codes {
		if code != 0 {
			t.Errorf("command %d ended with %d", i, code)
		}
	}
}
