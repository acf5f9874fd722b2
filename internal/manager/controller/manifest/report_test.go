package manifest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/manager/runtimes"
	"github.com/kyma-project/lifecycle-manager/pkg/apply"
	"github.com/kyma-project/lifecycle-manager/pkg/conditions"
	"github.com/kyma-project/lifecycle-manager/pkg/health"
	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

func object(apiVersion, kind, name string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": apiVersion, "kind": kind, "metadata": map[string]any{"name": name},
	}}
}

func TestHealthy(t *testing.T) {
	neverReady := func(w *scope) { w.before.Status.State = v1beta2.StateProcessing }
	for name, test := range map[string]struct {
		change  func(*scope, *cluster)
		state   v1beta2.State
		reason  string
		message string
	}{
		"everything runs": {func(*scope, *cluster) {}, v1beta2.StateReady, v1beta2.ReasonReady, "ready"},
		"a workload is on its way": {func(_ *scope, c *cluster) {
			c.health[deploymentID] = health.Result{Status: health.InProgress, Message: "1 of 2 replicas"}
		}, v1beta2.StateProcessing, v1beta2.ReasonWaitingForObjects, "Deployment.apps default/operator: 1 of 2 replicas"},
		"a workload failed": {func(_ *scope, c *cluster) {
			c.health[deploymentID] = health.Result{Status: health.Failed, Message: "deadline exceeded"}
		}, v1beta2.StateError, v1beta2.ReasonObjectFailed, "Deployment.apps default/operator: deadline exceeded"},
		"nothing was heard of a workload that was never ready": {func(w *scope, c *cluster) {
			neverReady(w)
			c.health[deploymentID] = health.Result{Status: health.Unknown}
		}, v1beta2.StateProcessing, v1beta2.ReasonWaitingForObjects, "operator"},
		"no one keeps the health of a workload that was never ready": {func(w *scope, c *cluster) {
			neverReady(w)
			c.health = nil
		}, v1beta2.StateProcessing, v1beta2.ReasonWaitingForObjects, "operator"},
		"what was Ready stays so over a restart until something is heard": {func(_ *scope, c *cluster) {
			c.health[deploymentID] = health.Result{Status: health.Unknown}
		}, v1beta2.StateReady, v1beta2.ReasonReady, "ready"},
		"it was Ready for another spec": {func(w *scope, c *cluster) {
			w.before.Status.ObservedGeneration--
			c.health[deploymentID] = health.Result{Status: health.Unknown}
		}, v1beta2.StateProcessing, v1beta2.ReasonWaitingForObjects, "operator"},
		"an object that left the content is still there": {func(w *scope, _ *cluster) { w.recorded[1].Hash = "" },
			v1beta2.StateProcessing, v1beta2.ReasonWaitingForObjects, "ServiceAccount default/operator: is being removed"},
		"a failed workload that left the content is only waited for": {func(w *scope, c *cluster) {
			w.recorded[0].Hash = ""
			c.health[deploymentID] = health.Result{Status: health.Failed, Message: "deadline exceeded"}
		}, v1beta2.StateProcessing, v1beta2.ReasonWaitingForObjects, "is being removed"},
		"a failure counts more than what is on its way": {func(w *scope, c *cluster) {
			w.recorded[0].Hash = ""
			c.health[accountID] = health.Result{Status: health.Failed, Message: "no"}
		}, v1beta2.StateError, v1beta2.ReasonObjectFailed, "ServiceAccount default/operator: no"},
		"a user deletes an object and something holds it": {func(_ *scope, c *cluster) {
			c.health[deploymentID] = health.Result{Status: health.Terminating, Message: "is being deleted"}
		}, v1beta2.StateProcessing, v1beta2.ReasonWaitingForObjects, "is being deleted"},
		"a kind cannot be observed: no one knows": {func(_ *scope, c *cluster) {
			c.hidden = &runtimes.Problem{Reason: v1beta2.ReasonRuntimeForbidden, Message: "deployments cannot be watched"}
		}, v1beta2.StateError, v1beta2.ReasonRuntimeForbidden, "deployments cannot be watched"},
	} {
		t.Run(name, func(t *testing.T) {
			w, c := settledWork()
			test.change(w, c)
			got := w.healthy()
			if got.state != test.state || got.reason != test.reason || !strings.Contains(got.message, test.message) || !got.parsed {
				t.Errorf("got %+v", got)
			}
		})
	}
}

