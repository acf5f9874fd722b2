package rolloutcmd

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/cli/console"
	"github.com/kyma-project/lifecycle-manager/internal/cli/target"
	"github.com/kyma-project/lifecycle-manager/tests/testkit/apiserver"
)

func TestGolden(t *testing.T) {
	b := newBench(t)
	soaking := channelOf("fast", v1beta2.RolloutProgressing, "early")
	soaking.Waves[1] = v1beta2.RolloutWaveStatus{Name: "early", Since: metav1.NewTime(noon.Add(-20 * time.Minute)), Soaking: true, Total: 2, Ready: 2}
	b.release("eventing", "regular", "1.3.0", "fast", "1.3.0")
	b.rollout("eventing", failed(channelOf("regular", v1beta2.RolloutHalted, "early")), soaking)
	b.release("serverless", "regular", "1.4.0")
	b.rollout("serverless", channelOf("regular", v1beta2.RolloutCompleted, ""))
	b.rollout("telemetry")
	held := b.rollout("istio", channelOf("", v1beta2.RolloutWaiting, "rest"))
	held.Spec.Decision = &v1beta2.RolloutDecision{
		Action: v1beta2.RolloutResume, Target: "1.3.0@sha256:bb", Wave: "early", By: "ann", At: metav1.NewTime(noon.Add(-time.Hour)),
	}
	if err := b.Update(t.Context(), held); err != nil {
		t.Fatal(err)
	}
	b.report(held, channelOf("", v1beta2.RolloutWaiting, "rest"))
	for name, c := range map[string]struct {
		code int
		args []string
	}{
		"list":              {0, []string{"rollout", "list"}},
		"list-wide":         {0, []string{"rollout", "list", "-o", "wide"}},
		"list-name":         {0, []string{"rollout", "list", "-o", "name"}},
		"status-halted":     {1, []string{"rollout", "status", "eventing"}},
		"status-channel":    {0, []string{"rollout", "status", "eventing", "--channel", "fast"}},
		"status-json":       {0, []string{"rollout", "status", "eventing", "-c", "fast", "-o", "json"}},
		"status-yaml":       {2, []string{"rollout", "status", "istio", "-o", "yaml"}},
		"status-behind":     {0, []string{"rollout", "status", "serverless"}},
		"status-unobserved": {0, []string{"rollout", "status", "telemetry"}},
		"status-mandatory":  {2, []string{"rollout", "status", "istio"}},
	} {
		t.Run(name, func(t *testing.T) {
			b := &bench{T: t, WithWatch: b.WithWatch, config: b.config, namespace: b.namespace}
			code, out, said := b.run(c.args...)
			if code != c.code || said != "" {
				t.Errorf("exit code %d, want %d; said %q", code, c.code, said)
			}
			if strings.Contains(out, "\x1b") {
				t.Error("the output has a sequence that a terminal obeys")
			}
			if b.requests != 2 {
				t.Errorf("%d requests, want one list for each of two kinds", b.requests)
			}
			b.golden(name, out)
		})
	}
}

