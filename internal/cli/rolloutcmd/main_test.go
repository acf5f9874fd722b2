package rolloutcmd

import (
	"bytes"
	"context"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/cli/console"
	"github.com/kyma-project/lifecycle-manager/internal/cli/target"
	"github.com/kyma-project/lifecycle-manager/tests/testkit/apiserver"
)

func TestMain(m *testing.M) { apiserver.Main(m, apiserver.OurKinds) }

var update = flag.Bool("update", false, "write the golden files anew")

// noon is when the command lines of these tests run.
var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

// bench is a namespace of its own, and a command line. No lifecycle manager runs.
type bench struct {
	*testing.T
	client.WithWatch
	config    *rest.Config
	namespace string
	requests  int
}

func newBench(t *testing.T) *bench {
	t.Helper()
	apiserver.Need(t)
	config, err := apiserver.Start()
	if err != nil {
		t.Fatal(err)
	}
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "rollout-"}}
	b := &bench{T: t, WithWatch: apiserver.Client(t), config: config}
	b.create(namespace)
	b.namespace = namespace.Name
	return b
}

func (b *bench) create(o client.Object) {
	b.Helper()
	if err := b.Create(b.Context(), o); err != nil {
		b.Fatal(err)
	}
}

// release creates the release of a module, with versions of channels.
func (b *bench) release(name string, channels ...string) *v1beta2.ModuleReleaseMeta {
	b.Helper()
	r := &v1beta2.ModuleReleaseMeta{ObjectMeta: metav1.ObjectMeta{Namespace: b.namespace, Name: name}}
	r.Spec = v1beta2.ModuleReleaseMetaSpec{ModuleName: name, OCMComponentName: "example.com/module/" + name}
	for i := 0; i < len(channels); i += 2 {
		r.Spec.Channels = append(r.Spec.Channels, v1beta2.ChannelVersion{Channel: channels[i], Version: channels[i+1]})
	}
	b.create(r)
	return r
}

// channelOf returns a channel on its way from 1.2.0 to 1.3.0, in a phase and a wave.
func channelOf(name string, phase v1beta2.RolloutPhase, wave string) v1beta2.RolloutChannel {
	at := func(ago time.Duration) metav1.Time { return metav1.NewTime(noon.Add(-ago)) }
	return v1beta2.RolloutChannel{
		Name: name, Phase: phase, Wave: wave, Underway: []string{"0123456789abc"},
		From: v1beta2.RolloutVersion{Version: "1.2.0", Digest: "sha256:aa"}, To: v1beta2.RolloutVersion{Version: "1.3.0", Digest: "sha256:bb"},
		Waves: []v1beta2.RolloutWaveStatus{
			{Name: "canary", Since: at(3 * time.Hour), Total: 3, Ready: 3},
			{Name: "early", Since: at(30 * time.Minute), Total: 200, Waiting: 180, Updating: 2, Ready: 10, Failed: 3, BrokenBefore: 1, Skipped: 4},
			{Name: "rest", Total: 1000, Waiting: 990, Skipped: 10},
		},
	}
}

func failed(c v1beta2.RolloutChannel) v1beta2.RolloutChannel {
	c.Worst = []v1beta2.RolloutFailure{
		{
			Kyma: "alice", Reason: v1beta2.ReasonProgressDeadlineExceeded, Message: "Deployment eventing-manager:\n0 of 1 \x1b[31mreplicas",
			Since: metav1.NewTime(noon.Add(-12 * time.Minute)),
		},
		{Kyma: "bob", Reason: v1beta2.ReasonRuntimeLost, Since: metav1.NewTime(noon.Add(-90 * time.Second))},
	}
	return c
}

// rollout creates a rollout with channels in its status; none means that the lifecycle manager has not looked at it yet.
func (b *bench) rollout(name string, channels ...v1beta2.RolloutChannel) *v1beta2.ModuleRollout {
	b.Helper()
	hours := func(n time.Duration) metav1.Duration { return metav1.Duration{Duration: n * time.Hour} }
	r := &v1beta2.ModuleRollout{ObjectMeta: metav1.ObjectMeta{Namespace: b.namespace, Name: name}}
	r.Spec.ProgressDeadline.Duration = 30 * time.Minute
	r.Spec.Waves = []v1beta2.RolloutWave{
		{Name: "canary", Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"ring": "canary"}}, Soak: hours(2)},
		{Name: "early", Share: "10%", MaxConcurrent: 50, MaxFailed: "1%", Soak: hours(1)},
		{Name: "rest", MaxConcurrent: 200, MaxFailed: "1%", Approval: true},
	}
	b.create(r)
	b.report(r, channels...)
	return r
}

