package manifest

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/manager/runtimes"
)

func counting(readiness v1beta2.Readiness) func(*v1beta2.Manifest) {
	return func(m *v1beta2.Manifest) {
		m.Annotations = map[string]string{v1beta2.AnnotationReadiness: string(readiness)}
	}
}

// upgraded returns a Manifest that was ready at 1.0.0 and asks for 2.0.0 since a while, with a custom resource that reports a state.
func upgraded(readiness v1beta2.Readiness, resource v1beta2.State) (*scope, *cluster) {
	w, found := settledWork(asks("1.0.0"), withResource(v1beta2.CustomResourcePolicyCreateAndDelete), counting(readiness))
	found.crs = []runtimes.ModuleCRStatus{{Namespace: "default", Name: "default", State: string(v1beta2.StateReady)}}
	w.manifest.Status.State, w.manifest.Status.ObservedGeneration = "", 0 // no pass has looked at it
	w.report(ready)
	if resource == "" {
		found.crs = nil
	} else {
		found.crs[0].State = string(resource)
	}
	w = later(w, time.Hour, func(m *v1beta2.Manifest) { m.Generation++; m.Spec.Version = "2.0.0" })
	w.report(applies)
	return later(w, 0), found
}

// later returns the next pass.
func later(before *scope, by time.Duration, changes ...func(*v1beta2.Manifest)) *scope {
	w := next(before)
	for _, change := range changes {
		change(w.manifest)
	}
	w = newScope(w.manifest, metav1.NewTime(before.now.Add(by)))
	w.runtime, w.recorded, w.sources = before.runtime, before.recorded, before.sources
	return w
}

// TestRevisions_EndByWhatCountsForReadiness is the table of docs/spec/kyma.md: what becomes of a revision.
func TestRevisions_EndByWhatCountsForReadiness(t *testing.T) {
	const none = ""
	for _, test := range []struct {
		readiness v1beta2.Readiness
		found     passResult
		resource  v1beta2.State
		want      string // "<outcome> <reason>"
	}{
		{v1beta2.ReadinessWorkloads, ready, "Error", "Succeeded"},
		{v1beta2.ReadinessWorkloads, ready, none, "Succeeded"},
		{v1beta2.ReadinessWorkloads, waits, "Ready", ""},
		{v1beta2.ReadinessWorkloads, fails("ObjectFailed"), "Ready", "Failed ObjectFailed"},
		{v1beta2.ReadinessModuleCR, ready, "Ready", "Succeeded"},
		{v1beta2.ReadinessModuleCR, ready, "Processing", ""},
		{v1beta2.ReadinessModuleCR, ready, "Warning", ""},
		{v1beta2.ReadinessModuleCR, ready, "Deleting", ""},
		{v1beta2.ReadinessModuleCR, ready, none, ""},
		{v1beta2.ReadinessModuleCR, ready, "Error", "Failed ModuleCRNotReady"},
		{v1beta2.ReadinessModuleCR, waits, "Ready", ""},
		{v1beta2.ReadinessModuleCR, waits, "Error", ""},
		{v1beta2.ReadinessModuleCR, fails("ObjectFailed"), "Ready", "Failed ObjectFailed"},
		{v1beta2.ReadinessBoth, ready, "Ready", "Succeeded"},
		{v1beta2.ReadinessBoth, ready, "Warning", ""},
		{v1beta2.ReadinessBoth, ready, "Error", "Failed ModuleCRNotReady"},
		{v1beta2.ReadinessBoth, fails("ContentInvalid"), "Ready", "Failed ContentInvalid"},
		{v1beta2.ReadinessBoth, fails("RuntimeUnreachable"), "Error", ""},
	} {
		w, _ := upgraded(test.readiness, test.resource)
		w.report(test.found)
		w = later(w, 2*time.Minute)
		w.report(test.found)
		want := "1 1.0.0 ->Succeeded, 2 2.0.0 Ready->"
		if got := linesOf(w.manifest); got != want+test.want {
			t.Errorf("%s, %s (%s), resource %q: %s, want %s", test.readiness, test.found.state, test.found.reason, test.resource, got, want+test.want)
		}
	}
}

func TestRevisions_AResourceThatWasReadyBeforeCountsAfterAWhile(t *testing.T) {
	w, found := upgraded(v1beta2.ReadinessBoth, v1beta2.StateReady)
	check := func(sentence, want string, left time.Duration) {
		t.Helper()
		if got := linesOf(w.manifest); got != "1 1.0.0 ->Succeeded, 2 2.0.0 Ready->"+want || w.unsettled(ready) != left {
			t.Errorf("%s: %s, looks again after %s, want %q and %s", sentence, got, w.unsettled(ready), want, left)
		}
	}
	w.report(ready)
	check("the operator before may have said so", "", settling)
	w = later(w, 20*time.Second)
	found.crs[0].State = "Error"
	w.report(ready)
	check("the new one says something else", "Failed ModuleCRNotReady", 0)
	w = later(w, 10*time.Second)
	found.crs[0].State = "Ready"
	w.report(ready)
	check("and has changed its mind, which is too early to be sure", "Failed ModuleCRNotReady", 30*time.Second)
	w = later(w, 30*time.Second)
	w.report(ready)
	check("after a minute it counts", "Succeeded", 0)
}

func TestRevisions_AStateFromBeforeAnOutageDoesNotCount(t *testing.T) {
	w, found := upgraded(v1beta2.ReadinessBoth, v1beta2.StateReady)
	found.unsynced = true
	w = later(w, time.Hour)
	w.report(ready)
	if got := linesOf(w.manifest); got != "1 1.0.0 ->Succeeded, 2 2.0.0 Ready->" || w.knowsModuleCR() {
		t.Errorf("before its resource was listed: %s", got)
	}
}

func TestRevisions_AModuleThatWasBrokenBeforeSaysSo(t *testing.T) {
	w, found := upgraded(v1beta2.ReadinessBoth, v1beta2.StateReady)
	w = later(w, time.Hour)
	found.crs[0].State = "Warning"
	w.report(ready)
	w = later(w, time.Minute, func(m *v1beta2.Manifest) { m.Generation++; m.Spec.Version = "3.0.0" })
	w.report(applies)
	if got := linesOf(w.manifest); got != "1 1.0.0 ->Succeeded, 2 2.0.0 Ready->Superseded, 3 3.0.0 Warning->" {
		t.Errorf("revisions %s", got)
	}
}
