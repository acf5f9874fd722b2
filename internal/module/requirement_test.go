package module

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/pkg/requirements"
)

// expectTold compares what a pass says of modules.
func expectTold(t *testing.T, w Snapshot, want map[string]expectation) {
	t.Helper()
	got := map[string]expectation{}
	for name := range want {
		got[name] = tells(t, w, name)
	}
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("told (-want +got):\n%s", diff)
	}
}

// expectWrites compares what a pass writes.
func expectWrites(t *testing.T, w Snapshot, applied, deleted []string) {
	t.Helper()
	gotApplied, gotDeleted := writes(w)
	if diff := cmp.Diff(applied, gotApplied); diff != "" {
		t.Errorf("applied (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(deleted, gotDeleted); diff != "" {
		t.Errorf("deleted (-want +got):\n%s", diff)
	}
}

const pending = "was written and is being applied"

func TestRequirement_AModuleStartsWhenWhatItNeedsIsReady(t *testing.T) {
	w := newGraph(publishes("a", v1), publishes("b", v1, "a >=1"), asksFor("b", "a"))
	expectWrites(t, w, []string{"a 1.0.0"}, nil)
	waits := expectation{Waiting, "Processing", "RequirementMissing", "", "version 1.0.0 needs module a (>=1), which is not ready"}
	if got := tells(t, w, "b"); got != waits {
		t.Errorf("before a exists: %+v", got)
	}
	w = onePass(w)
	expectWrites(t, w, nil, nil)
	expectTold(t, w, map[string]expectation{"b": waits})
	w = edited(w, isReady("a"))
	expectWrites(t, w, []string{"b 1.0.0"}, nil)
	w = edited(onePass(w), isBroken("a"))
	expectWrites(t, w, nil, nil) // what has begun is not taken back
	w = settle(t, w)
	expectTold(t, w, map[string]expectation{"b": {Run, "Ready", "Ready", v1, ""}})
}

func TestRequirement_WhatIsMissing(t *testing.T) {
	unmanagedA := func(w *Snapshot) { w.Kyma.Spec.Modules[0].Managed = new(bool) }
	hidden := func(w *Snapshot) { w.Templates["a-"+v1].Labels = map[string]string{v1beta2.LabelBeta: "true"} }
	unread := func(w *Snapshot) { delete(w.Components, ComponentKey{componentOfModule("a"), v1}) }
	mandatoryA := func(w *Snapshot) {
		w.Releases["a"].Spec.Mandatory, w.Releases["a"].Spec.Channels = &v1beta2.Mandatory{Version: v1}, nil
		w.Mandatory = []*v1beta2.ModuleReleaseMeta{w.Releases["a"]}
	}
	knows := func(facts ClusterFacts) func(*Snapshot) { return func(w *Snapshot) { w.Cluster = facts } }
	absent := knows(ClusterFacts{Definitions: map[string]requirements.Definition{"d.example.com": {}}, Kubernetes: "v1.30.2-gke.1"})
	for _, test := range []struct {
		name  string
		needs string
		has   []func(*Snapshot) // what was there before b
		edits []func(*Snapshot) // what is there with b
		state v1beta2.State     // empty: b is installed
		say   string
	}{
		{"a module that is ready", "a", []func(*Snapshot){asksFor("a")}, []func(*Snapshot){asksFor("a", "b")}, "", ""},
		{"a module that the Kyma does not have", "a", nil, []func(*Snapshot){asksFor("b")}, "Warning", "module a, which the Kyma does not have"},
		{"a module in another version", "a >=2", []func(*Snapshot){asksFor("a")}, []func(*Snapshot){asksFor("a", "b")}, "Warning",
			"module a (>=2), which has version 1.0.0"},
		{"a module that is upgraded now to that version", "a >=2", []func(*Snapshot){asksFor("a")},
			[]func(*Snapshot){publishes("a", v2), asksFor("a", "b")}, "Processing", "module a (>=2), which is not ready"},
		{"a module that is upgraded now from that version", "a <2", []func(*Snapshot){asksFor("a")},
			[]func(*Snapshot){publishes("a", v2), asksFor("a", "b")}, "Warning", "module a (<2), which has version 2.0.0"},
		{"a module that is upgraded now, whatever version", "a", []func(*Snapshot){asksFor("a")},
			[]func(*Snapshot){publishes("a", v2), asksFor("a", "b")}, "Processing", "module a, which is not ready"},
		{"a module that is not ready", "a", []func(*Snapshot){asksFor("a")}, []func(*Snapshot){isBroken("a"), asksFor("a", "b")}, "Processing",
			"module a, which is not ready"},
		{"a module that is refused", "a", nil, []func(*Snapshot){asksFor("a", "b"), hidden}, "Processing", "module a, which is not installed yet"},
		{"a module that is being read", "a", nil, []func(*Snapshot){asksFor("a", "b"), unread}, "Processing", "module a, which is not installed yet"},
		{"a module that is not managed counts with its version", "a <2", []func(*Snapshot){asksFor("a")},
			[]func(*Snapshot){asksFor("a", "b"), unmanagedA}, "", ""},
		{"a module that is not managed and has another version", "a >=2", []func(*Snapshot){asksFor("a")},
			[]func(*Snapshot){asksFor("a", "b"), unmanagedA}, "Warning", "module a (>=2), which has version 1.0.0"},
		{"a module that never was managed", "a", nil, []func(*Snapshot){asksFor("a", "b"), unmanagedA}, "Warning",
			"module a, whose version is not known: it is not managed"},
		{"a mandatory module", "a", []func(*Snapshot){mandatoryA}, []func(*Snapshot){asksFor("b")}, "", ""},
		{"a mandatory module that comes", "a", nil, []func(*Snapshot){mandatoryA, asksFor("b")}, "Processing", "module a, which is not ready"},

		{"a definition that was not looked for", "d.example.com", nil, []func(*Snapshot){asksFor("b")}, "Processing",
			"definition d.example.com, which was not looked for yet"},
		{"a definition of a runtime that cannot be reached", "d.example.com", nil,
			[]func(*Snapshot){asksFor("b"), knows(ClusterFacts{Problem: "the runtime does not answer"})}, "Processing",
			"definition d.example.com, which was not looked for yet: the runtime does not answer"},
		{"a definition that is absent", "d.example.com", nil, []func(*Snapshot){asksFor("b"), absent}, "Warning",
			"definition d.example.com, which the cluster does not have"},
		{"a definition that a module may bring", "d.example.com", nil, []func(*Snapshot){asksFor("a", "b"), absent}, "Processing",
			"definition d.example.com, which the cluster does not have"},
		{"a definition that no module brought", "d.example.com", []func(*Snapshot){asksFor("a")}, []func(*Snapshot){asksFor("a", "b"), absent},
			"Warning", "definition d.example.com, which the cluster does not have"},
		{"a definition that is there", "d.example.com v1", nil, []func(*Snapshot){asksFor("b"), knows(ClusterFacts{
			Definitions: map[string]requirements.Definition{"d.example.com": {Present: true, Served: []string{"v1"}}}})}, "", ""},
		{"Kubernetes that is too old", "kubernetes >=1.31", nil, []func(*Snapshot){asksFor("b"), absent}, "Warning",
			"Kubernetes >=1.31, and the cluster has v1.30.2-gke.1"},
		{"Kubernetes that is new enough", "kubernetes >=1.30", nil, []func(*Snapshot){asksFor("b"), absent}, "", ""},
		{"Kubernetes that is not known", "kubernetes >=1.31", nil, []func(*Snapshot){asksFor("b")}, "Processing",
			"Kubernetes >=1.31, and the version of the cluster is not known yet"},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := settle(t, newGraph(append([]func(*Snapshot){publishes("a", v1), publishes("b", v1, test.needs)}, test.has...)...))
			w = edited(w, test.edits...)
			want := expectation{Waiting, test.state, "RequirementMissing", "", "version 1.0.0 needs " + test.say}
			if test.state == "" {
				want = tells(t, w, "b")
				if want.Kind != Run || !strings.Contains(want.Message, pending) {
					t.Errorf("b is not installed: %+v", want)
				}
			}
			expectTold(t, w, map[string]expectation{"b": want})
		})
	}
}