// report writes the status of a rollout, as the lifecycle manager would.
func (b *bench) report(r *v1beta2.ModuleRollout, channels ...v1beta2.RolloutChannel) {
	b.Helper()
	if len(channels) == 0 {
		return
	}
	r.Status = v1beta2.ModuleRolloutStatus{
		ObservedGeneration: r.Generation, Phase: channels[0].Phase, Channels: channels,
		Conditions: []metav1.Condition{{
			Type: v1beta2.ConditionArmed, Status: metav1.ConditionTrue, Reason: v1beta2.ReasonArmed, LastTransitionTime: metav1.NewTime(noon),
		}},
	}
	if err := b.Status().Update(b.Context(), r); err != nil {
		b.Fatal(err)
	}
}

// decision returns what a person decided about a rollout, as "action channel wave target by".
func (b *bench) decision(name string) string {
	b.Helper()
	r := &v1beta2.ModuleRollout{}
	if err := b.Get(b.Context(), client.ObjectKey{Namespace: b.namespace, Name: name}, r); err != nil {
		b.Fatal(err)
	}
	words := []string{}
	if r.Spec.Paused {
		words = append(words, "paused")
	}
	if d := r.Spec.Decision; d != nil {
		words = append(words, string(d.Action), d.Channel, d.Wave, d.Target, d.By)
		if d.At.IsZero() {
			b.Error("the decision has no time")
		}
	}
	return strings.Join(words, " ")
}

// offers returns the version that a channel names.
func (b *bench) offers(name, channel string) string {
	b.Helper()
	r := &v1beta2.ModuleReleaseMeta{}
	if err := b.Get(b.Context(), client.ObjectKey{Namespace: b.namespace, Name: name}, r); err != nil {
		b.Fatal(err)
	}
	for _, c := range r.Spec.Channels {
		if c.Channel == channel {
			return c.Version
		}
	}
	return ""
}

// run runs one command line in the namespace of the bench. Questions get no answer.
func (b *bench) run(args ...string) (code int, out, said string) {
	b.Helper()
	return b.runAs(b.Context(), &console.Console{In: strings.NewReader("")}, append(args, "--namespace", b.namespace)...)
}

func (b *bench) runAs(ctx context.Context, c *console.Console, args ...string) (code int, out, said string) {
	b.Helper()
	return b.runOn(ctx, target.Of(b.config), c, args...)
}

func (b *bench) runOn(ctx context.Context, to *target.Target, c *console.Console, args ...string) (code int, out, said string) {
	b.Helper()
	var outBuffer, errBuffer bytes.Buffer
	if c.Out == nil {
		c.Out = &outBuffer
	}
	c.Err = &errBuffer
	root := &cobra.Command{Use: "kyma", SilenceErrors: true, SilenceUsage: true}
	root.SetOut(&outBuffer)
	to.AddFlags(root.PersistentFlags())
	root.PersistentFlags().BoolVarP(&c.Yes, "yes", "y", c.Yes, "")
	root.AddCommand(commands(c, to, func() time.Time { return noon })...)
	root.SetArgs(args)
	code = c.Fail(to.Explain(root.ExecuteContext(ctx)))
	b.requests = to.Requests()
	return code, outBuffer.String(), errBuffer.String()
}

// expect runs one command line that must end with a code and with words on standard error.
func (b *bench) expect(code int, words string, args ...string) (out string) {
	b.Helper()
	got, out, said := b.run(args...)
	if got != code || !strings.Contains(said, words) {
		b.Errorf("kyma %s: exit code %d, want %d; said %q, want %q in it\n%s", strings.Join(args, " "), got, code, said, words, out)
	}
	return out
}

// golden compares an output with the file in testdata, in which NAMESPACE stands for that of the bench.
func (b *bench) golden(name, is string) {
	b.Helper()
	is = strings.ReplaceAll(is, b.namespace, "NAMESPACE")
	path := filepath.Join("testdata", name+".golden")
	if *update {
		if err := os.WriteFile(path, []byte(is), 0o600); err != nil {
			b.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		b.Fatal(err)
	}
	if diff := cmp.Diff(string(want), is); diff != "" {
		b.Errorf("%s differs (-want +got; -update writes it anew):\n%s", path, diff)
	}
}
