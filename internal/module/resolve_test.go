package module

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

// verdictWords are the fields of a verdict that users see.
type verdictWords struct {
	Kind             Kind
	State            v1beta2.State
	Reason, Message  string
	Channel, Version string
}

func wordsOf(v Verdict) verdictWords {
	return verdictWords{v.Kind, v.State, v.Reason, v.Message, v.Channel, v.Version}
}

// only returns the verdict about the sample module, which must be the only one.
func only(t *testing.T, w Snapshot) Verdict {
	t.Helper()
	verdicts := Resolve(w)
	if len(verdicts) != 1 {
		t.Fatalf("%d verdicts, want 1: %+v", len(verdicts), verdicts)
	}
	return verdicts[0]
}

const (
	saysMissing   = `failed to get module template: ModuleTemplate.operator.kyma-project.io "template-operator-1.0.0" not found`
	saysDowngrade = `module template update not allowed: ignore channel skew (from fast to regular), ` +
		`as a higher version (2.0.0) of the module was previously installed`
)

// refusals are all rules that refuse, each with a Snapshot of one module where nothing is installed, in the order of the rules.
var refusals = []struct {
	name   string
	world  []func(*Snapshot)
	state  v1beta2.State
	reason string
	say    string
}{
	{"channel and version are both set", []func(*Snapshot){ofChannel("fast"), pinned(v1)}, "Error", "ChannelAndVersion",
		`channel and version are both set, to "fast" and "1.0.0"`},
	{"the module's channel is none", []func(*Snapshot){ofChannel("none")}, "Error", "ChannelInvalid", `channel "none" is not allowed`},
	{"the Kyma's channel is none", []func(*Snapshot){func(w *Snapshot) { w.Kyma.Spec.Channel = "none" }}, "Error", "ChannelInvalid",
		`channel "none" is not allowed`},
	{"there is no release", []func(*Snapshot){func(w *Snapshot) { delete(w.Releases, operator) }}, "Warning", "ReleaseNotFound",
		`no ModuleReleaseMeta found for module "template-operator" in namespace "kcp-system"`},
	{"the release is mandatory", []func(*Snapshot){theRelease(func(r *v1beta2.ModuleReleaseMeta) {
		r.Spec.Channels, r.Spec.Mandatory = nil, &v1beta2.Mandatory{Version: v1}
	})}, "Warning", "ModuleMandatory", `no templates were found: module "template-operator" is mandatory and cannot be enabled`},
	{"the release names no component", []func(*Snapshot){theRelease(func(r *v1beta2.ModuleReleaseMeta) { r.Spec.OCMComponentName = "" })},
		"Error", "ComponentNameMissing", `ModuleReleaseMeta "template-operator" has no ocmComponentName`},
	{"the channel is not offered", []func(*Snapshot){ofChannel("rapid")}, "Error", "ChannelNotFound",
		`no version found for channel "rapid" in ModuleReleaseMeta "template-operator"`},
	{"the channel has no version", []func(*Snapshot){theRelease(func(r *v1beta2.ModuleReleaseMeta) { r.Spec.Channels[0].Version = "" })},
		"Error", "ChannelNotFound", `no version found for channel "regular" in ModuleReleaseMeta "template-operator"`},
	{"the template is missing", []func(*Snapshot){func(w *Snapshot) { delete(w.Templates, "template-operator-1.0.0") }},
		"Error", "TemplateNotFound", saysMissing},
	{"the template of a pinned version is missing", []func(*Snapshot){pinned("3.0.0")}, "Error", "TemplateNotFound",
		strings.ReplaceAll(saysMissing, v1, "3.0.0")},
	{"the template is for another module", []func(*Snapshot){theTemplate(v1, func(m *v1beta2.ModuleTemplate) { m.Spec.ModuleName = "other" })},
		"Error", "TemplateInvalid", `ModuleTemplate "template-operator-1.0.0" is for another module or version: ` +
			`it has moduleName "other" and version "1.0.0"`},
	{"the template is for another version", []func(*Snapshot){theTemplate(v1, func(m *v1beta2.ModuleTemplate) { m.Spec.Version = "1.0.1" })},
		"Error", "TemplateInvalid", `ModuleTemplate "template-operator-1.0.0" is for another module or version: ` +
			`it has moduleName "template-operator" and version "1.0.1"`},
	{"the template is mandatory", []func(*Snapshot){theTemplate(v1, func(m *v1beta2.ModuleTemplate) { m.Spec.Mandatory = true })},
		"Warning", "ModuleMandatory", `no templates were found: module "template-operator" is mandatory and cannot be enabled`},
	{"the release selects Kymas and the operator does not list the module", []func(*Snapshot){selecting("region", "eu")},
		"Error", "ModuleRestricted", `module template not allowed: module has kymaSelector but is not in restricted modules list`},
	{"the operator lists the module and the release has no selector", []func(*Snapshot){restricted}, "Error", "ModuleRestricted",
		`module template not allowed: module is in restricted modules list but has no kymaSelector`},
	{"the release's selector is empty", []func(*Snapshot){restricted, theRelease(func(r *v1beta2.ModuleReleaseMeta) {
		r.Spec.KymaSelector = &metav1.LabelSelector{}
	})}, "Error", "ModuleRestricted", saysUseless},
	{"the release's selector is invalid", []func(*Snapshot){restricted, theRelease(func(r *v1beta2.ModuleReleaseMeta) {
		r.Spec.KymaSelector = &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "a", Operator: "Like"}}}
	})}, "Error", "ModuleRestricted", saysUseless},
	{"the registry does not have the component", []func(*Snapshot){unreadable(v1, "ComponentNotFound")}, "Error", "ComponentNotFound",
		`component ` + component + `:1.0.0 was not found: the registry says so`},
	{"the component cannot be read", []func(*Snapshot){unreadable(v1, "ComponentInvalid")}, "Error", "ComponentInvalid",
		`component ` + component + `:1.0.0 cannot be installed: the registry says so`},
	{"the component has nothing to install", []func(*Snapshot){isComponent(v1, Component{})}, "Error", "ComponentInvalid",
		`component ` + component + `:1.0.0 cannot be installed: it has nothing to install: no resource raw-manifest, no chart and no resource with a renderer`},
	{"the registry does not answer", []func(*Snapshot){unreadable(v1, "RegistryUnreachable")}, "Error", "RegistryUnreachable",
		`the registry of component ` + component + `:1.0.0 does not answer: the registry says so`},
	{"the registry refuses the credentials", []func(*Snapshot){unreadable(v1, "RegistryUnauthorized")}, "Error", "RegistryUnauthorized",
		`the registry of component ` + component + `:1.0.0 refuses the credentials: the registry says so`},
	{"the component is not signed", []func(*Snapshot){unreadable(v1, "SignatureMissing")}, "Error", "SignatureMissing",
		`component ` + component + `:1.0.0 must be signed and is not: the registry says so`},
	{"the component was changed after it was signed", []func(*Snapshot){unreadable(v1, "SignatureInvalid")}, "Error", "SignatureInvalid",
		`the signature does not match component ` + component + `:1.0.0: the registry says so`},
	{"the message names the component once", []func(*Snapshot){isComponent(v1, Component{
		Reason: "SignatureMissing", Message: "component " + component + ":1.0.0 has no signature named kyma-module-signature",
	})}, "Error", "SignatureMissing", `component ` + component + `:1.0.0 must be signed and is not: it has no signature named kyma-module-signature`},
	{"the component was signed by another user", []func(*Snapshot){unreadable(v1, "SignatureUntrusted")}, "Error", "SignatureUntrusted",
		`the signature of component ` + component + `:1.0.0 is not by a trusted signer: the registry says so`},
	{"reading the component fails with an unknown reason", []func(*Snapshot){unreadable(v1, "Nonsense")}, "Error", "Internal",
		`an unexpected error occurred: the registry says so`},
}

