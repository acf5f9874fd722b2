package rolloutedit

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/client/kymaedit"
	"github.com/kyma-project/lifecycle-manager/internal/client/rollouts"
	"github.com/kyma-project/lifecycle-manager/tests/testkit/apiserver"
)

// start returns a client, and the key of a rollout and a release in a namespace of their own.
func start(t *testing.T) (client.WithWatch, client.ObjectKey, *v1beta2.ModuleRollout) {
	t.Helper()
	apiserver.Need(t)
	c := apiserver.Client(t)
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "edit-"}}
	if err := c.Create(t.Context(), namespace); err != nil {
		t.Fatal(err)
	}
	in := metav1.ObjectMeta{Namespace: namespace.Name, Name: "eventing"}
	rollout := &v1beta2.ModuleRollout{ObjectMeta: in}
	rollout.Spec.Waves, rollout.Spec.ProgressDeadline.Duration = []v1beta2.RolloutWave{{Name: "all"}}, time.Minute
	release := &v1beta2.ModuleReleaseMeta{ObjectMeta: in}
	release.Spec = v1beta2.ModuleReleaseMetaSpec{
		ModuleName: "eventing", Channels: []v1beta2.ChannelVersion{{Channel: "regular", Version: "1.3.0"}, {Channel: "fast", Version: "1.3.0"}},
	}
	for _, o := range []client.Object{rollout, release} {
		if err := c.Create(t.Context(), o); err != nil {
			t.Fatal(err)
		}
	}
	return c, client.ObjectKeyFromObject(rollout), rollout
}

// between returns a client that lets another person write before the first patch of this one.
func between(c client.WithWatch, other func(context.Context) error) client.WithWatch {
	done := false
	return interceptor.NewClient(c, interceptor.Funcs{
		Patch: func(ctx context.Context, c client.WithWatch, o client.Object, patch client.Patch, options ...client.PatchOption) error {
			if !done {
				done = true
				if err := other(ctx); err != nil {
					return err
				}
			}
			return c.Patch(ctx, o, patch, options...)
		},
	})
}

// TestDecide_JudgesWhatStandsThereByThen: a change in between is read again, and decided about anew.
func TestDecide_JudgesWhatStandsThereByThen(t *testing.T) {
	c, key, rollout := start(t)
	second := between(c, func(ctx context.Context) error {
		rollout.Spec.Paused = true
		return c.Update(ctx, rollout)
	})
	calls := 0
	after, outcome, err := Decide(t.Context(), second, key, kymaedit.DryRunNone,
		func(r *v1beta2.ModuleRollout, release *v1beta2.ModuleReleaseMeta) (rollouts.Outcome, error) {
			calls++
			if release == nil {
				t.Error("the release is not given")
			}
			return rollouts.Pause(r), nil
		})
	if err != nil || calls != 2 || outcome.Done != "" || !after.Spec.Paused {
		t.Errorf("%d calls, outcome %+v, %v", calls, outcome, err)
	}
}

func TestDecide_ARefusalWritesNothing(t *testing.T) {
	c, key, rollout := start(t)
	no := errors.New("no")
	_, _, err := Decide(t.Context(), c, key, kymaedit.DryRunNone,
		func(r *v1beta2.ModuleRollout, _ *v1beta2.ModuleReleaseMeta) (rollouts.Outcome, error) {
			r.Spec.Paused = true
			return rollouts.Outcome{}, no
		})
	if err := c.Get(t.Context(), key, rollout); err != nil {
		t.Fatal(err)
	}
	if !errors.Is(err, no) || rollout.Spec.Paused {
		t.Errorf("paused is %v, the error is %v", rollout.Spec.Paused, err)
	}
}

func TestDecide_EndsWithItsContext(t *testing.T) {
	c, key, _ := start(t)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	always := interceptor.NewClient(c, interceptor.Funcs{
		Patch: func(ctx context.Context, _ client.WithWatch, o client.Object, patch client.Patch, options ...client.PatchOption) error {
			stale := o.DeepCopyObject().(client.Object)
			stale.SetResourceVersion("1")
			before := stale.DeepCopyObject().(client.Object)
			stale.SetLabels(map[string]string{"a": "b"})
			return c.Patch(ctx, stale, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}), options...)
		},
	})
	_, _, err := Decide(ctx, always, key, kymaedit.DryRunNone,
		func(r *v1beta2.ModuleRollout, _ *v1beta2.ModuleReleaseMeta) (rollouts.Outcome, error) {
			return rollouts.Pause(r), nil
		})
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("it ended with %v", err)
	}
}

func TestSetChannel(t *testing.T) {
	c, key, _ := start(t)
	back := rollouts.SetBack{Channel: "regular", From: "1.3.0", To: "1.2.0"}
	read := func() string {
		release := &v1beta2.ModuleReleaseMeta{}
		if err := c.Get(t.Context(), key, release); err != nil {
			t.Fatal(err)
		}
		return release.Spec.Channels[0].Version + " " + release.Spec.Channels[1].Version
	}
	for _, dry := range []kymaedit.DryRun{kymaedit.DryRunClient, kymaedit.DryRunServer} {
		if changed, err := SetChannel(t.Context(), c, key, back, dry); err != nil || !changed || read() != "1.3.0 1.3.0" {
			t.Errorf("--dry-run=%s: %v %v %s", dry, changed, err, read())
		}
	}
	moved := between(c, func(ctx context.Context) error {
		other := rollouts.SetBack{Channel: "regular", From: "1.3.0", To: "1.4.0"}
		_, err := SetChannel(ctx, c, key, other, kymaedit.DryRunNone)
		return err
	})
	_, err := SetChannel(t.Context(), moved, key, back, kymaedit.DryRunNone)
	if is := (&MovedError{}); !errors.As(err, &is) || is.Version != "1.4.0" || read() != "1.4.0 1.3.0" {
		t.Errorf("what another person set meanwhile stays: %v, %s", err, read())
	}
	back.From = "1.4.0"
	for i, want := range []bool{true, false} {
		if changed, err := SetChannel(t.Context(), c, key, back, kymaedit.DryRunNone); err != nil || changed != want || read() != "1.2.0 1.3.0" {
			t.Errorf("call %d: %v %v %s", i, changed, err, read())
		}
	}
	_, err = SetChannel(t.Context(), c, key, rollouts.SetBack{Channel: "slow", From: "1.3.0", To: "1.2.0"}, kymaedit.DryRunNone)
	if err == nil || !strings.Contains(err.Error(), "release eventing has no channel slow any more") {
		t.Errorf("%v", err)
	}
}

