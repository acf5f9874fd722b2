package gitops_test

import (
	"testing"
	"time"

	kstatus "github.com/fluxcd/cli-utils/pkg/kstatus/status"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/module"
	"github.com/kyma-project/lifecycle-manager/internal/module/rollout"
	"github.com/kyma-project/lifecycle-manager/pkg/conditions"
)

var noon = metav1.NewTime(time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC))

// sameAs is what Argo CD calls each answer of kstatus.
var sameAs = map[kstatus.Status]string{
	kstatus.CurrentStatus: "Healthy", kstatus.InProgressStatus: "Progressing", kstatus.FailedStatus: "Degraded",
	kstatus.TerminatingStatus: "Progressing",
}

// situation is an object and what is to be said of it: argo where that is another word than the one for want, usable where
// config/gitops/flux/usable.yaml says something else than kstatus of a Kyma.
type situation struct {
	name   string
	object client.Object
	want   kstatus.Status
	argo   string
	usable kstatus.Status
}

// objectMeta is that of an object in its third generation.
func objectMeta(labels map[string]string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Name: "sample", Namespace: "kcp-system", Generation: 3, Labels: labels}
}

// conditionsOf returns the conditions that the manager writes for a state.
func conditionsOf(state v1beta2.State, generation int64) []metav1.Condition {
	ready := metav1.ConditionFalse
	if state == v1beta2.StateReady {
		ready = metav1.ConditionTrue
	}
	var conds []metav1.Condition
	conditions.Set(&conds, v1beta2.ConditionModules, ready, "Because", "other", generation, noon)
	conditions.Set(&conds, v1beta2.ConditionReady, ready, "Because", "text", generation, noon)
	module.SetAbnormal(&conds, state, noon)
	return conds
}

func kymaIn(state v1beta2.State, changes ...func(*v1beta2.Kyma)) *v1beta2.Kyma {
	kyma := &v1beta2.Kyma{ObjectMeta: objectMeta(nil)}
	kyma.Status = v1beta2.KymaStatus{ObservedGeneration: 3, State: state, Conditions: conditionsOf(state, 3)}
	for _, change := range changes {
		change(kyma)
	}
	return kyma
}

func manifestIn(state v1beta2.State, changes ...func(*v1beta2.Manifest)) *v1beta2.Manifest {
	manifest := &v1beta2.Manifest{ObjectMeta: objectMeta(nil)}
	manifest.Status = v1beta2.ManifestStatus{ObservedGeneration: 3, State: state, Conditions: conditionsOf(state, 3)}
	for _, change := range changes {
		change(manifest)
	}
	return manifest
}

func rolloutWith(unarmed string, phase v1beta2.RolloutPhase, changes ...func(*v1beta2.ModuleRollout)) *v1beta2.ModuleRollout {
	made := &v1beta2.ModuleRollout{ObjectMeta: objectMeta(nil)}
	made.Spec.Waves = []v1beta2.RolloutWave{{Name: "all"}}
	made.Status.ObservedGeneration = 3
	made.Status.Channels = []v1beta2.RolloutChannel{{Name: "regular", Phase: phase, Wave: "all", Message: "text"}}
	for _, change := range changes {
		change(made)
	}
	rollout.SetConditions(made, unarmed, noon)
	return made
}

func edited(k *v1beta2.Kyma)           { k.Generation++ }
func deletedKyma(k *v1beta2.Kyma)      { k.DeletionTimestamp = noon.DeepCopy() }
func unseen(k *v1beta2.Kyma)           { k.Status = v1beta2.KymaStatus{ObservedGeneration: -1} }
func editedM(m *v1beta2.Manifest)      { m.Generation++ }
func deletedM(m *v1beta2.Manifest)     { m.DeletionTimestamp = noon.DeepCopy() }
func unseenM(m *v1beta2.Manifest)      { m.Status = v1beta2.ManifestStatus{ObservedGeneration: -1} }
func invalid(r *v1beta2.ModuleRollout) { r.Spec.Waves = nil }

func skipped(value string) func(*v1beta2.Kyma) {
	return func(k *v1beta2.Kyma) { k.Labels = map[string]string{v1beta2.LabelSkipReconciliation: value} }
}

func skippedM(value string) func(*v1beta2.Manifest) {
	return func(m *v1beta2.Manifest) { m.Labels = map[string]string{v1beta2.LabelSkipReconciliation: value} }
}

// waiting is a module that runs, while another version of it waits for a window, for consent or for a rollout.
func waiting(k *v1beta2.Kyma) {
	k.Status.Modules = []v1beta2.ModuleStatus{{Name: "redis", State: v1beta2.StateReady, Maintenance: true, Offered: "1.1.0"}}
}

// releaseWith is a named release of version 1.0.0 of a module on a hub that has a template of another version, or of that one.
func releaseWith(version string) *v1beta2.KymaRelease {
	made := &v1beta2.KymaRelease{ObjectMeta: objectMeta(nil)}
	made.Spec.Modules = []v1beta2.ReleasedModule{{Name: "redis", Version: "1.0.0"}}
	made.Status = module.JudgeRelease(module.ReleaseFacts{
		Release: made, Templates: map[string]*v1beta2.ModuleTemplate{"redis-" + version: {}}, Now: noon,
	})
	return made
}

