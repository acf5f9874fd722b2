package module

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

// entryWords are the state and message of a module's status entry, with the reason from the Kyma's condition.
type entryWords struct {
	State           v1beta2.State
	Reason, Message string
}

// tellOf returns the entry of the sample module after this pass.
func tellOf(w Snapshot, results map[string]Result) entryWords {
	status := Rollup(w, Resolve(w), results)
	entry := status.Modules[0]
	return entryWords{entry.State, readyOf(status).Reason, entry.Message}
}

func reported(state v1beta2.State, reason, message string) func(*Snapshot) {
	return theManifest(func(m *v1beta2.Manifest) { reporting(m, state, reason, message) })
}

const saysPending = `Manifest "kyma-sample-template-operator-2235966007" was written and is being applied`

func TestOutcome_WhatAManifestMakesOfAModule(t *testing.T) {
	pending := entryWords{"Processing", "ManifestPending", saysPending}
	for _, test := range []struct {
		name string
		edit func(*Snapshot)
		want entryWords
	}{
		{"it is ready", theManifest(func(*v1beta2.Manifest) {}), entryWords{"Ready", "Ready", ""}},
		{"it is not there yet", func(w *Snapshot) { w.Manifests = nil }, pending},
		{"it is ready and was not observed since its spec changed", theManifest(func(m *v1beta2.Manifest) { m.Generation++ }), pending},
		{"it is ready at the previous version", ofChannel("fast"), pending},
		{"it is ready with something edited by hand", theManifest(func(m *v1beta2.Manifest) { m.Spec.Manager = nil }), pending},
		{"it is ready with a label edited by hand", theManifest(func(m *v1beta2.Manifest) { m.Labels[v1beta2.LabelChannel] = "x" }),
			entryWords{"Ready", "Ready", ""}},
		{"it failed for the previous version", func(w *Snapshot) {
			reported("Error", "ObjectFailed", "Deployment foo failed")(w)
			ofChannel("fast")(w)
		}, pending},
		{"it says nothing", theManifest(func(m *v1beta2.Manifest) { m.Status = v1beta2.ManifestStatus{ObservedGeneration: 1} }), pending},
		{"it was only observed", reported("Processing", "Pending", "x"), pending},
		{"it is being applied", reported("Processing", "Applying", "3 of 20"), pending},
		{"it waits", reported("Processing", "WaitingForObjects", "Deployment foo: 0 of 1"),
			entryWords{"Processing", "ModuleProcessing", "Deployment foo: 0 of 1"}},
		{"it reports Deleting though it is not being deleted", reported("Deleting", "WaitingForDeletion", "3 left"),
			entryWords{"Processing", "ModuleProcessing", "3 left"}},
		{"it warns", reported("Warning", "ObjectFailed", "odd"), entryWords{"Warning", "ModuleWarning", "odd"}},
		{"it failed", reported("Error", "ObjectFailed", "Deployment foo failed"), entryWords{"Error", "ModuleError", "Deployment foo failed"}},
		{"it failed and has no condition", theManifest(func(m *v1beta2.Manifest) {
			m.Status.State, m.Status.Conditions, m.Status.Operation = "Error", nil, "no private oci registry auth secret found"
		}), entryWords{"Error", "ModuleError", "no private oci registry auth secret found"}},
		{"it failed and gives no message", theManifest(func(m *v1beta2.Manifest) { m.Status.State, m.Status.Conditions = "Error", nil }),
			entryWords{"Error", "ModuleError", "Manifest kyma-sample-template-operator-2235966007 gives no message"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := sampleWorld(installedAt("regular", v1), test.edit)
			if diff := cmp.Diff(test.want, tellOf(w, nil)); diff != "" {
				t.Errorf("entry (-want +got):\n%s", diff)
			}
		})
	}
}