func TestPersonOf(t *testing.T) {
	c, _, _ := start(t)
	long := time.Unix(0, 0)
	got := PersonOf(t.Context(), c, "context-user", long)
	if got.Name == "context-user" || got.Name == "" {
		t.Errorf("the API server knows who calls, and it is %q", got.Name)
	}
	if age := time.Since(got.At); age > time.Hour || age < -time.Hour {
		t.Errorf("the API server has a clock, and the time is %s", got.At)
	}
	refusing := interceptor.NewClient(c, interceptor.Funcs{
		Create: func(ctx context.Context, c client.WithWatch, o client.Object, options ...client.CreateOption) error {
			if _, is := o.(*authenticationv1.SelfSubjectReview); is {
				return errors.New("too old")
			}
			return c.Create(ctx, o, options...)
		},
	})
	if got := PersonOf(t.Context(), refusing, "context-user", long); got.Name != "context-user" || !got.At.Equal(long) {
		t.Errorf("without an answer it is %+v", got)
	}
}

func TestAwaitArmed(t *testing.T) {
	c, key, rollout := start(t)
	both := []string{"regular", "fast"}
	short := 600 * time.Millisecond
	if err := AwaitArmed(t.Context(), c, key, both, short); !errors.Is(err, ErrUnarmed) {
		t.Errorf("without a mark it ended with %v", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), short)
	defer cancel()
	if err := AwaitArmed(ctx, c, key, both, time.Minute); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("with its context it ended with %v", err)
	}
	release := &v1beta2.ModuleReleaseMeta{}
	if err := c.Get(t.Context(), key, release); err != nil {
		t.Fatal(err)
	}
	mark := func(uid string) {
		release.Annotations = map[string]string{v1beta2.AnnotationRollout: uid}
		if err := c.Update(t.Context(), release); err != nil {
			t.Fatal(err)
		}
	}
	mark("another")
	if err := AwaitArmed(t.Context(), c, key, nil, short); !errors.Is(err, ErrUnarmed) {
		t.Errorf("with the mark of another rollout it ended with %v", err)
	}
	mark(string(rollout.UID))
	if err := AwaitArmed(t.Context(), c, key, nil, short); err != nil {
		t.Errorf("a channel that is new needs no more than the mark: %v", err)
	}
	if err := AwaitArmed(t.Context(), c, key, both, short); !errors.Is(err, ErrUnarmed) {
		t.Errorf("before the version that the channel leaves is known it ended with %v", err)
	}
	armed := make(chan error)
	go func() { armed <- AwaitArmed(t.Context(), c, key, both, time.Minute) }()
	for _, name := range both {
		to := v1beta2.RolloutVersion{Version: "1.3.0"}
		rollout.Status.Channels = append(rollout.Status.Channels, v1beta2.RolloutChannel{Name: name, To: to, Phase: v1beta2.RolloutCompleted})
		if err := c.Status().Update(t.Context(), rollout); err != nil {
			t.Fatal(err)
		}
	}
	if err := <-armed; err != nil {
		t.Error(err)
	}
	if err := c.Delete(t.Context(), rollout); err != nil {
		t.Fatal(err)
	}
	if err := AwaitArmed(t.Context(), c, key, both, time.Minute); err != nil {
		t.Errorf("a rollout that is gone holds nothing: %v", err)
	}
}

func TestGoverning(t *testing.T) {
	c, key, rollout := start(t)
	found, err := Governing(t.Context(), c, key)
	if err != nil || found == nil || found.UID != rollout.UID {
		t.Errorf("%+v %v", found, err)
	}
	if none, err := Governing(t.Context(), c, client.ObjectKey{Namespace: key.Namespace, Name: "none"}); err != nil || none != nil {
		t.Errorf("%+v %v", none, err)
	}
}

func TestCovers(t *testing.T) {
	rollout := &v1beta2.ModuleRollout{}
	if !Covers(rollout, "regular") {
		t.Error("without channels it decides about all")
	}
	rollout.Spec.Channels = []string{"fast"}
	if Covers(rollout, "regular") || !Covers(rollout, "fast") {
		t.Error("with channels it decides about these")
	}
	rollout.Status.Channels = []v1beta2.RolloutChannel{{
		Name: "regular", Phase: v1beta2.RolloutHalted, From: v1beta2.RolloutVersion{Version: "1.2.0"}, To: v1beta2.RolloutVersion{Version: "1.3.0"},
	}}
	if !Covers(rollout, "regular") {
		t.Error("a channel that left the plan has a version that is undecided, which the rollout still decides about")
	}
	rollout.Status.Channels[0].Phase = v1beta2.RolloutCompleted
	if Covers(rollout, "regular") {
		t.Error("a channel that left the plan is decided")
	}
}
