package module

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

func TestDowngradeIsRefused(t *testing.T) {
	for _, test := range []struct {
		name  string
		world []func(*Snapshot)
		say   string
	}{
		{"back to a channel with a lower version", []func(*Snapshot){installedAt("fast", v2)}, saysDowngrade},
		{"the channel itself went back", []func(*Snapshot){installedAt("regular", v2)},
			strings.Replace(saysDowngrade, "from fast", "from regular", 1)},
		{"a lower version is pinned", []func(*Snapshot){installedAt("fast", v2), pinned(v1)},
			strings.Replace(saysDowngrade, "to regular", "to version 1.0.0", 1)},
		{"from a pinned version", []func(*Snapshot){installedAt("", v2)}, strings.Replace(saysDowngrade, "from fast", "from version 2.0.0", 1)},
		{"the component of the lower version need not be readable", []func(*Snapshot){installedAt("fast", v2), notRead(v1)}, saysDowngrade},
		{"the component of the kept version need not be readable", []func(*Snapshot){installedAt("fast", v2), notRead(v2)}, saysDowngrade},
		{"the Manifest is gone and only the status shows it", []func(*Snapshot){statusAt("fast", v2)}, saysDowngrade},
		{"the status is gone and only the Manifest shows it",
			[]func(*Snapshot){installedAt("fast", v2), func(w *Snapshot) { w.Kyma.Status.Modules = nil }}, saysDowngrade},
		{"the operator stopped between writing the Manifest and the status", []func(*Snapshot){installedAt("fast", v2), theEntry(func(e *v1beta2.ModuleStatus) {
			e.Channel, e.Version = "regular", v1
		})}, saysDowngrade},
		{"it has been unmanaged since", []func(*Snapshot){statusAt("fast", v2), theEntry(func(e *v1beta2.ModuleStatus) {
			e.State = v1beta2.StateUnmanaged
		})}, saysDowngrade},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := sampleWorld(test.world...)
			got := only(t, w)
			if got.Kind != Keep || got.State != v1beta2.StateWarning || got.Reason != "Downgrade" || got.Version != v2 {
				t.Errorf("verdict %s, %s, %s, version %s", got.Kind, got.State, got.Reason, got.Version)
			}
			if diff := cmp.Diff(test.say, got.Message); diff != "" {
				t.Errorf("message (-want +got):\n%s", diff)
			}
			if got.Template == nil || got.Template.Spec.Version != v2 || got.Source.Ref != "sha256:2.0.0" {
				t.Errorf("the kept version is not enforced: %+v", got)
			}
		})
	}
}

func TestKeep_AHandEditOfTheVersionIsNoVersionToKeep(t *testing.T) {
	edited := theManifest(func(m *v1beta2.Manifest) { m.Spec.Version = "9.9.9" })
	for _, test := range []struct {
		name  string
		world []func(*Snapshot)
	}{
		{"a version that does not exist", []func(*Snapshot){edited}},
		{"a version that exists, with the source of another", []func(*Snapshot){theManifest(func(m *v1beta2.Manifest) { m.Spec.Version = v2 })}},
		{"a version whose component is not in the registry", []func(*Snapshot){edited, func(w *Snapshot) {
			w.Templates["template-operator-9.9.9"] = newTemplate(operator, "9.9.9")
		}, unreadable("9.9.9", "ComponentNotFound")}},
		{"a version whose component is invalid", []func(*Snapshot){edited, func(w *Snapshot) {
			w.Templates["template-operator-9.9.9"] = newTemplate(operator, "9.9.9")
		}, isComponent("9.9.9", Component{})}},
		{"a Manifest whose source is invalid now", []func(*Snapshot){theManifest(func(m *v1beta2.Manifest) {
			m.Spec.Version, m.Spec.Install.Source.Raw = v2, []byte(`[]`)
		})}},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := sampleWorld(append([]func(*Snapshot){installedAt("regular", v1)}, test.world...)...)
			plan := MakePlan(w, Resolve(w))
			if len(plan.Apply) != 1 || plan.Apply[0].Spec.Version != v1 {
				t.Errorf("the Manifest is not put back: %+v", plan)
			}
		})
	}
}

