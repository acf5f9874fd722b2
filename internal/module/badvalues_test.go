package module

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

const (
	blue = `{"colour":"blue"}`
	red  = `{"colour":"red"}`
)

// crowded returns a spec with that many entries, m00 and so on, of which those from one to before another have as many values as an entry
// may have.
func crowded(entries, from, to int) *v1beta2.KymaSpec {
	spec := &v1beta2.KymaSpec{Channel: "regular"}
	for i := range entries {
		entry := module(fmt.Sprintf("m%02d", i))
		if from <= i && i < to {
			entry.Values = bigValues(v1beta2.MaxEntryValues - len(`{"a":""}`))
		}
		spec.Modules = append(spec.Modules, entry)
	}
	return spec
}

// mergedLast returns the record of two specs that were merged.
func mergedLast(hub, runtime *v1beta2.KymaSpec) *v1beta2.LastSeen {
	return &v1beta2.LastSeen{Hub: new(SeenOf(hub)), Runtime: new(SeenOf(runtime))}
}

// The runtime's user has values of their own in m00, which must neither go meanwhile nor afterwards.
func TestMerge_BadValuesOfTheHubChangeNothing(t *testing.T) {
	good := func(values string) *v1beta2.KymaSpec {
		spec := crowded(15, 0, 0)
		spec.Modules[0].Values = rawJSON(values)
		return spec
	}
	all := func(modules []v1beta2.Module, from int) {
		for i := range modules[from:13] {
			modules[from+i].Values = crowded(1, 0, 1).Modules[0].Values
		}
	}
	everyone := []string{"m00", "m01", "m02", "m03", "m04", "m05", "m06", "m07", "m08", "m09", "m10", "m11", "m12"}
	for name, tc := range map[string]struct {
		edit    func(modules []v1beta2.Module)
		refused []string
	}{
		"a null":                  {func(m []v1beta2.Module) { m[0].Values = rawJSON(`{"colour":null}`) }, everyone[:1]},
		"values that are no JSON": {func(m []v1beta2.Module) { m[0].Values = rawJSON(`{`) }, everyone[:1]},
		"too many values in an entry": {
			func(m []v1beta2.Module) { m[0].Values = bigValues(v1beta2.MaxEntryValues) }, everyone[:1],
		},
		"too many values in an entry that had none": {
			func(m []v1beta2.Module) { m[1].Values = bigValues(v1beta2.MaxEntryValues) }, everyone[1:2],
		},
		"too many values in all entries together": {func(m []v1beta2.Module) { all(m, 0) }, everyone},
		"too many values together, while others are taken away": {
			func(m []v1beta2.Module) { m[0].Values = nil; all(m, 1); m[13].Values = rawJSON(`{"a":1}`) }, append(everyone, "m13"),
		},
		"as many as there may be, and a null in the place of others": {
			func(m []v1beta2.Module) { m[0].Values = rawJSON(`{"colour":null}`); all(m, 1) }, everyone,
		},
	} {
		t.Run(name, func(t *testing.T) {
			theirs, last := good(red), mergedLast(good(blue), good(red))
			unchanged := func(hub *v1beta2.KymaSpec) {
				t.Helper()
				got := Merge(MergeInput{Hub: SeenOnHub(hub, last), Runtime: new(SeenOf(theirs)), Last: last})
				if diff := cmp.Diff(*last, got.Seen); got.Write || got.Refused != "" || diff != "" {
					t.Errorf("write %t, refused %q, seen (-last +now):\n%s", got.Write, got.Refused, diff)
				}
				if diff := cmp.Diff(*last.Runtime, sorted(got.Effective)); diff != "" || Behind(hub, last) {
					t.Errorf("behind %t, in force (-before +after):\n%s", Behind(hub, last), diff)
				}
			}
			hub := good(blue)
			tc.edit(hub.Modules)
			unchanged(hub)
			if diff := cmp.Diff(tc.refused, slices.Sorted(maps.Keys(RefusedOnHub(hub, last)))); diff != "" {
				t.Errorf("refused (-want +got):\n%s", diff)
			}
			unchanged(good(blue))
			if left := RefusedOnHub(good(blue), last); len(left) > 0 {
				t.Errorf("what was corrected is still refused: %v", left)
			}
		})
	}
}