const saysUseless = `module template not allowed: restricted module not allowed for this Kyma: the kymaSelector of the ModuleReleaseMeta is empty or invalid`

// noLongerAllowed reports whether a verdict removes a module that the Kyma may no longer have.
func noLongerAllowed(v *Verdict) bool {
	return v.Reason == v1beta2.ReasonNotAllowed || v.Reason == v1beta2.ReasonModuleRestricted && v.Message == ruleNotSelected.message()
}

func TestResolve_ARestrictedModuleIsTakenFromKymasThatAreNotSelected(t *testing.T) {
	for _, have := range []struct {
		name  string
		world []func(*Snapshot)
		kind  Kind
	}{
		{"nothing is installed", nil, Refused},
		{"it is installed", []func(*Snapshot){installedAt("regular", "0.9.0")}, Removed},
	} {
		t.Run(have.name, func(t *testing.T) {
			w := sampleWorld(append(have.world, restricted, selecting("region", "eu"), labelled("region", "us"))...)
			got := only(t, w)
			if got.Kind != have.kind || got.State != v1beta2.StateError || !noLongerAllowed(&got) {
				t.Errorf("verdict %+v", wordsOf(got))
			}
			if n := len(MakePlan(w, []Verdict{got}).Delete); (n == 1) != (have.kind == Removed) {
				t.Errorf("%d Manifests are deleted", n)
			}
		})
	}
}