func TestOutcome_TheModulesOwnResource(t *testing.T) {
	resource := func(state v1beta2.State, message string) func(*Snapshot) {
		return theManifest(func(m *v1beta2.Manifest) { m.Status.ResourceState, m.Status.ResourceMessage = state, message })
	}
	waits := reported("Processing", "WaitingForObjects", "Deployment foo")
	fails := reported("Error", "ObjectFailed", "Deployment foo failed")
	unreachable := reported("Error", "RuntimeUnreachable", "no answer")
	readyEntry := entryWords{"Ready", "Ready", ""}
	says := func(state v1beta2.State, what string) entryWords {
		return entryWords{state, "ModuleCRNotReady", "the module's own resource reports " + what}
	}
	none := func(w *Snapshot) {
		theModule(func(m *v1beta2.Module) { m.CustomResourcePolicy = v1beta2.CustomResourcePolicyIgnore })(w)
		theManifest(func(m *v1beta2.Manifest) { m.Spec.CustomResourcePolicy = "Ignore" })(w)
	}
	for _, test := range []struct {
		name                     string
		edits                    []func(*Snapshot)
		workloads, moduleCR, all entryWords
	}{
		{"it says Ready", []func(*Snapshot){resource("Ready", "")}, readyEntry, readyEntry, readyEntry},
		{"it reports Warning", []func(*Snapshot){resource("Warning", "odd")}, readyEntry,
			says("Warning", "Warning: odd"), says("Warning", "Warning: odd")},
		{"it reports Error", []func(*Snapshot){resource("Error", "")}, readyEntry, says("Error", "Error"), says("Error", "Error")},
		{"it says Processing", []func(*Snapshot){resource("Processing", "")}, readyEntry, says("Processing", "Processing"),
			says("Processing", "Processing")},
		{"it is being deleted", []func(*Snapshot){resource("Deleting", "")}, readyEntry, says("Deleting", "Deleting"), says("Deleting", "Deleting")},
		{"it reports another state", []func(*Snapshot){resource("Fine", "")}, readyEntry, says("Processing", "Fine"), says("Processing", "Fine")},
		{"it has reported nothing yet", nil, readyEntry, says("Processing", "no state yet"), says("Processing", "no state yet")},
		{"there is none and none is created", []func(*Snapshot){none}, readyEntry, readyEntry, readyEntry},
		{"a user created it and it reports Warning", []func(*Snapshot){none, resource("Warning", "odd")}, readyEntry,
			says("Warning", "Warning: odd"), says("Warning", "Warning: odd")},
		{"it reports Ready while objects are not ready", []func(*Snapshot){waits, resource("Ready", "")},
			entryWords{"Processing", "ModuleProcessing", "Deployment foo"}, entryWords{"Processing", "ModuleProcessing", "Deployment foo"},
			entryWords{"Processing", "ModuleProcessing", "Deployment foo"}},
		{"it reports Ready while objects fail", []func(*Snapshot){fails, resource("Ready", "")},
			entryWords{"Error", "ModuleError", "Deployment foo failed"}, entryWords{"Processing", "ModuleProcessing", "Deployment foo failed"},
			entryWords{"Error", "ModuleError", "Deployment foo failed"}},
		{"it reports Warning while objects fail", []func(*Snapshot){fails, resource("Warning", "odd")},
			entryWords{"Error", "ModuleError", "Deployment foo failed"}, says("Warning", "Warning: odd"),
			entryWords{"Error", "ModuleError", "Deployment foo failed"}},
		{"it reports Ready and the runtime does not answer", []func(*Snapshot){unreachable, resource("Ready", "")},
			entryWords{"Error", "ModuleError", "no answer"}, entryWords{"Error", "ModuleError", "no answer"},
			entryWords{"Error", "ModuleError", "no answer"}},
	} {
		for readiness, want := range map[v1beta2.Readiness]entryWords{
			"": test.workloads, v1beta2.ReadinessWorkloads: test.workloads,
			v1beta2.ReadinessModuleCR: test.moduleCR, v1beta2.ReadinessBoth: test.all,
		} {
			t.Run(test.name+", readiness "+string(readiness)+" of the Kyma, whatever the template says", func(t *testing.T) {
				for _, other := range []v1beta2.Readiness{"", v1beta2.ReadinessWorkloads, v1beta2.ReadinessModuleCR, v1beta2.ReadinessBoth} {
					if readiness == "" {
						continue // the Kyma does not set it
					}
					w := sampleWorld(append([]func(*Snapshot){installedAt("regular", v1),
						func(w *Snapshot) { w.Kyma.Spec.Readiness = readiness },
						theTemplate(v1, func(m *v1beta2.ModuleTemplate) { m.Spec.Readiness = other })}, test.edits...)...)
					if diff := cmp.Diff(want, tellOf(w, nil)); diff != "" {
						t.Errorf("template %q: entry (-want +got):\n%s", other, diff)
					}
				}
			})
			t.Run(test.name+", readiness "+string(readiness), func(t *testing.T) {
				w := sampleWorld(append([]func(*Snapshot){installedAt("regular", v1),
					theTemplate(v1, func(m *v1beta2.ModuleTemplate) { m.Spec.Readiness = readiness })}, test.edits...)...)
				if diff := cmp.Diff(want, tellOf(w, nil)); diff != "" {
					t.Errorf("entry (-want +got):\n%s", diff)
				}
				entry, manifest := Rollup(w, Resolve(w), nil).Modules[0], w.Manifests[0]
				if entry.ResourceState != manifest.Status.ResourceState || entry.ResourceMessage != manifest.Status.ResourceMessage {
					t.Errorf("resourceState %q, resourceMessage %q", entry.ResourceState, entry.ResourceMessage)
				}
			})
		}
	}
}