func TestWhatIsNotThere(t *testing.T) {
	b := newBench(t)
	if out := b.expect(0, "There are no rollouts: what channels name reaches every Kyma at once.", "rollout", "list"); out != "" {
		t.Errorf("wrote %q", out)
	}
	if out := b.expect(0, "", "rollout", "list", "-o", "json"); !strings.Contains(out, `"items": []`) {
		t.Errorf("wrote %q", out)
	}
	b.expect(4, "there is no ModuleRollout eventing\nHint: without one", "rollout", "status", "eventing")
	b.expect(4, "there is no ModuleRollout\nHint: without one", "rollout", "status")
	b.expect(4, "there is no ModuleReleaseMeta eventing\nHint: kyma release set NAME", "release", "status", "eventing")
	b.release("eventing", "regular", "1.3.0")
	b.expect(4, "module eventing has no ModuleRollout: what its channels name reaches every Kyma at once", "rollout", "pause", "eventing")
	b.expect(4, "there is no ModuleReleaseMeta evening\nHint: did you mean eventing?", "release", "status", "evening")
	b.rollout("eventing", channelOf("regular", v1beta2.RolloutProgressing, "early"))
	b.expect(4, "there is no ModuleRollout evening\nHint: did you mean eventing? Known rollouts: eventing", "rollout", "abort", "evening")
	b.expect(4, "rollout eventing has no channel slow\nHint: known channels: regular", "rollout", "status", "eventing", "--channel", "slow")
	if out := b.expect(0, "", "rollout", "status"); !strings.HasPrefix(out, "rollout/"+b.namespace+"/eventing: Progressing\n") {
		t.Errorf("the only one needs no name: %q", out)
	}
	code, _, said := b.runAs(t.Context(), &console.Console{}, "rollout", "list", "-n", "nowhere")
	if code != 4 || !strings.Contains(said, "there is no namespace nowhere") {
		t.Errorf("exit code %d, said %q", code, said)
	}
	second := newBench(t)
	second.rollout("eventing", channelOf("regular", v1beta2.RolloutProgressing, "early"))
	code, _, said = b.runAs(t.Context(), &console.Console{}, "rollout", "status", "eventing")
	if code != 64 || !strings.Contains(said, "ModuleRollouts eventing, and none is named: ") {
		t.Errorf("exit code %d, said %q", code, said)
	}
	code, out, _ := b.runAs(t.Context(), &console.Console{}, "rollout", "status", second.namespace+"/eventing", "-o", "name")
	if code != 0 || out != "modulerollout/eventing\n" {
		t.Errorf("exit code %d, wrote %q", code, out)
	}
}

func TestMistakes(t *testing.T) {
	b := newBench(t)
	for line, want := range map[string]string{
		"rollout pause":                                      "NAME is missing",
		"rollout status a b":                                 `unexpected argument "b"`,
		"rollout status a --watch --wait":                    "--wait and --watch exclude each other",
		"rollout status a --timeout 1m":                      "--timeout=1m0s makes no sense",
		"rollout approve a --dry-run=maybe":                  "--dry-run=maybe is unknown",
		"rollout approve a --timeout 0s":                     "--timeout=0s is not positive",
		"release status":                                     "NAME is missing",
		"rollout approve a --timeout -1s --wait=false":       "--timeout=-1s is not positive",
		"rollout status a --wait --timeout -1s":              "--timeout=-1s makes no sense",
		"rollout resume a --dry-run=client --timeout=-1s -y": "is not positive",
	} {
		b.expect(64, want, strings.Fields(line)...)
	}
}

// user returns a connection as a user with some rights in the namespace of the bench.
func (b *bench) user(name string, rules ...rbacv1.PolicyRule) *rest.Config {
	b.Helper()
	in := metav1.ObjectMeta{Namespace: b.namespace, Name: name}
	b.create(&rbacv1.Role{ObjectMeta: in, Rules: rules})
	b.create(&rbacv1.RoleBinding{
		ObjectMeta: in, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: name},
		Subjects: []rbacv1.Subject{{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: name}},
	})
	for _, rule := range rules {
		apiserver.Allowed(b.T, b.WithWatch, name, b.namespace, rule)
	}
	config := rest.CopyConfig(b.config)
	config.Impersonate = rest.ImpersonationConfig{UserName: name, Groups: []string{"system:authenticated"}}
	return config
}

func may(resource string, verbs ...string) rbacv1.PolicyRule {
	return rbacv1.PolicyRule{APIGroups: []string{v1beta2.GroupVersion.Group}, Resources: []string{resource}, Verbs: verbs}
}

