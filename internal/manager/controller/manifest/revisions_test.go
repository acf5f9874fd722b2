package manifest

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/module/revision"
	"github.com/kyma-project/lifecycle-manager/pkg/health"
)

// told returns the revisions of a Manifest, each in a line.
func told(m *v1beta2.Manifest) string {
	lines := make([]string, 0, len(m.Status.Revisions))
	for _, r := range m.Status.Revisions {
		line := fmt.Sprintf("%d %s %s->%s %s", r.Number, r.Version, r.Before, r.Outcome, r.Reason)
		lines = append(lines, strings.Join(strings.Fields(line), " "))
	}
	return strings.Join(lines, ", ")
}

func asks(version string) func(*v1beta2.Manifest) {
	return func(m *v1beta2.Manifest) { m.Spec.Version = version }
}

// next is the Manifest of a pass that has ended, as the next pass finds it, with another spec.
func next(w *scope, change ...func(*v1beta2.Manifest)) *scope {
	manifest := w.manifest.DeepCopy()
	for _, c := range change {
		manifest.Generation++
		c(manifest)
	}
	return newScope(manifest, metav1.NewTime(w.now.Add(time.Minute)))
}

var (
	applies = passResult{state: v1beta2.StateProcessing, reason: v1beta2.ReasonApplying, message: applying, parsed: true, brings: true}
	ready   = passResult{state: v1beta2.StateReady, reason: v1beta2.ReasonReady, parsed: true}
	waits   = waitingFor("Deployment default/operator: 0 of 1 are available")
)

func fails(reason string) passResult { return passResult{state: v1beta2.StateError, reason: reason} }

func TestRevisions_FollowTheReportsOfAPass(t *testing.T) {
	w := newScope(newManifest(asks("1.0.0")), testTime)
	check := func(sentence, want string) {
		t.Helper()
		if got := told(w.manifest); got != want {
			t.Errorf("%s: %s, want %s", sentence, got, want)
		}
	}
	w.report(applies)
	check("a new Manifest has its first revision with the first report", "1 1.0.0 ->")
	w.report(waits)
	w = next(w)
	w.report(waits)
	check("it has no outcome while it is under way", "1 1.0.0 ->")
	w.report(ready)
	check("it succeeds in the report that says so", "1 1.0.0 ->Succeeded")
	if began := w.manifest.Status.Revisions[0].At; !began.Equal(&testTime) {
		t.Errorf("it began at %s, want %s", began, testTime)
	}
	w = next(w)
	w.report(fails(v1beta2.ReasonObjectFailed))
	check("what succeeded does not fail later", "1 1.0.0 ->Succeeded")

	w = next(w, asks("1.1.0"))
	w.report(fails(v1beta2.ReasonRuntimeUnreachable))
	check("the state before is kept; a runtime that is lost is no failure of the version", "1 1.0.0 ->Succeeded, 2 1.1.0 Error->")
	w.report(fails(v1beta2.ReasonAdmissionDenied))
	check("what the runtime denies is one", "1 1.0.0 ->Succeeded, 2 1.1.0 Error->Failed AdmissionDenied")
	w = next(w)
	w.report(ready)
	check("it may become ready after all", "1 1.0.0 ->Succeeded, 2 1.1.0 Error->Succeeded")

	w = next(w, func(m *v1beta2.Manifest) { m.Spec.CustomResourcePolicy = v1beta2.CustomResourcePolicyIgnore })
	w.report(waits)
	check("what installs nothing else begins nothing", "1 1.0.0 ->Succeeded, 2 1.1.0 Error->Succeeded")
	w.report(ready)

	w = next(w, func(m *v1beta2.Manifest) { m.Spec.Install.Source.Raw = []byte(`{"ref":"other"}`) })
	w.report(applies)
	check("content that was published again does", "1 1.0.0 ->Succeeded, 2 1.1.0 Error->Succeeded, 3 1.1.0 Ready->")

	w = next(w, func(m *v1beta2.Manifest) {
		m.Spec, m.Annotations = newManifest(asks("1.0.0")).Spec, map[string]string{v1beta2.AnnotationRollback: v1beta2.ReasonRollout}
	})
	w.report(applies)
	check("the annotation says who asked for the way back",
		"2 1.1.0 Error->Succeeded, 3 1.1.0 Ready->RolledBack Rollout, 4 1.0.0 Processing->")
}

func TestRevisions_OnlyTellOfTheSpecThatAPassIsAbout(t *testing.T) {
	for sentence, change := range map[string]func(*scope){
		"a Manifest that is being deleted begins nothing":     func(w *scope) { w.manifest.DeletionTimestamp = &testTime },
		"a spec that changed meanwhile has a pass of its own": func(w *scope) { w.manifest.Generation++ },
	} {
		w := newScope(newManifest(asks("1.0.0")), testTime)
		change(w)
		w.report(ready)
		if got := told(w.manifest); got != "" {
			t.Errorf("%s: %s", sentence, got)
		}
		if r := newReconciler(t); r.adoptRevision(w, ready) != 0 || told(w.manifest) != "" {
			t.Errorf("%s: it is adopted as %s", sentence, told(w.manifest))
		}
	}
}