func TestOutcome_WhatIsKeptMayBeInErrorItself(t *testing.T) {
	broken := reported("Error", "ObjectFailed", "Deployment foo failed")
	for _, test := range []struct {
		name string
		edit []func(*Snapshot)
		want entryWords
	}{
		{"a refusal that warns", []func(*Snapshot){broken},
			entryWords{"Error", "ModuleError", saysDowngrade + "; the kept version: Deployment foo failed"}},
		{"a refusal that is an error", []func(*Snapshot){broken, ofChannel("rapid")}, entryWords{"Error", "ChannelNotFound",
			`no version found for channel "rapid" in ModuleReleaseMeta "template-operator"; the kept version: Deployment foo failed`}},
		{"it was not looked at", []func(*Snapshot){broken, theManifest(func(m *v1beta2.Manifest) { m.Generation++ })},
			entryWords{"Warning", "Downgrade", saysDowngrade}},
		{"it is put back", []func(*Snapshot){func(w *Snapshot) { w.Manifests = nil }}, entryWords{"Warning", "Downgrade", saysDowngrade}},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := sampleWorld(append([]func(*Snapshot){installedAt("fast", v2)}, test.edit...)...)
			if diff := cmp.Diff(test.want, tellOf(w, nil)); diff != "" {
				t.Errorf("entry (-want +got):\n%s", diff)
			}
		})
	}
}

func TestOutcome_WhatARemovalTells(t *testing.T) {
	const says = "the module is being removed"
	for _, test := range []struct {
		name string
		edit []func(*Snapshot)
		want entryWords
	}{
		{"it was just deleted", []func(*Snapshot){reported("Error", "ObjectFailed", "old news")}, entryWords{"Deleting", "ModuleDeleting", says}},
		{"its deletion was not observed", []func(*Snapshot){reported("Error", "ObjectFailed", "old news"), theManifest(isDying)},
			entryWords{"Deleting", "ModuleDeleting", says}},
		{"it waits", []func(*Snapshot){theManifest(isDying), reported("Deleting", "DeletionBlocked", "Sample kyma-system/mine still exists")},
			entryWords{"Deleting", "ModuleDeleting", "Sample kyma-system/mine still exists"}},
		{"it fails", []func(*Snapshot){theManifest(isDying), reported("Error", "RuntimeUnreachable", "no answer")},
			entryWords{"Error", "ModuleError", "no answer"}},
		{"it warns", []func(*Snapshot){theManifest(isDying), reported("Warning", "RuntimeUnreachable", "no answer")},
			entryWords{"Warning", "ModuleWarning", "no answer"}},
		{"it reports Ready although it is being deleted", []func(*Snapshot){theManifest(isDying), reported("Ready", "Ready", "all is well")},
			entryWords{"Deleting", "ModuleDeleting", says}},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := sampleWorld(append([]func(*Snapshot){installedAt("regular", v1), disabled}, test.edit...)...)
			if diff := cmp.Diff(test.want, tellOf(w, nil)); diff != "" {
				t.Errorf("entry (-want +got):\n%s", diff)
			}
		})
	}
	t.Run("a module that is no longer allowed stays in error while it is removed", func(t *testing.T) {
		w := sampleWorld(installedAt("regular", v1), theManifest(isDying), reported("Deleting", "WaitingForDeletion", "3 left"),
			theTemplate(v1, func(m *v1beta2.ModuleTemplate) { m.Labels = map[string]string{v1beta2.LabelBeta: "true"} }))
		want := entryWords{"Error", "NotAllowed", "module template not allowed: beta module"}
		if diff := cmp.Diff(want, tellOf(w, nil)); diff != "" {
			t.Errorf("entry (-want +got):\n%s", diff)
		}
	})
}