func TestRequirement_AnUpgradeThatWaitsLeavesWhatRuns(t *testing.T) {
	w := settle(t, newGraph(publishes("b", v1), asksFor("b")))
	w = edited(w, publishes("b", v2, "a", "d.example.com", "e.example.com", "kubernetes >=1.31"))
	say := "version 2.0.0 needs module a, which the Kyma does not have; definition d.example.com, which was not looked for yet; " +
		"definition e.example.com, which was not looked for yet; and 1 more"
	expectTold(t, w, map[string]expectation{"b": {Waiting, "Ready", "RequirementMissing", v1, say}})
	expectWrites(t, w, nil, nil)
	if status := onePass(w).Kyma.Status; status.State != "Ready" || readyReasonOf(&status) != "RequirementMissing" {
		t.Errorf("the Kyma is %s, %s", status.State, readyReasonOf(&status))
	}
	restored := edited(w, func(w *Snapshot) { w.Manifests = nil })
	expectWrites(t, restored, []string{"b 1.0.0"}, nil)
}

func TestRequirement_ALookThatIsOverInAMomentIsNotTold(t *testing.T) {
	w := settle(t, newGraph(publishes("b", v1), asksFor("b")))
	w = edited(w, publishes("b", v2, "d.example.com", "kubernetes >=1.31"))
	before := w.Kyma.Status
	if diff := cmp.Diff(before, Rollup(w, Resolve(w), nil)); diff != "" {
		t.Errorf("the status is written (-before +after):\n%s", diff)
	}
}