func TestReport(t *testing.T) {
	type told struct {
		State                          v1beta2.State
		Ready, Resources, Installation string
		CR                             string
	}
	read := func(m *v1beta2.Manifest) told {
		one := func(kind string) string {
			if found := conditions.Find(m.Status.Conditions, kind); found != nil {
				return string(found.Status) + " " + found.Reason
			}
			return ""
		}
		return told{
			m.Status.State, one(v1beta2.ConditionReady), one(v1beta2.ConditionResources), one(v1beta2.ConditionInstallation), one(v1beta2.ConditionModuleCR),
		}
	}
	for name, test := range map[string]struct {
		change []func(*v1beta2.Manifest)
		found  passResult
		want   told
	}{
		"Ready": {nil, passResult{state: v1beta2.StateReady, reason: v1beta2.ReasonReady, parsed: true},
			told{v1beta2.StateReady, "True Ready", "True Parsed", "True Ready", ""}},
		"objects are waited for that were ready before: this spec is installed": {[]func(*v1beta2.Manifest){installed(3)}, waitingFor("a"),
			told{v1beta2.StateProcessing, "False WaitingForObjects", "True Parsed", "True Ready", ""}},
		"an object of what was installed fails": {[]func(*v1beta2.Manifest){installed(3)}, failed(&runtimes.Problem{Reason: v1beta2.ReasonObjectFailed}),
			told{v1beta2.StateError, "False ObjectFailed", "True Parsed", "True Ready", ""}},
		"another spec was installed": {[]func(*v1beta2.Manifest){installed(2)}, waitingFor("a"),
			told{v1beta2.StateProcessing, "False WaitingForObjects", "True Parsed", "False WaitingForObjects", ""}},
		"the runtime of what is installed does not answer": {[]func(*v1beta2.Manifest){installed(3)},
			failed(&runtimes.Problem{Reason: v1beta2.ReasonRuntimeUnreachable}),
			told{v1beta2.StateError, "False RuntimeUnreachable", "True Parsed", "True Ready", ""}},
		"what was installed is put back": {[]func(*v1beta2.Manifest){installed(3)}, failed(&runtimes.Problem{Reason: v1beta2.ReasonApplying, Passing: true}),
			told{v1beta2.StateProcessing, "False Applying", "True Parsed", "True Ready", ""}},
		"other content is brought for the same spec": {[]func(*v1beta2.Manifest){installed(3)},
			passResult{state: v1beta2.StateProcessing, reason: v1beta2.ReasonApplying, parsed: true, brings: true},
			told{v1beta2.StateProcessing, "False Applying", "True Parsed", "False Applying", ""}},
		"what was installed is being removed": {[]func(*v1beta2.Manifest){installed(3)},
			passResult{state: v1beta2.StateDeleting, reason: v1beta2.ReasonDeletionBlocked},
			told{v1beta2.StateDeleting, "False DeletionBlocked", "True Parsed", "False DeletionBlocked", ""}},
		"objects are waited for": {nil, waitingFor("a"),
			told{v1beta2.StateProcessing, "False WaitingForObjects", "True Parsed", "False WaitingForObjects", ""}},
		"the content is refused, which overwrites what was parsed": {nil, failed(&runtimes.Problem{Reason: v1beta2.ReasonDigestMismatch}),
			told{v1beta2.StateError, "False DigestMismatch", "False DigestMismatch", "False DigestMismatch", ""}},
		"the runtime does not answer, which says nothing of the content": {nil, failed(&runtimes.Problem{Reason: v1beta2.ReasonRuntimeUnreachable}),
			told{v1beta2.StateError, "False RuntimeUnreachable", "True Parsed", "False RuntimeUnreachable", ""}},
		"what is on its way is no error": {nil, failed(&runtimes.Problem{Reason: v1beta2.ReasonApplying, Passing: true}),
			told{v1beta2.StateProcessing, "False Applying", "True Parsed", "False Applying", ""}},
		"a default CR that is not there yet": {[]func(*v1beta2.Manifest){withResource("")}, waitingFor("a"),
			told{v1beta2.StateProcessing, "False WaitingForObjects", "True Parsed", "False WaitingForObjects", "False WaitingForObjects"}},
		"custom resources that are the user's": {[]func(*v1beta2.Manifest){withResource(v1beta2.CustomResourcePolicyIgnore)}, waitingFor("a"),
			told{v1beta2.StateProcessing, "False WaitingForObjects", "True Parsed", "False WaitingForObjects", ""}},
	} {
		t.Run(name, func(t *testing.T) {
			w, _ := settledWork(test.change...)
			test.found.message = strings.Repeat("long ", 1000)
			w.report(test.found)
			if diff := cmp.Diff(test.want, read(w.manifest)); diff != "" {
				t.Errorf("differs (-want +got):\n%s", diff)
			}
			if broken := conditions.Check(w.generation, w.manifest.Status.Conditions); len(broken) > 0 {
				t.Errorf("the conditions do not hold together: %q", broken)
			}
			if w.manifest.Status.ObservedGeneration != w.generation || len(w.manifest.Status.Operation) > 2*conditions.MessageLimit {
				t.Errorf("generation %d, operation of %d bytes", w.manifest.Status.ObservedGeneration, len(w.manifest.Status.Operation))
			}
			w.now = metav1.NewTime(testTime.Add(time.Hour))
			before := w.manifest.DeepCopy()
			w.report(test.found)
			if diff := cmp.Diff(before.Status, w.manifest.Status); diff != "" {
				t.Errorf("telling the same again is a change (-before +after):\n%s", diff)
			}
		})
	}
}

