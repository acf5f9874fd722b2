package module

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

func rawJSON(text string) *runtime.RawExtension { return &runtime.RawExtension{Raw: []byte(text)} }

var (
	inSecret = v1beta2.ValuesReference{Kind: v1beta2.ValuesSecret, Name: "login", Key: v1beta2.DefaultValuesKey}
	inMap    = v1beta2.ValuesReference{Kind: v1beta2.ValuesConfigMap, Name: "sizes", Key: "small"}
)

// bigValues returns values of about that many bytes.
func bigValues(bytes int) *runtime.RawExtension {
	return rawJSON(`{"a":"` + strings.Repeat("x", bytes) + `"}`)
}

func TestResolve_ValuesOfAnEntry(t *testing.T) {
	had := &v1beta2.EntryValues{From: []v1beta2.HashedValues{{ValuesReference: inSecret, Hash: "old"}}, Inline: `{"a":1}`}
	for name, tc := range map[string]struct {
		entry  v1beta2.Module
		values map[v1beta2.ValuesReference]ReferredValues
		had    *v1beta2.EntryValues
		want   *v1beta2.EntryValues
		// reason and detail are those of a refusal.
		reason, detail string
	}{
		"an entry without values has none": {},
		"inline values are spelled in one way": {
			entry: v1beta2.Module{Values: rawJSON(` {"b": [], "a": {"d": 1.50, "c": "x"}} `)},
			want:  &v1beta2.EntryValues{Inline: `{"a":{"c":"x","d":1.5},"b":[]}`},
		},
		"no fields are no values": {entry: v1beta2.Module{Values: rawJSON(`{}`)}},
		"null is no values":       {entry: v1beta2.Module{Values: rawJSON(`null`)}},
		"values of objects come with their hashes, in their order": {
			entry:  v1beta2.Module{ValuesFrom: []v1beta2.ValuesReference{inMap, {Kind: v1beta2.ValuesSecret, Name: "login"}}},
			values: map[v1beta2.ValuesReference]ReferredValues{inSecret: {Hash: "s"}, inMap: {Hash: "m"}},
			want:   &v1beta2.EntryValues{From: []v1beta2.HashedValues{{ValuesReference: inMap, Hash: "m"}, {ValuesReference: inSecret, Hash: "s"}}},
		},
		"values that are taken away are gone": {had: had},
		"an object that is missing is told, and what is installed keeps its values": {
			entry:  v1beta2.Module{ValuesFrom: []v1beta2.ValuesReference{inSecret}, Values: rawJSON(`{"a":2}`)},
			values: map[v1beta2.ValuesReference]ReferredValues{inSecret: {Problem: "Secret login: there is none"}},
			had:    had, want: had, reason: v1beta2.ReasonValuesNotFound, detail: "Secret login: there is none",
		},
		"an object that was not read is what the Manifest knows of it": {
			entry: v1beta2.Module{ValuesFrom: []v1beta2.ValuesReference{inSecret}, Values: rawJSON(`{"a":2}`)},
			had:   had, want: &v1beta2.EntryValues{From: had.From, Inline: `{"a":2}`},
		},
		"an object that was not read and is not known is missing": {
			entry: v1beta2.Module{ValuesFrom: []v1beta2.ValuesReference{inMap}}, had: had, want: had,
			reason: v1beta2.ReasonValuesNotFound, detail: "sizes was not read",
		},
		"a null is told, since it would not stay": {
			entry: v1beta2.Module{Values: rawJSON(`{"b":null,"a":[{"c":{"d":null}}]}`)}, had: had, want: had,
			reason: v1beta2.ReasonValuesInvalid, detail: `"values.a[0].c.d" is null`,
		},
		"values that are no object are told": {
			entry: v1beta2.Module{Values: rawJSON(`[1]`)}, had: had, want: had, reason: v1beta2.ReasonValuesInvalid, detail: "they are no object",
		},
		"values that are too large are told, and what is installed keeps its values": {
			entry: v1beta2.Module{Values: bigValues(v1beta2.MaxEntryValues)}, had: had, want: had,
			reason: v1beta2.ReasonValuesInvalid, detail: fmt.Sprintf("at most %d", v1beta2.MaxEntryValues),
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := sampleWorld(installedAt("regular", v1))
			w = carryOut(w, MakePlan(w, Resolve(w)))
			w.Manifests[0].Spec.KymaValues = tc.had
			entry := &w.Kyma.Spec.Modules[0]
			entry.Values, entry.ValuesFrom, w.Values = tc.entry.Values, tc.entry.ValuesFrom, tc.values
			verdict := Resolve(w)[0]
			if verdict.Template == nil || verdict.Reason != tc.reason || !strings.Contains(verdict.Message, tc.detail) {
				t.Fatalf("verdict %s %s %q with template %v", verdict.Kind, verdict.Reason, verdict.Message, verdict.Template != nil)
			}
			if diff := cmp.Diff(tc.want, wanted(w.Kyma, &verdict).Spec.KymaValues); diff != "" {
				t.Errorf("values of the Manifest (-want +got):\n%s", diff)
			}
		})
	}
}