func TestRequirement_WhatRunsMissesIsNoted(t *testing.T) {
	for _, test := range []struct {
		name  string
		edits []func(*Snapshot)
		say   string
	}{
		{"nothing", nil, ""},
		{"what it needs is not ready", []func(*Snapshot){isBroken("a")}, ""},
		{"what it needs is not allowed any more", []func(*Snapshot){func(w *Snapshot) {
			w.Templates["a-"+v1].Labels = map[string]string{v1beta2.LabelBeta: "true"}
		}}, "it needs module a (<2), which is not ready: it is being removed"},
		{"what it needs is gone", []func(*Snapshot){func(w *Snapshot) {
			w.Manifests = slices.DeleteFunc(w.Manifests, func(m v1beta2.Manifest) bool { return m.Labels[v1beta2.LabelModuleName] == "a" })
			w.Kyma.Status.Modules = w.Kyma.Status.Modules[1:]
		}, asksFor("b")}, "it needs module a (<2), which the Kyma does not have"},
		{"a definition is no reason to write", []func(*Snapshot){publishes("b", v1, "a <2", "d.example.com")}, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := settle(t, newGraph(publishes("a", v1), publishes("b", v1, "a <2"), asksFor("a", "b")))
			w = edited(w, test.edits...)
			got := tells(t, w, "b")
			if got.State != "Ready" && !strings.Contains(got.Message, pending) || got.Kind != Run {
				t.Errorf("b does not run: %+v", got)
			}
			if got.State == "Ready" && got.Message != test.say {
				t.Errorf("message %q, want %q", got.Message, test.say)
			}
		})
	}
}

func readyReasonOf(status *v1beta2.KymaStatus) string {
	for _, one := range status.Conditions {
		if one.Type == v1beta2.ConditionReady {
			return one.Reason
		}
	}
	return ""
}