func restricted(w *Snapshot) { w.Restricted = []string{operator} }

func selecting(key, value string) func(*Snapshot) {
	return theRelease(func(r *v1beta2.ModuleReleaseMeta) {
		r.Spec.KymaSelector = &metav1.LabelSelector{MatchLabels: map[string]string{key: value}}
	})
}

func labelled(key, value string) func(*Snapshot) {
	return func(w *Snapshot) { w.Kyma.Labels = map[string]string{key: value} }
}

func TestRefusalsWithNothingInstalled(t *testing.T) {
	for _, test := range refusals {
		t.Run(test.name, func(t *testing.T) {
			w := sampleWorld(test.world...)
			got := only(t, w)
			if diff := cmp.Diff(verdictWords{Kind: Refused, State: test.state, Reason: test.reason, Message: test.say}, wordsOf(got)); diff != "" {
				t.Errorf("verdict (-want +got):\n%s", diff)
			}
			if plan := MakePlan(w, []Verdict{got}); !plan.Empty() {
				t.Errorf("a refusal writes: %+v", plan)
			}
		})
	}
}

func TestRefusalsKeepWhatRuns(t *testing.T) {
	for _, test := range refusals {
		t.Run(test.name, func(t *testing.T) {
			w := sampleWorld(append([]func(*Snapshot){installedAt("regular", "0.9.0")}, test.world...)...)
			got := only(t, w)
			want := verdictWords{Keep, test.state, test.reason, test.say, "regular", "0.9.0"}
			if diff := cmp.Diff(want, wordsOf(got)); diff != "" {
				t.Errorf("verdict (-want +got):\n%s", diff)
			}
			if plan := MakePlan(w, []Verdict{got}); !plan.Empty() {
				t.Errorf("a refusal writes: %+v", plan)
			}
		})
	}
}

func TestRun(t *testing.T) {
	for _, test := range []struct {
		name             string
		world            []func(*Snapshot)
		channel, version string
	}{
		{"the Kyma's channel", nil, "regular", v1},
		{"the default channel where neither sets one", []func(*Snapshot){func(w *Snapshot) { w.Kyma.Spec.Channel = "" }}, "regular", v1},
		{"the module's own channel", []func(*Snapshot){ofChannel("fast")}, "fast", v2},
		{"a pinned version", []func(*Snapshot){pinned(v2)}, "", v2},
		{"a pinned version under a Kyma whose channel is none",
			[]func(*Snapshot){pinned(v2), func(w *Snapshot) { w.Kyma.Spec.Channel = "none" }}, "", v2},
		{"a template that names neither module nor version", []func(*Snapshot){theTemplate(v1, func(m *v1beta2.ModuleTemplate) {
			m.Spec.ModuleName, m.Spec.Version = "", ""
		})}, "regular", v1},
		{"an upgrade", []func(*Snapshot){ofChannel("fast"), installedAt("regular", v1)}, "fast", v2},
		{"the same version by another channel", []func(*Snapshot){ofChannel("fast"), installedAt("regular", v2)}, "fast", v2},
		{"a restricted module for a Kyma that is selected", []func(*Snapshot){restricted, selecting("region", "eu"), labelled("region", "eu")},
			"regular", v1},
		{"explicitly managed", []func(*Snapshot){theModule(func(m *v1beta2.Module) { yes := true; m.Managed = &yes })}, "regular", v1},
		{"the status entry of an installation that is gone does not count", []func(*Snapshot){statusAt("fast", v2),
			theEntry(func(e *v1beta2.ModuleStatus) { e.State = v1beta2.StateDeleting })}, "regular", v1},
		{"invalid versions are not compared", []func(*Snapshot){installedAt("regular", v1),
			theEntry(func(e *v1beta2.ModuleStatus) { e.Version = "latest" })}, "regular", v1},
		{"pre-releases are not compared", []func(*Snapshot){installedAt("regular", "1.0.0-rc")}, "regular", v1},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := only(t, sampleWorld(test.world...))
			if diff := cmp.Diff(verdictWords{Kind: Run, Channel: test.channel, Version: test.version}, wordsOf(got)); diff != "" {
				t.Fatalf("verdict (-want +got):\n%s", diff)
			}
			if got.Template == nil || got.Template.Name != operator+"-"+test.version || got.ComponentName != component {
				t.Errorf("template %v, component %q", got.Template, got.ComponentName)
			}
			if diff := cmp.Diff(newComponent(test.version), Component{Source: got.Source, LocalizedImages: got.LocalizedImages}); diff != "" {
				t.Errorf("content (-want +got):\n%s", diff)
			}
		})
	}
}