func TestRightsThatAreMissing(t *testing.T) {
	b := newBench(t)
	b.release("eventing", "regular", "1.3.0")
	b.rollout("eventing", channelOf("regular", v1beta2.RolloutProgressing, "early"))
	as := func(config *rest.Config, args ...string) (int, string, string) {
		return b.runOn(t.Context(), target.Of(config), &console.Console{In: strings.NewReader("")}, append(args, "--namespace", b.namespace)...)
	}
	nothing := b.user("nothing")
	code, _, said := as(nothing, "rollout", "list")
	if code != 1 || !strings.Contains(said, "you may not list ModuleRollout.operator.kyma-project.io in namespace "+b.namespace) || !strings.Contains(said, "Hint: ask") {
		t.Errorf("exit code %d, said %q", code, said)
	}
	code, _, said = b.runOn(t.Context(), target.Of(nothing), &console.Console{}, "rollout", "list")
	if code != 1 || !strings.Contains(said, "Hint: --namespace asks in one namespace only") {
		t.Errorf("exit code %d, said %q", code, said)
	}
	reader := b.user("reader", may("modulerollouts", "list", "get"))
	code, out, said := as(reader, "rollout", "status", "eventing")
	if code != 0 || !strings.Contains(said, "Warning: you may not list ModuleReleaseMeta") || !strings.Contains(out, "channel regular: Progressing") {
		t.Errorf("exit code %d, said %q, wrote %q", code, said, out)
	}
	code, _, said = as(reader, "rollout", "pause", "eventing")
	if code != 1 || !strings.Contains(said, "you may not change ModuleRollout") || !strings.Contains(said, "Hint: ask for the right to get and patch modulerollouts") {
		t.Errorf("exit code %d, said %q", code, said)
	}
	if code, _, said = as(reader, "release", "status", "eventing"); code != 1 || !strings.Contains(said, "you may not list ModuleReleaseMeta") {
		t.Errorf("exit code %d, said %q", code, said)
	}
	counter := b.user("counter", may("modulereleasemetas", "list", "get"))
	code, _, said = as(counter, "release", "status", "eventing")
	if code != 1 || !strings.Contains(said, "Warning: you may not list ModuleRollout") || !strings.Contains(said, "you may not list Kyma.") {
		t.Errorf("exit code %d, said %q", code, said)
	}
	// One who may not watch waits all the same, and is told of the end.
	waiter := b.user("waiter", may("modulerollouts", "list", "get", "patch"), may("modulereleasemetas", "list", "get"))
	code, _, said = as(waiter, "rollout", "pause", "eventing", "--timeout", "3s")
	if code != 3 || !strings.Contains(said, "has not taken it up after 3s") {
		t.Errorf("exit code %d, said %q", code, said)
	}
	seen := b.reread("eventing")
	b.report(seen, seen.Status.Channels...)
	if code, _, said = as(waiter, "rollout", "resume", "eventing", "--wait=false"); code != 0 {
		t.Errorf("exit code %d, said %q", code, said)
	}
	seen = b.reread("eventing")
	b.report(seen, seen.Status.Channels...)
	// One who may decide and not release: the abort stops admissions, and says what is left to do.
	decider := b.user("decider", may("modulerollouts", "list", "get", "patch"), may("modulereleasemetas", "get", "list"))
	code, out, said = as(decider, "rollout", "abort", "eventing", "--yes", "--wait=false")
	if code != 1 || !strings.Contains(said, "the rollout is aborted and no further Kyma gets 1.3.0, but channel regular still names it") || !strings.Contains(out, "aborted") {
		t.Errorf("exit code %d, said %q, wrote %q", code, said, out)
	}
	if got := b.decision("eventing"); got != "abort regular early 1.3.0@sha256:bb decider" {
		t.Errorf("the decision is %q", got)
	}
	if out := b.expect(0, "", "rollout", "abort", "eventing", "--yes", "--wait=false"); !strings.Contains(out, "unchanged") || !strings.Contains(out, "set back") {
		t.Errorf("one who may do both completes it: %q", out)
	}
	if got := b.offers("eventing", "regular"); got != "1.2.0" {
		t.Errorf("the channel names %s", got)
	}
	if got := b.decision("eventing"); got != "abort regular early 1.3.0@sha256:bb decider" {
		t.Errorf("the decision is another one: %q", got)
	}
}

// screen takes the output of a command that is under way.
type screen struct {
	mutex sync.Mutex
	text  strings.Builder
}

func (s *screen) Write(p []byte) (int, error) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return s.text.Write(p)
}

// shows returns what is on the screen.
func (s *screen) shows() string {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return s.text.String()
}

// await waits until words are on the screen.
func (s *screen) await(t *testing.T, words string) {
	t.Helper()
	err := wait.PollUntilContextTimeout(t.Context(), 20*time.Millisecond, time.Minute, true, func(context.Context) (bool, error) {
		return strings.Contains(s.shows(), words), nil
	})
	if err != nil {
		t.Fatalf("%q is not on the screen: %v\n%s", words, err, s.shows())
	}
}