func TestRequirement_ThreePlacesMeanTheSame(t *testing.T) {
	w := newGraph(publishes("b", v1, "a"), asksFor("b"), func(w *Snapshot) {
		w.Templates["b-"+v1].Annotations = map[string]string{v1beta2.AnnotationRequires: `[{"module":"a"},{"module":"c"}]`}
		key := ComponentKey{componentOfModule("b"), v1}
		known := w.Components[key]
		known.Requires = needing("c", "kubernetes >=1.31")
		w.Components[key] = known
	})
	say := "version 1.0.0 needs module a, which the Kyma does not have; module c, which the Kyma does not have; " +
		"Kubernetes >=1.31, and the version of the cluster is not known yet"
	expectTold(t, w, map[string]expectation{"b": {Waiting, "Warning", "RequirementMissing", "", say}})
	w = edited(w, publishes("a", v1), publishes("c", v1), asksFor("a", "b", "c"), func(w *Snapshot) { w.Cluster.Kubernetes = "v1.31.0" })
	w = settle(t, w)
	at := slices.IndexFunc(w.Manifests, func(m v1beta2.Manifest) bool { return m.Labels[v1beta2.LabelModuleName] == "b" })
	want := `[{"module":"a"},{"module":"c"},{"kubernetes":">=1.31"}]`
	if got := w.Manifests[at].Annotations[v1beta2.AnnotationRequires]; got != want {
		t.Errorf("the Manifest notes %s, want %s", got, want)
	}
	// What a Manifest notes counts where neither template nor component can be read.
	w = edited(w, asksFor("b", "c"), func(w *Snapshot) {
		delete(w.Templates, "b-"+v1)
		delete(w.Components, ComponentKey{componentOfModule("b"), v1})
	})
	expectTold(t, w, map[string]expectation{"a": {Keep, "Warning", "StillRequired", v1, "the module is not removed: module b needs it"}})
}

func TestRequirement_WhatCannotBeReadIsRefused(t *testing.T) {
	broken := func(w *Snapshot) {
		w.Templates["b-"+v2].Annotations = map[string]string{v1beta2.AnnotationRequires: `[{"modul":"a"}]`}
	}
	say := `what ModuleTemplate "b-2.0.0" requires cannot be read: annotation operator.kyma-project.io/requires: ` +
		`the requirements cannot be read: unknown field "[0].modul"`
	w := newGraph(publishes("b", v2), broken, asksFor("b"))
	expectTold(t, w, map[string]expectation{"b": {Refused, "Error", "TemplateInvalid", "", say}})
	w = edited(settle(t, newGraph(publishes("b", v1), asksFor("b"))), publishes("b", v2), broken)
	expectTold(t, w, map[string]expectation{"b": {Keep, "Error", "TemplateInvalid", v1, say}})
	w = edited(settle(t, newGraph(publishes("b", v1), asksFor("b"))), publishes("b", v2, "a newer"))
	say = `what ModuleTemplate "b-2.0.0" requires cannot be read: entry 1: version "newer" is no range of versions, such as ">=1.20 <2"`
	expectTold(t, w, map[string]expectation{"b": {Keep, "Error", "TemplateInvalid", v1, say}})
	w = edited(settle(t, newGraph(publishes("b", v2), asksFor("b"))), broken)
	expectTold(t, w, map[string]expectation{"b": {Run, "Ready", "Ready", v2, ""}}) // it runs; nothing is installed by what cannot be read
}

func TestNeededFacts_OnlyOfVersionsThatAreNotInstalled(t *testing.T) {
	needs := []string{"d.example.com", "e.example.com v1", "d.example.com v2", "kubernetes >=1.31", "a"}
	w := newGraph(publishes("b", v1, needs...), asksFor("b"))
	want := ClusterNeeds{Definitions: []string{"d.example.com", "e.example.com"}, Kubernetes: true}
	if diff := cmp.Diff(want, NeededFacts(w)); diff != "" {
		t.Errorf("needed (-want +got):\n%s", diff)
	}
	many := make([]string, 2*maxDefinitions)
	for i := range many {
		many[i] = fmt.Sprintf("d%d.example.com", i)
	}
	got := NeededFacts(newGraph(publishes("b", v1, many[:maxDefinitions]...), asksFor("b")))
	if len(got.Definitions) != maxDefinitions || got.Problem != "" {
		t.Errorf("as many as are looked at: %d, %q", len(got.Definitions), got.Problem)
	}
	got = NeededFacts(newGraph(publishes("a", v1, many[maxDefinitions:]...), publishes("b", v1, many[:maxDefinitions]...), asksFor("a", "b")))
	if len(got.Definitions) != maxDefinitions || got.Problem != "more than 64 definitions are awaited" {
		t.Errorf("more than are looked at: %d, %q", len(got.Definitions), got.Problem)
	}
	w = edited(settle(t, newGraph(publishes("b", v1), asksFor("b"))), publishes("b", v1, needs...))
	if got := NeededFacts(w); !got.None() {
		t.Errorf("needed at rest: %+v", got)
	}
	if got := NeededFacts(newGraph(publishes("b", v1), asksFor("b"))); !got.None() {
		t.Errorf("needed without requirements: %+v", got)
	}
}