func TestResolve_WithoutItsValuesNothingIsInstalled(t *testing.T) {
	w := sampleWorld(installedAt("regular", v1))
	w.Manifests = nil
	w.Kyma.Status.Modules = nil
	w.Kyma.Spec.Modules[0].ValuesFrom = []v1beta2.ValuesReference{inSecret}
	verdict := Resolve(w)[0]
	if verdict.Kind != Refused || verdict.Reason != v1beta2.ReasonValuesNotFound || !MakePlan(w, []Verdict{verdict}).Empty() {
		t.Errorf("verdict %s %s %q", verdict.Kind, verdict.Reason, verdict.Message)
	}
}

func TestResolve_AllValuesOfAKymaAreBounded(t *testing.T) {
	w := sampleWorld(installedAt("regular", v1))
	w.Kyma.Spec.Modules[0].Values = rawJSON(`{"a":1}`)
	for i := range maxValues/v1beta2.MaxEntryValues + 1 {
		other := module(fmt.Sprintf("other-%d", i))
		other.Values = bigValues(v1beta2.MaxEntryValues - 100)
		w.Kyma.Spec.Modules = append(w.Kyma.Spec.Modules, other)
	}
	for _, verdict := range Resolve(w) {
		if verdict.Module == operator && (verdict.Reason != v1beta2.ReasonValuesInvalid || !strings.Contains(verdict.Message, "of all entries")) {
			t.Errorf("verdict %s %q", verdict.Reason, verdict.Message)
		}
	}
	if seen := SeenOf(&w.Kyma.Spec); seen.Modules[0].Values != "" {
		t.Error("values that are too large get into the status")
	}
}

// One entry's fault is not another one's.
func TestResolve_ValuesThatAreTooLargeForAnEntryConcernNoOther(t *testing.T) {
	other := module("other")
	other.Values = bigValues(2 * maxValues)
	w := sampleWorld(installedAt("regular", v1))
	w.Kyma.Spec.Modules[0].Values = rawJSON(`{"a":1}`)
	w.Kyma.Spec.Modules = append(w.Kyma.Spec.Modules, other)
	for _, verdict := range Resolve(w) {
		if verdict.Module == operator && (verdict.Reason != "" || verdict.Values == nil || verdict.Values.Inline != `{"a":1}`) {
			t.Errorf("verdict %s %q with values %+v", verdict.Reason, verdict.Message, verdict.Values)
		}
	}
	if seen := byName(SeenOf(&w.Kyma.Spec).Modules); seen["other"].Values != "" || seen[operator].Values != `{"a":1}` {
		t.Errorf("seen %+v", seen)
	}
}

// Values are compared in one spelling, so that no pass writes twice.
func TestMakePlan_ValuesAreWrittenOnce(t *testing.T) {
	w := sampleWorld(installedAt("regular", v1))
	w.Kyma.Spec.Modules[0].Values = rawJSON(`{"b": 1, "a": []}`)
	w.Kyma.Spec.Modules[0].ValuesFrom = []v1beta2.ValuesReference{inMap}
	w.Values = map[v1beta2.ValuesReference]ReferredValues{inMap: {Hash: "m"}}
	plan := MakePlan(w, Resolve(w))
	if len(plan.Apply) != 1 {
		t.Fatalf("%d Manifests are applied", len(plan.Apply))
	}
	w = carryOut(w, plan)
	w.Kyma.Spec.Modules[0].Values = rawJSON(`{"a":[],"b":1}`)
	if again := MakePlan(w, Resolve(w)); !again.Empty() {
		t.Errorf("the second pass writes %+v", again)
	}
	w.Kyma.Spec.Modules[0].Values, w.Kyma.Spec.Modules[0].ValuesFrom = nil, nil
	w = carryOut(w, MakePlan(w, Resolve(w)))
	if left := w.Manifests[0].Spec.KymaValues; left != nil {
		t.Errorf("values that were taken away stay: %+v", left)
	}
}

