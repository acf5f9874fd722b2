package manifest

import (
	"context"
	"errors"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/manager/progress"
	"github.com/kyma-project/lifecycle-manager/internal/manager/runtimes"
	"github.com/kyma-project/lifecycle-manager/internal/module/revision"
	"github.com/kyma-project/lifecycle-manager/pkg/health"
)

// upgradeUnderWay is a Manifest whose Deployment does not become available, under an operator with a clock.
type upgradeUnderWay struct {
	*testing.T
	r        *Reconciler
	manifest *v1beta2.Manifest
	found    *cluster
	now      time.Time
	writes   int
	refused  bool // the API server takes no status
}

func newUpgradeUnderWay(t *testing.T) *upgradeUnderWay {
	t.Helper()
	w, found := settledWork(asks("2.0.0"))
	found.health[deploymentID] = health.Result{Status: health.InProgress, Message: "0 of 1 are available"}
	w.report(waits)
	w.manifest.Status.Synced = toStatus(w.recorded)
	w.manifest.Annotations = map[string]string{v1beta2.AnnotationProgressDeadline: "30m0s"}
	u := &upgradeUnderWay{T: t, manifest: w.manifest, found: found, now: testTime.Time, r: newReconciler(t, w.manifest)}
	u.manifest.Status.Revisions = revision.Begin(nil, revision.Of(&u.manifest.Spec), "", "", testTime.Time)
	if err := u.r.Client.Status().Update(t.Context(), u.manifest); err != nil {
		t.Fatal(err)
	}
	hub, _ := u.r.Client.(client.WithWatch)
	u.r.Client = interceptor.NewClient(hub, interceptor.Funcs{SubResourceUpdate: func(
		ctx context.Context, c client.Client, _ string, o client.Object, options ...client.SubResourceUpdateOption,
	) error {
		if u.refused {
			return errors.New("the hub does not answer")
		}
		u.writes++
		return c.Status().Update(ctx, o, options...)
	}})
	u.r.Clusters, u.r.Now = reached{found}, func() metav1.Time { return metav1.NewTime(u.now) }
	u.pass(0) // by the process before
	u.writes = 0
	u.restart()
	return u
}

func (u *upgradeUnderWay) restart() { u.r.Progress = &progress.Registry{} }

// pass runs one pass after a while, and returns when the next one comes without an event.
func (u *upgradeUnderWay) pass(after time.Duration) time.Duration {
	u.now = u.now.Add(after)
	result, err := u.r.Reconcile(u.Context(), ctrl.Request{NamespacedName: client.ObjectKeyFromObject(u.manifest)})
	if (err != nil) != u.refused {
		u.Fatal(err)
	}
	return result.RequeueAfter
}

// observed returns for how long the Kyma controller sees the upgrade observed; -1 when it must not judge.
func (u *upgradeUnderWay) observed() time.Duration {
	known, ok := u.r.Progress.For(stored(u.T, u.r, u.manifest), time.Time{}, u.now)
	if !ok {
		return -1
	}
	return known
}

func (u *upgradeUnderWay) want(sentence string, observed time.Duration, writes int) {
	u.Helper()
	if got := u.observed(); got != observed || u.writes != writes {
		u.Errorf("%s: observed for %s after %d writes, want %s after %d", sentence, got, u.writes, observed, writes)
	}
}

func TestProgress_AnUpgradeIsObservedInAllProcessesTogether(t *testing.T) {
	u := newUpgradeUnderWay(t)
	u.want("before the first pass", -1, 0)
	if wake := u.pass(3 * time.Hour); wake != 5*time.Minute {
		t.Errorf("the next pass comes after %s, want a sixth of the deadline", wake)
	}
	u.want("an outage since it began does not count", 0, 0)
	u.pass(4 * time.Minute)
	u.want("nothing is written for a while", 4*time.Minute, 0)
	if wake := u.pass(2 * time.Minute); wake != 5*time.Minute {
		t.Errorf("the next pass comes after %s, want a sixth of the deadline", wake)
	}
	u.want("then it is recorded", 6*time.Minute, 1)
	u.pass(0)
	u.want("once", 6*time.Minute, 1)

	u.restart()
	u.want("after a restart it must be looked at again", -1, 1)
	u.pass(time.Hour)
	u.want("and continues", 6*time.Minute, 1)
}

func TestProgress_WhatTheHubDoesNotHaveIsNotJudged(t *testing.T) {
	u := newUpgradeUnderWay(t)
	u.pass(0)
	u.found.health[deploymentID] = health.Result{Status: health.Ready}
	u.refused = true
	u.pass(10 * time.Minute)
	u.want("it became ready, and the hub does not know", -1, 0)
	u.refused = false
	u.found.health[deploymentID] = health.Result{Status: health.InProgress, Message: "0 of 1 are available"}
	u.pass(time.Hour)
	u.want("it continues where it was interrupted", 10*time.Minute, 0)
	u.found.health[deploymentID] = health.Result{Status: health.Ready}
	u.pass(time.Minute)
	u.want("what is ready is not judged", -1, 1)
}

func TestProgress_ASuspendedManifestIsNotJudged(t *testing.T) {
	u := newUpgradeUnderWay(t)
	u.pass(0)
	suspend := func(labels map[string]string) {
		m := stored(t, u.r, u.manifest)
		m.Labels = labels
		if err := u.r.Client.Update(t.Context(), m); err != nil {
			t.Fatal(err)
		}
	}
	suspend(map[string]string{v1beta2.LabelSkipReconciliation: v1beta2.EnabledValue})
	u.pass(time.Minute)
	suspend(nil)
	u.now = u.now.Add(24 * time.Hour)
	u.want("until it was looked at again", -1, 0)
	u.pass(0)
	u.want("a suspension does not count", time.Minute, 0)
}

func TestProgress_NothingIsRecordedThatIsNoUpgradeInTime(t *testing.T) {
	for sentence, change := range map[string]func(u *upgradeUnderWay){
		"its module does not go back by itself": func(u *upgradeUnderWay) {
			m := stored(t, u.r, u.manifest)
			m.Annotations = nil
			if err := u.r.Client.Update(t.Context(), m); err != nil {
				t.Fatal(err)
			}
		},
		"its runtime does not answer": func(u *upgradeUnderWay) {
			u.found.hidden = &runtimes.Problem{Reason: v1beta2.ReasonRuntimeUnreachable, Message: "no", Retry: time.Second}
		},
	} {
		u := newUpgradeUnderWay(t)
		change(u)
		u.pass(0)
		before := u.writes
		for range 10 {
			u.pass(10 * time.Minute)
		}
		if stored(t, u.r, u.manifest).Status.Revisions[0].Observed != nil || u.writes != before {
			t.Errorf("%s: %d writes", sentence, u.writes-before)
		}
	}
}
