package module

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/pkg/conditions"
)

// decreed makes a module mandatory in a version, with template and component. Its release replaces one with channels.
func decreed(name, version string) func(*Snapshot) {
	return func(w *Snapshot) {
		release := newRelease(name)
		release.Spec.Mandatory = &v1beta2.Mandatory{Version: version}
		w.Mandatory = append(w.Mandatory, release)
		w.Releases[name] = release
		w.Templates[name+"-"+version] = newTemplate(name, version)
		w.Components[ComponentKey{componentOfModule(name), version}] = newComponent(version)
	}
}

// present adds the Manifest of a mandatory module, Ready.
func present(name, version string) func(*Snapshot) {
	return func(w *Snapshot) {
		w.Manifests = append(w.Manifests, *makeReady(stored(wanted(w.Kyma, &Verdict{
			Module: name, Mandatory: true, Version: version, ComponentName: componentOfModule(name), Template: newTemplate(name, version),
			Source: newSource(version), LocalizedImages: newComponent(version).LocalizedImages, Policy: v1beta2.CustomResourcePolicyCreateAndDelete,
		}), nil)))
	}
}

func theMandatory(edit func(*v1beta2.ModuleReleaseMeta)) func(*Snapshot) {
	return func(w *Snapshot) { edit(w.Mandatory[0]) }
}