func TestMerge_ValuesArePartOfTheEntry(t *testing.T) {
	spec := func(values string) *v1beta2.KymaSpec {
		return specOf(t, `{"channel":"regular","modules":[{"name":"x"`+values+`}]}`)
	}
	const red, blue = `,"values":{"colour":"red"}`, `,"values":{"colour":"blue"}`
	for name, tc := range map[string]struct{ hub, lastHub, runtime, lastRuntime, want string }{
		"the hub's change reaches the runtime":               {blue, red, red, red, blue},
		"the runtime's change counts":                        {red, red, blue, red, blue},
		"where both changed, the runtime's counts":           {blue, "", red, "", red},
		"the hub takes them away":                            {"", red, red, red, ""},
		"the runtime takes them away":                        {red, red, "", red, ""},
		"another spelling of the same values is no change":   {`,"values":{ "colour" : "red"}`, red, red, red, red},
		"what the hub refers to is no part of it":            {red + `,"valuesFrom":[{"kind":"Secret","name":"s"}]`, red, red, red, red},
		"values without fields are none, which is no change": {`,"values":{}`, "", "", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			lastHub, lastRuntime, theirs := SeenOf(spec(tc.lastHub)), SeenOf(spec(tc.lastRuntime)), SeenOf(spec(tc.runtime))
			hub := spec(tc.hub)
			merged := Merge(MergeInput{Hub: SeenOf(hub), Runtime: &theirs, Last: &v1beta2.LastSeen{Hub: &lastHub, Runtime: &lastRuntime}})
			if diff := cmp.Diff(SeenOf(spec(tc.want)), merged.Effective); diff != "" {
				t.Fatalf("effective (-want +got):\n%s", diff)
			}
			from := hub.Modules[0].ValuesFrom
			Apply(hub, merged.Effective)
			if got := hub.Modules[0].Values; !SameValues(got, spec(tc.want).Modules[0].Values) {
				t.Errorf("the effective spec has values %+v", got)
			}
			if diff := cmp.Diff(from, hub.Modules[0].ValuesFrom); diff != "" {
				t.Errorf("valuesFrom (-want +got):\n%s", diff)
			}
		})
	}
}

func TestCheckRuntimeSpec_Values(t *testing.T) {
	for name, tc := range map[string]struct {
		entry v1beta2.Module
		want  string
	}{
		"values of one's own are accepted": {entry: v1beta2.Module{Values: rawJSON(`{"a":{"b":[1]}}`)}},
		"none are accepted, too":           {entry: v1beta2.Module{Values: rawJSON(`null`)}},
		"objects of the hub are refused": {
			v1beta2.Module{ValuesFrom: []v1beta2.ValuesReference{inSecret}}, "spec.modules[0].valuesFrom is for the hub's Kyma only",
		},
		"values that are too large are refused": {
			v1beta2.Module{Values: bigValues(v1beta2.MaxEntryValues)}, "spec.modules[0].values cannot be used: they have 8",
		},
		"a list is refused":          {v1beta2.Module{Values: rawJSON(`[1]`)}, "they are no object"},
		"a text is refused":          {v1beta2.Module{Values: rawJSON(`"a"`)}, "they are no object"},
		"what is no JSON is refused": {v1beta2.Module{Values: rawJSON(`{`)}, "they are not valid JSON"},
		"a null is refused":          {v1beta2.Module{Values: rawJSON(`{"a":null}`)}, `"values.a" is null`},
	} {
		t.Run(name, func(t *testing.T) {
			tc.entry.Name = "x"
			err := CheckRuntimeSpec(&v1beta2.KymaSpec{Channel: "regular", Modules: []v1beta2.Module{tc.entry}})
			if (err == nil) != (tc.want == "") || err != nil && !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want %q", err, tc.want)
			}
		})
	}
	many := &v1beta2.KymaSpec{Channel: "regular"}
	for i := range maxValues/v1beta2.MaxEntryValues + 1 {
		many.Modules = append(many.Modules, v1beta2.Module{Name: fmt.Sprintf("m%d", i), Values: bigValues(v1beta2.MaxEntryValues - 100)})
	}
	if err := CheckRuntimeSpec(many); err == nil || !strings.Contains(err.Error(), "bytes of values") {
		t.Errorf("many values: %v", err)
	}
}

// A Kyma with values survives the way through the status.
func TestSeenOf_ValuesSurviveTheStatus(t *testing.T) {
	seen := SeenOf(specOf(t, `{"modules":[{"name":"x","values":{"a":[],"b":[1,{"c":"\u00e9"}]}}]}`))
	text, err := json.Marshal(seen)
	must(err)
	var again v1beta2.SeenSpec
	must(json.Unmarshal(text, &again))
	spec := &v1beta2.KymaSpec{}
	Apply(spec, again)
	if diff := cmp.Diff(seen, SeenOf(spec)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