func TestReport_NamesTheGenerationOfThePass(t *testing.T) {
	w, _ := settledWork()
	w.manifest.Generation++ // as a write of the status returned it
	w.report(waitingFor("a"))
	ready := conditions.Find(w.manifest.Status.Conditions, v1beta2.ConditionReady)
	if w.manifest.Status.ObservedGeneration != w.generation || ready.ObservedGeneration != w.generation {
		t.Errorf("it speaks of generation %d and %d, want %d", w.manifest.Status.ObservedGeneration, ready.ObservedGeneration, w.generation)
	}
}

func TestReportModuleCR_CopiesTheReportedState(t *testing.T) {
	mine := runtimes.ModuleCRStatus{Namespace: "default", Name: "default", State: "Warning", Message: "look here"}
	other := runtimes.ModuleCRStatus{Namespace: "default", Name: "other", State: "Error"}
	for name, test := range map[string]struct {
		crs      []runtimes.ModuleCRStatus
		unsynced bool
		want     v1beta2.State
	}{
		"the default one":            {[]runtimes.ModuleCRStatus{other, mine}, false, v1beta2.StateWarning},
		"it is not there":            {[]runtimes.ModuleCRStatus{other}, false, ""},
		"not known yet: as it was":   {nil, true, v1beta2.StateReady},
		"a word that we do not know": {[]runtimes.ModuleCRStatus{{Name: "default", State: "Dancing"}}, false, v1beta2.StateProcessing},
	} {
		t.Run(name, func(t *testing.T) {
			w, c := settledWork(withResource(""))
			c.crs, c.unsynced = test.crs, test.unsynced
			w.manifest.Status.ResourceState = v1beta2.StateReady
			w.report(waitingFor("a"))
			if got := w.manifest.Status.ResourceState; got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

func TestKnownState(t *testing.T) {
	for word, want := range map[string]v1beta2.State{
		"": "", "Ready": v1beta2.StateReady, "Processing": v1beta2.StateProcessing, "Error": v1beta2.StateError,
		"Deleting": v1beta2.StateDeleting, "Warning": v1beta2.StateWarning,
		"Unmanaged": v1beta2.StateProcessing, "ready": v1beta2.StateProcessing, "Dancing": v1beta2.StateProcessing,
	} {
		if got := knownState(word); got != want {
			t.Errorf("%q: got %q, want %q", word, got, want)
		}
	}
}

func TestClusterProblem_WaitsForTheWebhookThatComesWithTheContent(t *testing.T) {
	refused := apierrors.NewInternalError(errors.New(`failed calling webhook "samples.example.com": connection refused`))
	failing := &apply.Error{Class: apply.ClassInternal, Message: refused.Error()}
	for name, test := range map[string]struct {
		health  health.Result
		err     error
		deleted bool
		want    string
		passing bool
	}{
		"its operator comes up":          {health.Result{Status: health.InProgress, Message: "0 of 1 replicas"}, refused, false, v1beta2.ReasonWaitingForObjects, true},
		"so it does, and an apply fails": {health.Result{Status: health.InProgress}, failing, false, v1beta2.ReasonWaitingForObjects, true},
		"nothing was heard of it yet":    {health.Result{}, refused, false, v1beta2.ReasonWaitingForObjects, true},
		"everything is ready":            {health.Result{Status: health.Ready}, refused, false, v1beta2.ReasonInternal, false},
		"its operator will not come up":  {health.Result{Status: health.Failed}, refused, false, v1beta2.ReasonInternal, false},
		"it comes up, and the answer is no": {health.Result{Status: health.InProgress}, &apply.Error{Class: apply.ClassAdmissionDenied}, false,
			v1beta2.ReasonAdmissionDenied, false},
		"it is being deleted": {health.Result{Status: health.InProgress}, refused, true, v1beta2.ReasonInternal, false},
	} {
		t.Run(name, func(t *testing.T) {
			w, c := settledWork(withResource(""))
			c.health[deploymentID] = test.health
			if test.deleted {
				w.manifest.DeletionTimestamp = &testTime
			}
			problem := problemOf(w.clusterProblem(inventory.ID{Group: "example.com", Kind: "Sample", Namespace: "default", Name: "default"}, test.err))
			if problem == nil || problem.Reason != test.want || problem.Passing != test.passing {
				t.Fatalf("told %+v, want %s", problem, test.want)
			}
			if test.passing && (!strings.Contains(problem.Message, deploymentID.String()) || !strings.Contains(problem.Message, "webhook")) {
				t.Errorf("message %q", problem.Message)
			}
		})
	}
}

func TestClasses_CoverEveryClass(t *testing.T) {
	all := []apply.Class{
		apply.ClassRefused, apply.ClassUnauthorized, apply.ClassForbidden, apply.ClassKindUnknown, apply.ClassOwnershipConflict,
		apply.ClassNamespaceTerminating, apply.ClassNamespaceMissing, apply.ClassUnreachable, apply.ClassThrottled, apply.ClassConflict,
		apply.ClassInternal, apply.ClassAdmissionDenied, apply.ClassQuotaExceeded, apply.ClassFieldImmutable,
	}
	for _, class := range all {
		told, ok := classes[class]
		if !ok || told.reason == "" || told.retry <= 0 {
			t.Errorf("class %s: %+v", class, told)
		}
	}
	if len(classes) != len(all) {
		t.Errorf("%d classes are told, %d are known here", len(classes), len(all))
	}
}

func TestRefused(t *testing.T) {
	bad := func(class apply.Class) apply.Outcome {
		return apply.Outcome{ID: deploymentID, Class: class, Err: &apply.Error{ID: deploymentID, Class: class, Message: "apply it: " + string(class)}}
	}
	waiting := apply.Outcome{ID: accountID, Action: apply.Deleted}
	for name, test := range map[string]struct {
		bad     []apply.Outcome
		brings  bool // the content brings the definition of the kind
		reason  string
		passing bool
		message string
	}{
		"one object":                              {[]apply.Outcome{bad(apply.ClassRefused)}, false, v1beta2.ReasonObjectRefused, false, "apply it: Refused"},
		"several: the first, and how many":        {[]apply.Outcome{bad(apply.ClassForbidden), bad(apply.ClassRefused)}, false, v1beta2.ReasonRuntimeForbidden, false, "(and 1 more)"},
		"a cluster that is lost counts more":      {[]apply.Outcome{bad(apply.ClassRefused), bad(apply.ClassUnreachable)}, false, v1beta2.ReasonRuntimeUnreachable, false, "Unreachable"},
		"what only waits is no cause":             {[]apply.Outcome{waiting, bad(apply.ClassRefused)}, false, v1beta2.ReasonObjectRefused, false, "apply it: Refused"},
		"a conflict passes":                       {[]apply.Outcome{bad(apply.ClassConflict)}, false, v1beta2.ReasonApplying, true, "Conflict"},
		"a rate limit passes":                     {[]apply.Outcome{bad(apply.ClassThrottled)}, false, v1beta2.ReasonApplying, true, "Throttled"},
		"an unknown kind":                         {[]apply.Outcome{bad(apply.ClassKindUnknown)}, false, v1beta2.ReasonKindUnknown, false, "KindUnknown"},
		"a kind that is about to be known passes": {[]apply.Outcome{bad(apply.ClassKindUnknown)}, true, v1beta2.ReasonKindUnknown, true, "KindUnknown"},
		"a class that no one knows":               {[]apply.Outcome{bad("Riddle")}, false, v1beta2.ReasonInternal, false, "Riddle"},
	} {
		t.Run(name, func(t *testing.T) {
			w, _ := settledWork()
			if test.brings {
				w.desired = []*unstructured.Unstructured{object("apiextensions.k8s.io/v1", "CustomResourceDefinition", "things.apps")}
			}
			problem := problemOf(w.refused(t.Context(), test.bad))
			if problem == nil || problem.Reason != test.reason || problem.Passing != test.passing || problem.Retry <= 0 ||
				!strings.Contains(problem.Message, test.message) {
				t.Fatalf("problem %+v", problem)
			}
			found, err := deleting(problem)
			if err != nil || found.state != v1beta2.StateDeleting || (test.passing && found.reason != v1beta2.ReasonWaitingForDeletion) {
				t.Errorf("while it is being deleted: %+v, error %v", found, err)
			}
		})
	}
	w, _ := settledWork()
	if stop, ok := errors.AsType[*passResult](w.refused(t.Context(), []apply.Outcome{bad(apply.ClassCanceled)})); !ok || !stop.cut {
		t.Error("the end of the manager is told as a failure")
	}
	late, cancel := context.WithTimeout(t.Context(), 0)
	defer cancel()
	if problem := problemOf(w.refused(late, []apply.Outcome{bad(apply.ClassUnreachable)})); problem == nil || !problem.Passing {
		t.Errorf("a pass that takes long is told as a failure: %v", problem)
	}
}

func TestClusterProblem(t *testing.T) {
	w, c := settledWork()
	if err := w.clusterProblem(deploymentID, nil); err != nil || len(c.reported) != 0 {
		t.Errorf("no error became %v", err)
	}
	first := problemOf(w.clusterProblem(deploymentID, fmt.Errorf("read tcp 10.0.0.1:%d: %w", 40001, context.DeadlineExceeded)))
	second := problemOf(w.clusterProblem(deploymentID, fmt.Errorf("read tcp 10.0.0.1:%d: %w", 40002, context.DeadlineExceeded)))
	if diff := cmp.Diff(first, second); diff != "" || first.Reason != v1beta2.ReasonRuntimeUnreachable || len(c.reported) != 2 {
		t.Errorf("the same outage is told in two ways: %s", diff)
	}
	if stop, ok := errors.AsType[*passResult](w.clusterProblem(deploymentID, context.Canceled)); !ok || !stop.cut {
		t.Error("the end of the manager is told as a failure")
	}
	w.target.Local = true
	denied := &apply.Error{Class: apply.ClassForbidden, Message: `users "a" is forbidden: cannot impersonate`}
	if problem := problemOf(w.clusterProblem(inventory.ID{Kind: "ConfigMap", Name: "a"}, denied)); problem.Reason != v1beta2.ReasonLocalAccessMissing {
		t.Errorf("missing rights in the hub are told as %+v", problem)
	}
}

func TestReportInstallation_KeepsInstalledVersion(t *testing.T) {
	ready := passResult{state: v1beta2.StateReady, reason: v1beta2.ReasonReady, parsed: true}
	refused := failed(&runtimes.Problem{Reason: v1beta2.ReasonCRDChangeRefused})
	w, _ := settledWork(func(m *v1beta2.Manifest) { m.Spec.Version = "1.0.0" })
	if w.report(ready); w.manifest.Status.InstalledVersion != "" {
		t.Error("what was Ready already is written once more")
	}
	w.before.Status.State = v1beta2.StateProcessing
	for _, step := range []struct {
		version string
		found   passResult
		want    string
	}{{"1.0.0", ready, "1.0.0"}, {"1.1.0", refused, "1.0.0"}, {"1.1.0", waitingFor("a"), "1.0.0"}, {"1.1.0", ready, "1.1.0"}} {
		w.manifest.Spec.Version = step.version
		if w.report(step.found); w.manifest.Status.InstalledVersion != step.want {
			t.Errorf("%s, %s: %q was brought up, want %q", step.version, step.found.reason, w.manifest.Status.InstalledVersion, step.want)
		}
	}
}