func TestHeldByRequirement_AsTheStatusTellsIt(t *testing.T) {
	broken := func(w *Snapshot) {
		w.Templates["b-"+v2].Annotations = map[string]string{v1beta2.AnnotationRequires: "x"}
	}
	mandatory := func(w *Snapshot) {
		w.Releases["b"].Spec.Mandatory, w.Releases["b"].Spec.Channels = &v1beta2.Mandatory{Version: v2}, nil
		w.Mandatory = []*v1beta2.ModuleReleaseMeta{w.Releases["b"]}
		w.Kyma.Spec.Modules = w.Kyma.Spec.Modules[:1]
	}
	// Others stand beside it, which are worse.
	crowd := func(w *Snapshot) {
		for _, name := range []string{"c", "d", "e", "f"} {
			decreed(name, v1)(w)
			delete(w.Templates, name+"-"+v1)
		}
	}
	downtime := func(w *Snapshot) {
		w.Templates["b-"+v2].Spec.RequiresDowntime = true
	}
	for _, test := range []struct {
		name  string
		edits []func(*Snapshot)
		want  bool
	}{
		{"nothing is missing", nil, false},
		{"something is missing", []func(*Snapshot){publishes("b", v2, "x")}, true},
		{"something is missing, and what runs is broken", []func(*Snapshot){publishes("b", v2, "x"), isBroken("b")}, true},
		{"what it needs comes", []func(*Snapshot){publishes("b", v2, "a >=2"), publishes("a", v2)}, true},
		{"a circle", []func(*Snapshot){publishes("b", v2, "b")}, true},
		{"another module would break", []func(*Snapshot){publishes("b", v2), publishes("a", v1, "b <2"), noted1}, true},
		{"what cannot be read", []func(*Snapshot){publishes("b", v2), broken}, true},
		{"another obstacle", []func(*Snapshot){publishes("b", v2), func(w *Snapshot) { clear(w.Components) }}, false},
		{"a mandatory module", []func(*Snapshot){publishes("b", v2, "x"), mandatory}, true},
		{"a mandatory module that is broken as well", []func(*Snapshot){publishes("b", v2, "x"), mandatory, isBroken("b")}, true},
		{"the last of many mandatory modules", []func(*Snapshot){publishes("b", v2, "x"), mandatory, crowd}, true},
		{"a maintenance window is unknown", []func(*Snapshot){publishes("b", v2), downtime}, false},
		{"a maintenance window is closed", []func(*Snapshot){publishes("b", v2), downtime, closedUntilNight}, false},
		{"its rollout is not known", []func(*Snapshot){publishes("b", v2), func(w *Snapshot) {
			metav1.SetMetaDataAnnotation(&w.Releases["b"].ObjectMeta, v1beta2.AnnotationRollout, "x")
		}}, false},
		{"a mandatory module that gets it", []func(*Snapshot){publishes("b", v2, "a"), mandatory}, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := settle(t, newGraph(publishes("a", v1), publishes("b", v1), asksFor("a", "b")))
			w = onePass(edited(w, test.edits...))
			var entry *v1beta2.ModuleStatus
			if known := statusByName(w.Kyma)["b"]; len(w.Mandatory) == 0 {
				entry = known
			}
			if got := HeldByRequirement(w.Kyma, entry, "b", v2); got != test.want {
				t.Errorf("held: %v\n%+v\n%+v", got, entry, w.Kyma.Status.Conditions)
			}
			if HeldByRequirement(w.Kyma, entry, "b", "3.0.0") {
				t.Error("another version is held")
			}
		})
	}
}

// noted1 notes what a requires, as a pass before the last edit would have.
func noted1(w *Snapshot) {
	manifestOf(w, "a").Annotations[v1beta2.AnnotationRequires] = `[{"module":"b","version":"<2"}]`
}