// TestVisibility checks upstream's matrix of labels on Kyma and template.
func TestVisibility(t *testing.T) {
	const shows, beta, internal = "", "module template not allowed: beta module", "module template not allowed: internal module"
	for _, test := range []struct {
		kyma, template string // labels, one letter each: b, i; capitals for a value in capitals
		want           string
	}{
		{"", "", shows}, {"b", "", shows}, {"i", "", shows}, {"bi", "", shows},
		{"", "b", beta}, {"b", "b", shows}, {"i", "b", beta}, {"bi", "b", shows},
		{"", "i", internal}, {"b", "i", internal}, {"i", "i", shows}, {"bi", "i", shows},
		{"", "bi", internal}, {"b", "bi", internal}, {"i", "bi", beta}, {"bi", "bi", shows},
		{"B", "b", shows}, {"b", "B", shows}, {"", "B", beta}, {"", "I", internal}, {"I", "i", shows},
	} {
		t.Run("Kyma "+test.kyma+", template "+test.template, func(t *testing.T) {
			labels := func(letters string) map[string]string {
				set := map[string]string{"b": v1beta2.LabelBeta, "i": v1beta2.LabelInternal, "B": v1beta2.LabelBeta, "I": v1beta2.LabelInternal}
				labels := map[string]string{}
				for letter := range strings.SplitSeq(letters, "") {
					labels[set[letter]] = map[bool]string{true: "TRUE", false: "true"}[letter == strings.ToUpper(letter)]
				}
				return labels
			}
			label := func(w *Snapshot) {
				w.Kyma.Labels = labels(test.kyma)
				w.Templates["template-operator-1.0.0"].Labels = labels(test.template)
			}
			fresh, upgraded := only(t, sampleWorld(label)), only(t, sampleWorld(label, installedAt("regular", v1)))
			if fresh.Message != test.want || upgraded.Message != test.want {
				t.Fatalf("messages %q and %q, want %q", fresh.Message, upgraded.Message, test.want)
			}
			kinds := [2]Kind{Run, Run}
			if test.want != shows {
				kinds = [2]Kind{Refused, Removed}
			}
			if got := [2]Kind{fresh.Kind, upgraded.Kind}; got != kinds {
				t.Errorf("kinds %v, want %v", got, kinds)
			}
		})
	}
}

func TestModulesByNamespaceOrComponentNameAreNotFound(t *testing.T) {
	for _, name := range []string{"kcp-system/template-operator", component} {
		if got := only(t, newWorld(newKyma(module(name)))); got.Reason != "ReleaseNotFound" || got.Kind != Refused {
			t.Errorf("%s: %s, %s", name, got.Kind, got.Reason)
		}
	}
}

func TestResolve_OneVerdictForEveryModuleOfSpecStatusAndManifests(t *testing.T) {
	w := newWorld(newKyma(module("zeta"), module(operator)), installedAt("regular", v1))
	w.Kyma.Status.Modules = append(w.Kyma.Status.Modules, v1beta2.ModuleStatus{Name: "gone"})
	left := manifestAt(&w, "regular", v1)
	left.Name, left.Labels[v1beta2.LabelModuleName] = "left-over", "left"
	w.Manifests = append(w.Manifests, *left)
	var got []string
	for _, v := range Resolve(w) {
		got = append(got, v.Module+" "+string(v.Kind))
		want := Origin{v.Module == operator || v.Module == "zeta", v.Module == operator || v.Module == "gone", v.Manifest != nil, false}
		if v.Origin != want {
			t.Errorf("%s: origin %+v, want %+v", v.Module, v.Origin, want)
		}
	}
	if diff := cmp.Diff([]string{"gone Removed", "left Removed", "template-operator Run", "zeta Refused"}, got); diff != "" {
		t.Errorf("verdicts (-want +got):\n%s", diff)
	}
}