// A lost write of the status changes nothing: the next pass says the same.
func TestRevisions_ARepeatedPassSaysTheSame(t *testing.T) {
	w := newScope(newManifest(asks("1.0.0")), testTime)
	w.report(ready)
	w = next(w, asks("1.1.0"))
	lost := next(w)
	for _, pass := range []*scope{w, lost} {
		pass.now = testTime
		pass.report(applies)
		pass.report(ready)
	}
	if diff := cmp.Diff(w.manifest.Status.Revisions, lost.manifest.Status.Revisions); diff != "" {
		t.Errorf("revisions (-first +repeated):\n%s", diff)
	}
}

// limit lets some through.
type limit struct{ left, asked int }

func (l *limit) TryAccept() bool { l.asked++; l.left--; return l.left >= 0 }
func (l *limit) Stop()           {}
func (l *limit) QPS() float32    { return 1 }

// installedBefore returns a Manifest that an earlier version of the manager left, its hub and a count of the writes of its status.
func installedBefore(t *testing.T, state v1beta2.State) (r *Reconciler, manifest *v1beta2.Manifest, found *cluster, writes *int) {
	t.Helper()
	w, found := settledWork(installed(3), asks("1.0.0"))
	manifest = w.manifest
	w.report(passResult{state: state, reason: v1beta2.ReasonReady, message: v1beta2.OperationResourcesReady, parsed: true})
	manifest.Status.Synced, manifest.Status.Revisions = toStatus(w.recorded), nil
	writes = new(int)
	r = newReconciler(t, manifest)
	hub, _ := r.Client.(client.WithWatch)
	r.Client = interceptor.NewClient(hub, interceptor.Funcs{
		SubResourceUpdate: func(
			ctx context.Context, c client.Client, _ string, o client.Object, options ...client.SubResourceUpdateOption,
		) error {
			*writes++
			return c.Status().Update(ctx, o, options...)
		},
	})
	r.Clusters = reached{found}
	r.Now = func() metav1.Time { return metav1.NewTime(testTime.Add(time.Hour)) }
	return r, manifest, found, writes
}

func TestRevisions_WhatWasInstalledBeforeIsAdoptedAtABoundedRate(t *testing.T) {
	r, manifest, _, writes := installedBefore(t, v1beta2.StateReady)
	bound := &limit{}
	r.Adoptions = bound
	request := ctrl.Request{NamespacedName: client.ObjectKeyFromObject(manifest)}
	result, err := r.Reconcile(t.Context(), request)
	if err != nil || *writes != 0 || result.RequeueAfter < shortestAdoptionPause || result.RequeueAfter > longestAdoptionPause {
		t.Fatalf("without a turn: %d writes, looks again after %s, error %v", *writes, result.RequeueAfter, err)
	}
	bound.left = 1
	for range 3 {
		result, err = r.Reconcile(t.Context(), request)
		if err != nil || *writes != 1 || result.RequeueAfter != 0 {
			t.Fatalf("with a turn: %d writes, looks again after %s, error %v", *writes, result.RequeueAfter, err)
		}
	}
	got := stored(t, r, manifest)
	if told(got) != "1 1.0.0 ->Succeeded" || bound.asked != 2 || revision.KeyOf(got.Status.Revisions[0]) != revision.Of(&manifest.Spec) {
		t.Errorf("revisions %s after %d turns", told(got), bound.asked)
	}
	if began := got.Status.Revisions[0].At; !began.Equal(&testTime) {
		t.Errorf("it began at %s, want %s, when it was complete", began, testTime)
	}
}

func TestRevisions_AnyWriteTakesTheAdoptionAlong(t *testing.T) {
	r, manifest, found, writes := installedBefore(t, v1beta2.StateReady)
	bound := &limit{}
	r.Adoptions = bound
	found.health[deploymentID] = health.Result{Status: health.Failed, Message: "it crashes"}
	if _, err := r.Reconcile(t.Context(), ctrl.Request{NamespacedName: client.ObjectKeyFromObject(manifest)}); err != nil {
		t.Fatal(err)
	}
	if got := told(stored(t, r, manifest)); got != "1 1.0.0 ->Succeeded" || *writes != 1 || bound.asked != 0 {
		t.Errorf("revisions %s, %d writes, %d turns", got, *writes, bound.asked)
	}
}

func TestRevisions_WhatIsNotCompleteBeginsWhenItIsAdopted(t *testing.T) {
	w, _ := settledWork(asks("1.0.0"))
	w.now = metav1.NewTime(testTime.Add(time.Hour))
	r := newReconciler(t)
	if pause := r.adoptRevision(w, waits); pause != 0 || told(w.manifest) != "1 1.0.0 ->" || !w.manifest.Status.Revisions[0].At.Equal(&w.now) {
		t.Errorf("looks again after %s, revisions %s", pause, told(w.manifest))
	}
	w.manifest.Status.Revisions = nil
	if pause := r.adoptRevision(w, passResult{cut: true}); pause != 0 || told(w.manifest) != "" {
		t.Errorf("a pass that was cut off: looks again after %s, revisions %s", pause, told(w.manifest))
	}
}

func TestNewAdoptions(t *testing.T) {
	bound, now := NewAdoptions(), 0
	for range 10 * adoptionsPerSecond {
		if bound.TryAccept() {
			now++
		}
	}
	if now < adoptionsPerSecond || now > 2*adoptionsPerSecond {
		t.Errorf("%d are written at once, want about %d", now, adoptionsPerSecond)
	}
}