func situations() []situation {
	const current, progress, failed, terminating = kstatus.CurrentStatus, kstatus.InProgressStatus, kstatus.FailedStatus,
		kstatus.TerminatingStatus
	return []situation{
		{name: "a Kyma that is Ready", object: kymaIn(v1beta2.StateReady), want: current},
		{name: "a Kyma that is Ready while a version waits", object: kymaIn(v1beta2.StateReady, waiting), want: current},
		{name: "a Kyma that is Processing", object: kymaIn(v1beta2.StateProcessing), want: progress},
		{name: "a Kyma in Warning", object: kymaIn(v1beta2.StateWarning), want: progress, usable: current},
		{name: "a Kyma in Error", object: kymaIn(v1beta2.StateError), want: failed},
		{name: "a Kyma of which nothing was seen", object: kymaIn("", unseen), want: progress},
		{name: "a Kyma that was Ready and was edited", object: kymaIn(v1beta2.StateReady, edited), want: progress},
		{name: "a Kyma that was in Warning and was edited", object: kymaIn(v1beta2.StateWarning, edited), want: progress},
		{name: "a Kyma that was in Error and was edited", object: kymaIn(v1beta2.StateError, edited), want: progress},
		{name: "a Kyma that is being deleted", object: kymaIn(v1beta2.StateDeleting, deletedKyma), want: terminating, usable: progress},
		{name: "a Kyma that was Ready a moment before its deletion", object: kymaIn(v1beta2.StateReady, deletedKyma), want: terminating,
			usable: progress},
		{name: "the Kyma of a runtime whose hub deletes it", object: kymaIn(v1beta2.StateDeleting), want: progress},
		{name: "a Kyma that is suspended", object: kymaIn(v1beta2.StateReady, skipped("true")), want: current, argo: "Suspended"},
		{name: "a Kyma that is suspended, and was edited", object: kymaIn(v1beta2.StateReady, skipped("True"), edited), want: progress,
			argo: "Suspended"},
		{name: "a Kyma that is suspended and deleted, which counts", object: kymaIn(v1beta2.StateDeleting, skipped("true"), deletedKyma),
			want: terminating, usable: progress},
		{name: "a Kyma whose label says nothing", object: kymaIn(v1beta2.StateReady, skipped("false")), want: current},

		{name: "a Manifest that is Ready", object: manifestIn(v1beta2.StateReady), want: current},
		{name: "a Manifest that is Processing", object: manifestIn(v1beta2.StateProcessing), want: progress},
		{name: "a Manifest in Error", object: manifestIn(v1beta2.StateError), want: failed},
		{name: "a Manifest of which nothing was seen", object: manifestIn("", unseenM), want: progress},
		{name: "a Manifest that was Ready and was edited", object: manifestIn(v1beta2.StateReady, editedM), want: progress},
		{name: "a Manifest that is being deleted", object: manifestIn(v1beta2.StateDeleting, deletedM), want: terminating},
		{name: "a Manifest that is suspended", object: manifestIn(v1beta2.StateReady, skippedM("true")), want: current, argo: "Suspended"},
		{name: "a Manifest whose label is none", object: manifestIn(v1beta2.StateReady, skippedM("True")), want: current},

		{name: "a rollout that is armed", object: rolloutWith("", v1beta2.RolloutCompleted), want: current},
		{name: "a rollout with a wave under way", object: rolloutWith("", v1beta2.RolloutProgressing), want: current},
		{name: "a rollout that waits for a person", object: rolloutWith("", v1beta2.RolloutWaiting), want: current},
		{name: "a rollout that is not armed", object: rolloutWith("no release", v1beta2.RolloutProgressing), want: progress},
		{name: "a rollout that halted", object: rolloutWith("", v1beta2.RolloutHalted), want: failed},
		{name: "a rollout that cannot be carried out", object: rolloutWith("no release", v1beta2.RolloutProgressing, invalid), want: failed},

		{name: "a named release that is complete", object: releaseWith("1.0.0"), want: current},
		{name: "a named release that lacks a template", object: releaseWith("2.0.0"), want: progress},
	}
}

func TestKstatusAndArgoCDSayTheSame(t *testing.T) {
	scripts := healthScripts(t)
	for _, test := range situations() {
		t.Run(test.name, func(t *testing.T) {
			object := unstructuredOf(t, test.object)
			got, err := kstatus.Compute(object)
			if err != nil || got.Status != test.want {
				t.Errorf("kstatus says %+v, %v, want %s", got, err, test.want)
			}
			want := sameAs[test.want]
			if test.argo != "" {
				want = test.argo
			}
			answer := healthOf(t, scripts, object)
			if answer.Status != want || answer.Message == "" {
				t.Errorf("Argo CD says %+v, want %s", answer, want)
			}
		})
	}
}

// TestArgoCDSaysProgressingOfWhatHasNoStatus is for a hub with the definitions of upstream, which have no default for it.
func TestArgoCDSaysProgressingOfWhatHasNoStatus(t *testing.T) {
	scripts := healthScripts(t)
	for _, kind := range []string{"Kyma", "Manifest", "ModuleRollout", "KymaRelease"} {
		object := &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": v1beta2.GroupVersion.String(), "kind": kind,
			"metadata": map[string]any{"name": "sample", "generation": int64(1)},
		}}
		if answer := healthOf(t, scripts, object); answer.Status != "Progressing" {
			t.Errorf("%s: %+v", kind, answer)
		}
	}
}

func unstructuredOf(t *testing.T, object client.Object) *unstructured.Unstructured {
	t.Helper()
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
	if err != nil {
		t.Fatal(err)
	}
	made := &unstructured.Unstructured{Object: fields}
	scheme := runtime.NewScheme()
	if err := v1beta2.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	kinds, _, err := scheme.ObjectKinds(object)
	if err != nil {
		t.Fatal(err)
	}
	made.SetGroupVersionKind(kinds[0])
	return made
}