func TestMerge_WhatStandsBesideBadValuesCounts(t *testing.T) {
	hub, theirs := crowded(2, 0, 0), crowded(2, 0, 0)
	theirs.Modules[0].Values = rawJSON(red)
	last := mergedLast(hub, theirs)
	hub.Modules[0].Values, hub.Modules[1].Channel = rawJSON(`{"colour":null}`), "fast"
	got := Merge(MergeInput{Hub: SeenOnHub(hub, last), Runtime: new(SeenOf(theirs)), Last: last})
	if entries := byName(got.Effective.Modules); !got.Write || entries["m00"].Values != red || entries["m01"].Channel != "fast" {
		t.Errorf("write %t, in force %+v", got.Write, got.Effective)
	}
}

func TestMerge_AtFirstContactBadValuesAreNone(t *testing.T) {
	got := Merge(MergeInput{Hub: SeenOnHub(crowded(13, 0, 13), nil)})
	if size := sizeOfValues(&got.Effective); !got.Write || got.Refused != "" || size != 0 || len(got.Effective.Modules) != 13 {
		t.Errorf("write %t, refused %q, %d bytes in %d entries", got.Write, got.Refused, size, len(got.Effective.Modules))
	}
}

// Each side has room for twelve entries that are full. Were the merged spec written, the runtime's Kyma would be refused from then on, and with
// it every edit of the hub.
func TestMerge_ValuesThatFitOnlyAlone(t *testing.T) {
	const entries = 15
	for name, tc := range map[string]struct {
		hub, lastHub, runtime, lastRuntime *v1beta2.KymaSpec
		// says is what has to be shortened; empty where the merge is accepted.
		says string
	}{
		"the hub adds to what the runtime's user has": {
			crowded(entries, 0, 7), crowded(entries, 0, 0), crowded(entries, 7, entries), crowded(entries, 7, entries),
			"shorten the values of m00, m01, m02, m03, m04, m05, m06 (57344 bytes) in the hub's Kyma",
		},
		"both add at a time": {
			crowded(entries, 0, 7), crowded(entries, 0, 0), crowded(entries, 7, entries), crowded(entries, 0, 0),
			"shorten the values of m00, m01, m02, m03, m04, m05, m06 (57344 bytes) in the hub's Kyma",
		},
		"many are not all named": {
			crowded(entries, 0, 11), crowded(entries, 0, 0), crowded(entries, 11, entries), crowded(entries, 11, entries),
			"m08, m09 and 1 more (90112 bytes) in the hub's Kyma",
		},
		"the hub writes a part of them": {
			crowded(entries, 0, 4), crowded(entries, 0, 0), crowded(entries, 7, entries), crowded(entries, 7, entries), "",
		},
		"the runtime's user makes room": {
			crowded(entries, 0, 7), crowded(entries, 0, 0), crowded(entries, 10, entries), crowded(entries, 7, entries), "",
		},
		"both write the same": {
			crowded(entries, 0, 12), crowded(entries, 0, 0), crowded(entries, 0, 12), crowded(entries, 7, entries), "",
		},
		"the runtime's Kyma is gone, with what its user had in the place of the hub's": {
			crowded(12, 0, 12), crowded(12, 0, 12), nil, &v1beta2.KymaSpec{Channel: "regular", Modules: crowded(24, 12, 24).Modules[12:]},
			"in the hub's Kyma",
		},
	} {
		t.Run(name, func(t *testing.T) {
			last := mergedLast(tc.lastHub, tc.lastRuntime)
			sides, written := MergeInput{Hub: SeenOnHub(tc.hub, last), Last: last}, &v1beta2.KymaSpec{Channel: "regular"}
			if tc.runtime != nil {
				sides.Runtime, written = new(SeenOf(tc.runtime)), tc.runtime.DeepCopy()
				if err := CheckRuntimeSpec(tc.runtime); err != nil {
					t.Fatal(err)
				}
			}
			if refused := RefusedOnHub(tc.hub, last); len(refused) > 0 {
				t.Fatalf("the hub's spec is refused itself: %v", refused)
			}
			got := Merge(sides)
			if (got.Refused == "") != (tc.says == "") || !strings.Contains(got.Refused, tc.says) {
				t.Errorf("refused %q, want %q", got.Refused, tc.says)
			}
			Apply(written, got.Effective)
			if err := CheckRuntimeSpec(written); (err == nil) != (tc.says == "") {
				t.Errorf("what would be written is refused in the runtime: %v", err)
			}
		})
	}
}