func TestMandatory(t *testing.T) {
	going := func(r *v1beta2.ModuleReleaseMeta) { r.DeletionTimestamp = noon.DeepCopy() }
	hide := func(label string) func(*Snapshot) {
		return theTemplate(v1, func(m *v1beta2.ModuleTemplate) { m.Labels = map[string]string{label: "true"} })
	}
	runs := verdictWords{Kind: Run, Version: v1}
	for _, test := range []struct {
		name  string
		edits []func(*Snapshot)
		want  verdictWords
		does  string // "apply <version>", "adjust", "delete" or nothing
	}{
		{"is installed without being requested", []func(*Snapshot){decreed(operator, v1)}, runs, "apply 1.0.0"},
		{"stays as it is", []func(*Snapshot){decreed(operator, v1), present(operator, v1)}, runs, ""},
		{"is upgraded to another version", []func(*Snapshot){decreed(operator, v2), present(operator, v1)}, verdictWords{Kind: Run, Version: v2}, "apply 2.0.0"},
		{"of a template that is marked as mandatory", []func(*Snapshot){decreed(operator, v1), theTemplate(v1, func(m *v1beta2.ModuleTemplate) {
			m.Spec.Mandatory = true
		})}, runs, "apply 1.0.0"},
		{"is for Kymas that are not internal, too", []func(*Snapshot){decreed(operator, v1), hide(v1beta2.LabelInternal)}, runs, "apply 1.0.0"},
		{"is for Kymas that are not beta, too", []func(*Snapshot){decreed(operator, v1), hide(v1beta2.LabelBeta)}, runs, "apply 1.0.0"},
		{"has no restriction", []func(*Snapshot){decreed(operator, v1), func(w *Snapshot) { w.Restricted = []string{operator} }}, runs, "apply 1.0.0"},
		{"has no maintenance window", []func(*Snapshot){
			decreed(operator, v2), present(operator, v1), needsDowntime(v2), closedUntilNight,
		}, verdictWords{Kind: Run, Version: v2}, "apply 2.0.0"},
		{"takes over an installation from the time when its release had channels", []func(*Snapshot){installedAt("regular", v1), disabled, decreed(operator, v1)}, runs, "apply 1.0.0"},
		{"is put back when a user removes the label", []func(*Snapshot){decreed(operator, v1), present(operator, v1), theManifest(func(m *v1beta2.Manifest) {
			delete(m.Labels, v1beta2.LabelMandatoryModule)
		})}, runs, "apply 1.0.0"},
		{"is put back when a user writes another version into it", []func(*Snapshot){decreed(operator, v1), present(operator, v1), theManifest(func(m *v1beta2.Manifest) {
			m.Spec.Version = "9.9.9"
		})}, runs, "apply 1.0.0"},
		{"is not downgraded", []func(*Snapshot){decreed(operator, v1), present(operator, v2)}, verdictWords{Keep, "Warning", "Downgrade",
			"module template update not allowed: ignore channel skew (from version 2.0.0 to version 1.0.0), " +
				"as a higher version (2.0.0) of the module was previously installed", "", v2}, ""},
		{"is kept without a template", []func(*Snapshot){decreed(operator, "1.2.3"), present(operator, v1), func(w *Snapshot) {
			delete(w.Templates, operator+"-1.2.3")
		}}, verdictWords{Keep, "Error", "TemplateNotFound", strings.ReplaceAll(saysMissing, v1, "1.2.3"), "", v1}, ""},
		{"is refused without a component name", []func(*Snapshot){decreed(operator, v1), theMandatory(func(r *v1beta2.ModuleReleaseMeta) {
			r.Spec.OCMComponentName = ""
		})}, verdictWords{Refused, "Error", "ComponentNameMissing", `ModuleReleaseMeta "template-operator" has no ocmComponentName`, "", ""}, ""},
		{"waits for its component", []func(*Snapshot){decreed(operator, v1), notRead(v1)},
			verdictWords{Waiting, "Processing", "ComponentPending", "component " + component + ":1.0.0 is being read", "", ""}, ""},
		{"is removed with its release", []func(*Snapshot){decreed(operator, v1), present(operator, v1), theMandatory(going)},
			verdictWords{Removed, "Deleting", "ModuleDeleting", "the module is being removed", "", v1}, "delete"},
		{"is removed when its release is gone", []func(*Snapshot){present(operator, v1), func(w *Snapshot) { delete(w.Releases, operator) }},
			verdictWords{Removed, "Deleting", "ModuleDeleting", "the module is being removed", "", v1}, "delete"},
		{"is removed when its release has channels and the spec does not name it", []func(*Snapshot){present(operator, v1)},
			verdictWords{Removed, "Deleting", "ModuleDeleting", "the module is being removed", "", v1}, "delete"},
		{"waits until the previous installation is gone", []func(*Snapshot){decreed(operator, v1), present(operator, v1), theManifest(isDying)},
			verdictWords{Waiting, "Deleting", "ModuleDeleting", "the module is installed again when its previous installation is gone", "", v1}, ""},
		{"goes with its Kyma", []func(*Snapshot){decreed(operator, v1), present(operator, v1), kymaDeleted},
			verdictWords{Removed, "Deleting", "Deleting", "the Kyma is being deleted", "", v1}, "delete"},
		{"does not overwrite another owner's Manifest", []func(*Snapshot){decreed(operator, v1), present(operator, v1), theManifest(func(m *v1beta2.Manifest) {
			m.OwnerReferences[0].UID = "other"
		})}, verdictWords{Refused, "Error", "ManifestConflict",
			`Manifest "kyma-sample-template-operator-2235966007" exists and does not belong to this module of this Kyma`, "", ""}, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := newWorld(newKyma(), test.edits...)
			w.Kyma.Status.Modules = nil
			got := only(t, w)
			if !got.Mandatory {
				t.Error("it is not mandatory")
			}
			if diff := cmp.Diff(test.want, wordsOf(got)); diff != "" {
				t.Errorf("verdict (-want +got):\n%s", diff)
			}
			plan := MakePlan(w, []Verdict{got})
			var does string
			for _, manifest := range plan.Apply {
				does = "apply " + manifest.Spec.Version
				if _, channel := manifest.Labels[v1beta2.LabelChannel]; channel || manifest.Labels[v1beta2.LabelMandatoryModule] != "true" {
					t.Errorf("labels %v", manifest.Labels)
				}
			}
			if len(plan.Delete) > 0 {
				does = "delete"
			}
			if does != test.does || len(plan.Apply)+len(plan.Delete) > 1 {
				t.Errorf("does %q, want %q", does, test.does)
			}
		})
	}
}