func TestStatus_Watch(t *testing.T) {
	b := newBench(t)
	r := b.rollout("eventing", channelOf("regular", v1beta2.RolloutProgressing, "early"))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	out, ended := &screen{}, make(chan int)
	go func() {
		code, _, _ := b.runAs(ctx, &console.Console{Out: out}, "rollout", "status", "eventing", "--watch", "--namespace", b.namespace)
		ended <- code
	}()
	out.await(t, "channel regular: Progressing")
	b.report(r, failed(channelOf("regular", v1beta2.RolloutHalted, "early")))
	out.await(t, "channel regular: Halted")
	cancel()
	if code := <-ended; code != 130 {
		t.Errorf("exit code %d", code)
	}
}

func TestStatus_Wait(t *testing.T) {
	halted := failed(channelOf("regular", v1beta2.RolloutHalted, "early"))
	halted.Message = "3 of 200 Kymas of wave early failed, and 2 may"
	aborted := channelOf("regular", v1beta2.RolloutAborted, "early")
	for name, c := range map[string]struct {
		then v1beta2.RolloutChannel
		code int
		says string
	}{
		"it completes": {channelOf("regular", v1beta2.RolloutCompleted, ""), 0, "Completed    channel regular: 1.3.0"},
		"it halts": {
			halted, 1, "Error: rollout eventing has halted on channel regular: 3 of 200 Kymas of wave early failed, and 2 may\nHint: kyma rollout status eventing",
		},
		"it is aborted": {aborted, 1, "rollout eventing was aborted on channel regular: the rollout was aborted: no further Kyma gets 1.3.0"},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.release("eventing", "regular", "1.3.0")
			r := b.rollout("eventing", channelOf("regular", v1beta2.RolloutWaiting, "rest"))
			said := make(chan string)
			go func() {
				code, _, text := b.run("rollout", "status", "eventing", "--wait")
				said <- fmt.Sprintf("%d %s", code, text)
			}()
			b.report(r, channelOf("regular", v1beta2.RolloutProgressing, "rest"))
			b.report(r, c.then)
			got := <-said
			if !strings.HasPrefix(got, fmt.Sprint(c.code)) || !strings.Contains(got, c.says) {
				t.Errorf("it ended with %s", got)
			}
		})
	}
}