func TestResolve_ValuesThatTheMergeRefused(t *testing.T) {
	had := &v1beta2.EntryValues{Inline: red}
	for name, tc := range map[string]struct {
		refused map[string]string
		reason  string
		want    *v1beta2.EntryValues
	}{
		"what is installed keeps its values": {map[string]string{operator: "they are too many"}, v1beta2.ReasonValuesInvalid, had},
		"those of another entry are no matter, however many there are": {
			map[string]string{"m00": "they are too many"}, "", &v1beta2.EntryValues{Inline: blue},
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := sampleWorld(installedAt("regular", v1))
			w.Manifests[0].Spec.KymaValues = had
			w.Kyma.Spec.Modules[0].Values = rawJSON(blue)
			w.Kyma.Spec.Modules = append(w.Kyma.Spec.Modules, crowded(13, 0, 13).Modules...)
			w.RefusedValues = tc.refused
			for _, verdict := range Resolve(w) {
				if verdict.Module != operator {
					continue
				}
				if diff := cmp.Diff(tc.want, wanted(w.Kyma, &verdict).Spec.KymaValues); diff != "" || verdict.Reason != tc.reason {
					t.Errorf("verdict %s %q, values (-want +got):\n%s", verdict.Reason, verdict.Message, diff)
				}
			}
		})
	}
}

// Nothing says any more which values the module ran with.
func TestResolve_AManifestThatIsGoneIsNotPutBackWithoutItsValues(t *testing.T) {
	for name, tc := range map[string]struct {
		edit func(*v1beta2.Module)
		kind Kind
	}{
		"while the values can be used it is": {func(entry *v1beta2.Module) { entry.Values = rawJSON(red) }, Run},
		"not while they cannot be used":      {func(entry *v1beta2.Module) { entry.Values = rawJSON(`{"colour":null}`) }, Refused},
		"not while they are missing": {
			func(entry *v1beta2.Module) { entry.ValuesFrom = []v1beta2.ValuesReference{inSecret} }, Refused,
		},
		"nor while something else is wrong, too": {
			func(entry *v1beta2.Module) { entry.Values, entry.Channel = rawJSON(`{"colour":null}`), "none" }, Refused,
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := sampleWorld(installedAt("regular", v1))
			w.Manifests = nil
			tc.edit(&w.Kyma.Spec.Modules[0])
			verdict := Resolve(w)[0]
			if plan := MakePlan(w, []Verdict{verdict}); verdict.Kind != tc.kind || plan.Empty() != (tc.kind == Refused) {
				t.Errorf("verdict %s %s %q, plan %+v", verdict.Kind, verdict.Reason, verdict.Message, plan)
			}
		})
	}
}

func TestApply_ReplacesValuesThatCannotBeUsed(t *testing.T) {
	for name, values := range map[string]*runtime.RawExtension{"too large": bigValues(v1beta2.MaxEntryValues), "with a null": rawJSON(`{"a":null}`)} {
		spec := &v1beta2.KymaSpec{Channel: "regular", Modules: []v1beta2.Module{{Name: "x", Values: values}}}
		Apply(spec, v1beta2.SeenSpec{Channel: "regular", Modules: []v1beta2.SeenModule{{Name: "x", Channel: "fast", Values: red}}})
		if spec.Modules[0].Channel != "fast" || string(spec.Modules[0].Values.Raw) != red {
			t.Errorf("%s: %+v", name, spec.Modules[0])
		}
	}
}

// What a runtime's user writes is read in every pass.
func TestValuesProblem_IsFoundWithoutMuchWork(t *testing.T) {
	for name, tc := range map[string]struct{ values, says string }{
		"a null far below":            {`{"a":` + strings.Repeat("[", 3000) + `{"b":null}` + strings.Repeat("]", 3000) + "}", "is null"},
		"far more than is accepted":   {`{"a":"` + strings.Repeat("x", 1<<20) + `"}`, "they have 1048584 bytes"},
		"deeper than can be read":     {strings.Repeat("[", 1<<20), "they have 1048576 bytes"},
		"what grows when it is spelt": {`{"a":"` + strings.Repeat("<", 2000) + `"}`, "they have 12008 bytes"},
	} {
		problem := ValuesProblem(rawJSON(tc.values))
		if !strings.Contains(problem, tc.says) || len(problem) > 600 {
			t.Errorf("%s: %d characters: %.600q", name, len(problem), problem)
		}
		if allocated := testing.AllocsPerRun(1, func() { ValuesProblem(rawJSON(tc.values)) }); allocated > 40_000 {
			t.Errorf("%s: %.0f allocations", name, allocated)
		}
	}
}