func TestMandatory_AModuleThatIsMandatoryAndAskedFor(t *testing.T) {
	w := sampleWorld(installedAt("regular", v1), decreed(operator, v1))
	verdicts := Resolve(w)
	got := []verdictWords{wordsOf(verdicts[0]), wordsOf(verdicts[1])}
	want := []verdictWords{
		{Refused, "Warning", "ModuleMandatory", `no templates were found: module "template-operator" is mandatory and cannot be enabled`, "", ""},
		{Kind: Run, Version: v1},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("verdicts (-want +got):\n%s", diff)
	}
	failed := map[string]Result{operator: {Reason: v1beta2.ReasonManifestRefused, Message: "no"}}
	status := Rollup(w, verdicts, failed)
	if len(status.Modules) != 1 || status.Modules[0].Manifest != nil || status.State != v1beta2.StateWarning {
		t.Errorf("status %+v", status)
	}
	if states := MandatoryStates(w, verdicts, failed); states[operator] != v1beta2.StateError {
		t.Errorf("states %v: the failed write was the mandatory module's", states)
	}
}

func TestMandatory_AModuleThatStopsToBeMandatoryIsTakenOver(t *testing.T) {
	w := sampleWorld(present(operator, v1))
	v := only(t, w)
	if v.Mandatory || v.Kind != Run || v.Manifest == nil {
		t.Fatalf("verdict %+v", v)
	}
	after := carryOut(w, MakePlan(w, []Verdict{v}))
	if len(after.Manifests) != 1 || after.Manifests[0].UID != w.Manifests[0].UID {
		t.Errorf("Manifests %+v", after.Manifests)
	}
	for !MakePlan(after, Resolve(after)).Empty() {
		after = carryOut(after, MakePlan(after, Resolve(after)))
	}
	if _, still := after.Manifests[0].Labels[v1beta2.LabelMandatoryModule]; still {
		t.Errorf("labels %v", after.Manifests[0].Labels)
	}
}

func TestMandatory_OneBrokenMandatoryModuleHoldsUpNoOther(t *testing.T) {
	w := sampleWorld(decreed("aaa", v1), decreed("zzz", v1), installedAt("regular", v1), present("zzz", v1))
	delete(w.Templates, "aaa-"+v1)
	verdicts := Resolve(w)
	if len(verdicts) != 3 || verdicts[0].Kind != Refused || verdicts[1].Kind != Run || verdicts[2].Kind != Run {
		t.Fatalf("verdicts %+v", verdicts)
	}
	status := Rollup(w, verdicts, nil)
	if status.State != v1beta2.StateReady || status.ModulesReady != "1/1" || len(status.Modules) != 1 {
		t.Errorf("status %+v", status)
	}
	condition := conditions.Find(status.Conditions, v1beta2.ConditionMandatoryModules)
	want := "1 of 2 mandatory modules ready; aaa: TemplateNotFound: failed to get module template: " +
		`ModuleTemplate.operator.kyma-project.io "aaa-1.0.0" not found`
	if condition == nil || condition.Status != "False" || condition.Reason != "TemplateNotFound" || condition.Message != want {
		t.Errorf("condition %+v", condition)
	}
	want = "2 of 2 mandatory modules ready"
	w.Templates["aaa-"+v1] = newTemplate("aaa", v1)
	present("aaa", v1)(&w)
	w.Kyma.Status = Rollup(w, Resolve(w), nil)
	condition = conditions.Find(w.Kyma.Status.Conditions, v1beta2.ConditionMandatoryModules)
	if condition == nil || condition.Status != "True" || condition.Reason != "Ready" || condition.Message != want {
		t.Errorf("condition %+v", condition)
	}
	w.Mandatory, w.Manifests = nil, w.Manifests[:1]
	if condition = conditions.Find(Rollup(w, Resolve(w), nil).Conditions, v1beta2.ConditionMandatoryModules); condition != nil {
		t.Errorf("a condition without a mandatory module: %+v", condition)
	}
}

func TestMandatory_AKymaSaysThatItWaitsForMandatoryModules(t *testing.T) {
	w := newWorld(newKyma(), decreed(operator, v1), present(operator, v1), kymaDeleted)
	ready := conditions.Find(Rollup(w, Resolve(w), nil).Conditions, v1beta2.ConditionReady)
	if ready == nil || !strings.HasPrefix(ready.Message, "mandatory modules left to delete: 1; template-operator: Deleting: ") {
		t.Errorf("condition %+v", ready)
	}
	if step := NextTeardown(w); step.Step != StepDelete || len(step.Delete) != 1 {
		t.Errorf("step %+v", step)
	}
}