func TestKeep_InDoubtNothingIsWritten(t *testing.T) {
	// The Manifest is at 2.0.0, the status and the channel are at 1.0.0: either an edit by hand, or the operator stopped in between.
	doubt := []func(*Snapshot){installedAt("fast", v2), theEntry(func(e *v1beta2.ModuleStatus) { e.Channel, e.Version = "regular", v1 })}
	for _, test := range []struct {
		name  string
		world []func(*Snapshot)
		want  verdictWords
	}{
		{"while the component is being read", []func(*Snapshot){notRead(v2)}, verdictWords{Waiting, "Processing", "ComponentPending",
			"component " + component + ":2.0.0 is being read", "regular", v1}},
		{"while the registry does not answer", []func(*Snapshot){unreadable(v2, "RegistryUnreachable")}, verdictWords{Keep, "Error",
			"RegistryUnreachable", "the registry of component " + component + ":2.0.0 does not answer: the registry says so", "regular", v1}},
		{"when the channel is refused anyway", []func(*Snapshot){notRead(v2), ofChannel("rapid")}, verdictWords{Keep, "Error", "ChannelNotFound",
			`no version found for channel "rapid" in ModuleReleaseMeta "template-operator"`, "regular", v1}},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := sampleWorld(append(doubt[:2:2], test.world...)...)
			got := only(t, w)
			if diff := cmp.Diff(test.want, wordsOf(got)); diff != "" {
				t.Errorf("verdict (-want +got):\n%s", diff)
			}
			if plan := MakePlan(w, []Verdict{got}); !plan.Empty() {
				t.Errorf("written in doubt: %+v", plan)
			}
		})
	}
}

func TestKeep_WhatIsKeptIsPutBack(t *testing.T) {
	missing := func(w *Snapshot) { delete(w.Templates, "template-operator-2.0.0") }
	for _, test := range []struct {
		name   string
		world  []func(*Snapshot)
		writes bool
	}{
		{"nothing to put back", nil, false},
		{"an edit by hand", []func(*Snapshot){theManifest(func(m *v1beta2.Manifest) { m.Spec.Manager = nil })}, true},
		{"a Manifest that a user removed", []func(*Snapshot){func(w *Snapshot) { w.Manifests = nil }}, true},
		{"not when the release is gone", []func(*Snapshot){func(w *Snapshot) { delete(w.Releases, operator) },
			theManifest(func(m *v1beta2.Manifest) { m.Spec.Manager = nil })}, false},
		{"not when the kept version's template is gone", []func(*Snapshot){func(w *Snapshot) { delete(w.Templates, "template-operator-1.0.0") },
			theManifest(func(m *v1beta2.Manifest) { m.Spec.Manager = nil })}, false},
		{"not when the kept version is no longer allowed", []func(*Snapshot){theTemplate(v1, func(m *v1beta2.ModuleTemplate) {
			m.Labels = map[string]string{v1beta2.LabelBeta: "true"}
		}), theManifest(func(m *v1beta2.Manifest) { m.Spec.Manager = nil })}, false},
		{"while its component is being read, from the Manifest itself", []func(*Snapshot){notRead(v1),
			theManifest(func(m *v1beta2.Manifest) { m.Spec.Manager = nil })}, true},
		{"not while its component is being read and the source is broken", []func(*Snapshot){notRead(v1),
			theManifest(func(m *v1beta2.Manifest) { m.Spec.Install.Source.Raw = []byte(`{}`) })}, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := sampleWorld(append([]func(*Snapshot){installedAt("regular", v1), ofChannel("fast"), missing}, test.world...)...)
			got := only(t, w)
			if got.Kind != Keep || got.Version != v1 {
				t.Fatalf("verdict %s, version %s", got.Kind, got.Version)
			}
			plan := MakePlan(w, []Verdict{got})
			if len(plan.Adjust)+len(plan.Delete) > 0 || len(plan.Apply) == 1 != test.writes {
				t.Fatalf("plan %+v", plan)
			}
			if test.writes && plan.Apply[0].Spec.Version != v1 {
				t.Errorf("put back to version %s", plan.Apply[0].Spec.Version)
			}
		})
	}
}

func TestKeep_ARefusalKeepsWhatWasRolledOutBeforeTheOperatorDied(t *testing.T) {
	// The Manifest is at 2.0.0 with the source of 2.0.0, the status is still at 1.0.0, and now the channel is gone.
	w := sampleWorld(installedAt("fast", v2), ofChannel("rapid"), theEntry(func(e *v1beta2.ModuleStatus) {
		e.Channel, e.Version = "regular", v1
	}))
	got := only(t, w)
	if got.Kind != Keep || got.Version != v2 || got.Channel != "fast" {
		t.Errorf("verdict %s, channel %s, version %s", got.Kind, got.Channel, got.Version)
	}
	if plan := MakePlan(w, []Verdict{got}); !plan.Empty() {
		t.Errorf("plan %+v", plan)
	}
}