func TestOutcome_AWriteThatFailed(t *testing.T) {
	const name = "kyma-sample-template-operator-2235966007"
	for _, test := range []struct {
		name   string
		edits  []func(*Snapshot)
		result Result
		want   entryWords
		// the installed version according to the status
		version string
	}{
		{"the first Manifest is refused", nil, Result{Reason: "ManifestRefused", Message: "spec: bad"},
			entryWords{"Error", "ManifestRefused", `Manifest "` + name + `" was refused by the API server: spec: bad`}, ""},
		{"the name has been taken in the meantime", nil, Result{Reason: "ManifestConflict"},
			entryWords{"Error", "ManifestConflict", `Manifest "` + name + `" exists and does not belong to this module of this Kyma`}, ""},
		{"an upgrade is refused", []func(*Snapshot){installedAt("regular", v1), ofChannel("fast")}, Result{Reason: "ManifestRefused", Message: "no"},
			entryWords{"Error", "ManifestRefused", `Manifest "` + name + `" was refused by the API server: no`}, v1},
		{"another writer was faster", []func(*Snapshot){installedAt("regular", v1), ofChannel("fast")},
			Result{Reason: "ManifestPending", Message: "x"},
			entryWords{"Processing", "ManifestPending", saysPending}, v1},
		{"another writer was faster with a deletion", []func(*Snapshot){installedAt("regular", v1), disabled}, Result{Reason: "ManifestPending"},
			entryWords{"Deleting", "ModuleDeleting", "the module is being removed"}, v1},
		{"a deletion is refused", []func(*Snapshot){installedAt("regular", v1), disabled}, Result{Reason: "Internal", Message: "boom"},
			entryWords{"Error", "Internal", "an unexpected error occurred: boom"}, v1},
		{"an unknown reason", []func(*Snapshot){installedAt("regular", v1)}, Result{Reason: "Odd", Message: "boom"},
			entryWords{"Error", "Internal", "an unexpected error occurred: boom"}, v1},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := sampleWorld(test.edits...)
			results := map[string]Result{operator: test.result}
			if diff := cmp.Diff(test.want, tellOf(w, results)); diff != "" {
				t.Errorf("entry (-want +got):\n%s", diff)
			}
			entry := Rollup(w, Resolve(w), results).Modules[0]
			if entry.Version != test.version || entry.OCMComponentName != component {
				t.Errorf("version %q, component %q", entry.Version, entry.OCMComponentName)
			}
		})
	}
}

func TestOutcome_WhatWasDeletedMeanwhileIsNotReady(t *testing.T) {
	w := sampleWorld(installedAt("regular", v1))
	written := w.Manifests[0].DeepCopy()
	dying(written)
	written.Status.ObservedGeneration = written.Generation
	want := entryWords{"Processing", "ManifestPending", saysPending}
	if diff := cmp.Diff(want, tellOf(w, map[string]Result{operator: {Manifest: written}})); diff != "" {
		t.Errorf("entry (-want +got):\n%s", diff)
	}
}

func TestOutcome_AFailedUpgradeCanGoBack(t *testing.T) {
	w := sampleWorld(installedAt("regular", v1), ofChannel("fast"))
	w.Kyma.Status = Rollup(w, Resolve(w), map[string]Result{operator: {Reason: "ManifestRefused", Message: "no"}})
	ofChannel("")(&w)
	if got := only(t, w); got.Kind != Run || got.Version != v1 {
		t.Errorf("verdict %s: %s", got.Kind, got.Message)
	}
}

func TestOutcome_AnEntryNamesTheVersionThatWasBroughtUpBefore(t *testing.T) {
	for name, c := range map[string]struct{ before, want string }{
		"another one": {"0.9.0", "0.9.0"}, "this one": {v1, ""}, "none is known": {"", ""},
	} {
		w := sampleWorld(installedAt("regular", v1), theManifest(func(m *v1beta2.Manifest) { m.Status.InstalledVersion = c.before }))
		if entry := Rollup(w, Resolve(w), nil).Modules[0]; entry.InstalledVersion != c.want || entry.Version != v1 {
			t.Errorf("%s: %s was brought up and %s is asked for, want %q", name, entry.InstalledVersion, entry.Version, c.want)
		}
	}
}