// TestStatus_WhatCannotComplete: a plan that is wrong, and one that is about nothing, end a wait at once.
func TestStatus_WhatCannotComplete(t *testing.T) {
	b := newBench(t)
	wrong := b.rollout("wrong", channelOf("regular", v1beta2.RolloutProgressing, "early"))
	wrong.Status.Conditions = []metav1.Condition{{
		Type: v1beta2.ConditionProgressing, Status: metav1.ConditionFalse, Reason: v1beta2.ReasonSpecInvalid, Message: "its selector\nis wrong",
		LastTransitionTime: metav1.NewTime(noon),
	}}
	empty := b.rollout("empty")
	empty.Status.Phase, empty.Status.ObservedGeneration, empty.Status.Summary = v1beta2.RolloutCompleted, 1, "no channel of the module is in the plan"
	empty.Status.Conditions = []metav1.Condition{{
		Type: v1beta2.ConditionArmed, Status: metav1.ConditionTrue, Reason: v1beta2.ReasonArmed, LastTransitionTime: metav1.NewTime(noon),
	}}
	for _, r := range []*v1beta2.ModuleRollout{wrong, empty} {
		if err := b.Status().Update(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
	b.expect(1, "rollout wrong cannot be carried out: its selector is wrong", "rollout", "status", "wrong", "--wait")
	if out := b.expect(1, "", "rollout", "status", "wrong"); !strings.Contains(out, "  note       its selector is wrong\n") {
		t.Errorf("wrote %q", out)
	}
	b.expect(1, "rollout empty has nothing to wait for: no channel of the module is in the plan", "rollout", "status", "empty", "--wait")
	b.expect(1, "rollout empty decides about no channel of its module", "rollout", "approve", "empty")
}

// TestStatus_WaitIsNotFooledByTheVersionBefore: a channel that has just moved still has the status of the version before.
func TestStatus_WaitIsNotFooledByTheVersionBefore(t *testing.T) {
	b := newBench(t)
	b.release("eventing", "regular", "1.4.0")
	b.rollout("eventing", channelOf("regular", v1beta2.RolloutCompleted, ""))
	b.expect(3, "rollout eventing has not completed after 1ns: channel regular: channel regular names 1.4.0",
		"rollout", "status", "eventing", "--wait", "--timeout", "1ns")
	b.rollout("telemetry")
	out := b.expect(3, "the lifecycle manager has not looked at it yet", "rollout", "status", "telemetry", "--wait", "--timeout", "1ns", "-o", "json")
	if !strings.Contains(out, `"phase": "Pending"`) {
		t.Errorf("programs get what is known: %q", out)
	}
}

// kymas creates Kymas with eventing on channel regular.
func (b *bench) kymas(count int) {
	b.Helper()
	for i := range count {
		kyma := &v1beta2.Kyma{ObjectMeta: metav1.ObjectMeta{Namespace: b.namespace, Name: fmt.Sprintf("kyma-%02d", i)}}
		kyma.Spec = v1beta2.KymaSpec{Channel: "regular", Modules: []v1beta2.Module{{Name: "eventing"}, {Name: "other"}}}
		b.create(kyma)
		version, state := "1.2.0", v1beta2.StateReady
		if i < 15 {
			version, state = "1.3.0", v1beta2.StateError
		}
		kyma.Status = v1beta2.KymaStatus{State: state, Modules: []v1beta2.ModuleStatus{
			{Name: "eventing", Version: version, State: state, Channel: "regular", Message: "so it is\nhere"},
			{Name: "other", Version: "9.9.9", State: v1beta2.StateError},
		}}
		if err := b.Status().Update(b.Context(), kyma); err != nil {
			b.Fatal(err)
		}
	}
}

func TestReleaseStatus(t *testing.T) {
	b := newBench(t)
	b.release("eventing", "regular", "1.3.0", "fast", "1.3.0")
	b.kymas(20)
	b.golden("release", b.expect(0, "", "release", "status", "eventing"))
	if b.requests != 3 {
		t.Errorf("%d requests, want one list for each of three kinds", b.requests)
	}
	b.rollout("eventing", failed(channelOf("regular", v1beta2.RolloutHalted, "early")))
	b.golden("release-json", b.expect(0, "", "release", "status", "eventing", "-o", "json"))
	if out := b.expect(0, "", "release", "status", "eventing"); !strings.Contains(out, "Halted in wave early") {
		t.Errorf("the rollout is not shown: %q", out)
	}
	if out := b.expect(0, "", "release", "status", "eventing", "-o", "name"); out != "modulereleasemeta/eventing\n" {
		t.Errorf("wrote %q", out)
	}
}

func TestReleaseStatus_AMandatoryModule(t *testing.T) {
	b := newBench(t)
	release := &v1beta2.ModuleReleaseMeta{ObjectMeta: metav1.ObjectMeta{Namespace: b.namespace, Name: "warden"}}
	release.Spec = v1beta2.ModuleReleaseMetaSpec{ModuleName: "warden", Mandatory: &v1beta2.Mandatory{Version: "1.0.0"}}
	b.create(release)
	for _, name := range []string{"alice", "standalone"} {
		manifest := &v1beta2.Manifest{ObjectMeta: metav1.ObjectMeta{
			Namespace: b.namespace, Name: name + "-warden", Labels: map[string]string{v1beta2.LabelKymaName: name, v1beta2.LabelModuleName: "warden"},
		}}
		if name == "alice" {
			manifest.Labels[v1beta2.LabelManagedBy] = v1beta2.ManagedByLifecycleManager
		}
		manifest.Spec.Version, manifest.Spec.Install.Name, manifest.Spec.Install.Source.Raw = "1.0.0", "raw", []byte(`{}`)
		b.create(manifest)
		manifest.Status.State = v1beta2.StateReady
		if err := b.Status().Update(t.Context(), manifest); err != nil {
			t.Fatal(err)
		}
	}
	out := b.expect(0, "", "release", "status", "warden")
	if !strings.Contains(out, "warden: 1 Kyma\n") || !strings.Contains(out, "(mandatory)   1.0.0    1       1 ") {
		t.Errorf("wrote %q", out)
	}
}