func TestKeep_WhatCannotBePutBackStaysRefused(t *testing.T) {
	// The status is at 2.0.0, the Manifest was removed by force and its template is gone. Nevertheless, no lower version is installed.
	w := sampleWorld(statusAt("fast", v2), func(w *Snapshot) { delete(w.Templates, "template-operator-2.0.0") })
	want := verdictWords{Refused, "Warning", "Downgrade", saysDowngrade, "fast", v2}
	for range 3 {
		if diff := cmp.Diff(want, wordsOf(only(t, w))); diff != "" {
			t.Fatalf("verdict (-want +got):\n%s", diff)
		}
		w.Kyma.Status = Rollup(w, Resolve(w), nil)
	}
}

func TestKeep_AReadyModuleOutlivesTheRegistry(t *testing.T) {
	for _, test := range []struct {
		name  string
		known func(*Snapshot)
		kind  Kind
	}{
		{"nothing was read yet after a restart", notRead(v1), Run},
		{"it is being read", isComponent(v1, Component{Pending: true}), Run},
		{"the registry does not answer", unreadable(v1, "RegistryUnreachable"), Run},
		{"the registry refuses the credentials", unreadable(v1, "RegistryUnauthorized"), Run},
		{"a user cleaned up the registry", unreadable(v1, "ComponentNotFound"), Run},
		{"the component turned out to be invalid", unreadable(v1, "ComponentInvalid"), Keep},
		{"it has to be signed now and is not", unreadable(v1, "SignatureMissing"), Run},
		{"the signer's certificate expired", unreadable(v1, "SignatureUntrusted"), Run},
		{"the signer's key was revoked", unreadable(v1, "SignatureRevoked"), Run},
		{"its descriptor in the registry is no longer the one that was signed", unreadable(v1, "SignatureInvalid"), Run},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := sampleWorld(installedAt("regular", v1), test.known)
			got := only(t, w)
			if plan := MakePlan(w, []Verdict{got}); got.Kind != test.kind || !plan.Empty() {
				t.Errorf("verdict %s (%s), plan %+v", got.Kind, got.Message, plan)
			}
		})
	}
	t.Run("a Manifest of another component does not stand in for it", func(t *testing.T) {
		w := sampleWorld(installedAt("regular", v1), notRead(v1), theManifest(func(m *v1beta2.Manifest) {
			m.Annotations[v1beta2.AnnotationOCMComponentName] = "kyma-project.io/module/other"
		}))
		if got := only(t, w); got.Kind != Waiting || got.Reason != "ComponentPending" {
			t.Errorf("verdict %s, %s", got.Kind, got.Reason)
		}
	})
}

func TestNeeded(t *testing.T) {
	for _, test := range []struct {
		name  string
		world []func(*Snapshot)
		want  []ComponentKey
	}{
		{"the version to install", []func(*Snapshot){func(w *Snapshot) { w.Components = nil }}, []ComponentKey{{component, v1}}},
		{"the version to install, when it is known already", nil, []ComponentKey{{component, v1}}},
		{"not a version that is refused before", []func(*Snapshot){ofChannel("rapid")}, nil},
		{"what is kept", []func(*Snapshot){installedAt("fast", v2)}, []ComponentKey{{component, v2}}},
		{"both versions in doubt", []func(*Snapshot){installedAt("fast", v2), theEntry(func(e *v1beta2.ModuleStatus) { e.Version = v1 }),
			theManifest(func(m *v1beta2.Manifest) { m.Spec.Install.Source.Raw = newComponentSource("other") })},
			[]ComponentKey{{component, v1}, {component, v2}}},
		{"both versions in doubt before either was read", []func(*Snapshot){installedAt("fast", v2), theEntry(func(e *v1beta2.ModuleStatus) {
			e.Version = v1
		}), func(w *Snapshot) { w.Components = nil }}, []ComponentKey{{component, v1}, {component, v2}}},
		{"nothing for a module that is removed", []func(*Snapshot){installedAt("fast", v2), disabled}, nil},
		{"nothing for a Kyma that is deleted", []func(*Snapshot){installedAt("fast", v2), kymaDeleted}, nil},
		{"nothing for a module that is unmanaged", []func(*Snapshot){installedAt("fast", v2), unmanaged}, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, Needed(sampleWorld(test.world...))); diff != "" {
				t.Errorf("needed (-want +got):\n%s", diff)
			}
		})
	}
}

func newComponentSource(version string) []byte { return encodeSource(newSource(version)) }
