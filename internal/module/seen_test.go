package module

import (
	"encoding/json"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

// specOf parses a spec as a user writes it.
func specOf(t *testing.T, text string) *v1beta2.KymaSpec {
	t.Helper()
	spec := &v1beta2.KymaSpec{}
	if err := json.Unmarshal([]byte(text), spec); err != nil {
		t.Fatal(err)
	}
	return spec
}

func TestSeenOf(t *testing.T) {
	for _, tc := range []struct{ name, spec, want string }{
		{"defaults are filled in", `{"modules":[{"name":"x"}]}`,
			`{"channel":"regular","modules":[{"name":"x","customResourcePolicy":"CreateAndDelete"}]}`},
		{"managed: true is left out", `{"channel":"fast","modules":[{"name":"x","managed":true,"customResourcePolicy":"Ignore"}]}`,
			`{"channel":"fast","modules":[{"name":"x","customResourcePolicy":"Ignore"}]}`},
		{"managed: false is kept", `{"channel":"fast","modules":[{"name":"x","managed":false,"customResourcePolicy":"Ignore"}]}`,
			`{"channel":"fast","modules":[{"name":"x","customResourcePolicy":"Ignore","managed":false}]}`},
		{"modules and rules are sorted, and the first of two modules with the same name counts",
			`{"channel":"fast","modules":[{"name":"y","channel":"a"},{"name":"x","allowCRDChanges":["B","A","B"]},{"name":"y"}]}`,
			`{"channel":"fast","modules":[{"name":"x","customResourcePolicy":"CreateAndDelete","allowCRDChanges":["A","B"]},` +
				`{"name":"y","channel":"a","customResourcePolicy":"CreateAndDelete"}]}`},
		{"everything else of the spec is left out",
			`{"channel":"fast","skipMaintenanceWindows":true,"remote":true,"readiness":"Both",` +
				`"modules":[{"name":"x","controller":"c","version":"1.0.0","remoteModuleTemplateRef":"r"}]}`,
			`{"channel":"fast","skipMaintenanceWindows":true,` +
				`"modules":[{"name":"x","controller":"c","version":"1.0.0","customResourcePolicy":"CreateAndDelete"}]}`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			raw, err := json.Marshal(SeenOf(specOf(t, tc.spec)))
			must(err)
			if diff := cmp.Diff(tc.want, string(raw)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestApply(t *testing.T) {
	for _, tc := range []struct{ name, spec, effective, want string }{
		{"equivalent entries keep their spelling",
			`{"channel":"regular","remote":true,"readiness":"Both","modules":[{"name":"y","managed":true},{"name":"x","remoteModuleTemplateRef":"r"}]}`,
			`{"channel":"regular","modules":[{"name":"x"},{"name":"y"}]}`,
			`{"channel":"regular","remote":true,"modules":[{"name":"y","managed":true},{"name":"x","remoteModuleTemplateRef":"r"}],"readiness":"Both"}`},
		{"an entry that differs changes in place, and new ones come last",
			`{"channel":"regular","modules":[{"name":"y","channel":"a","remoteModuleTemplateRef":"r"},{"name":"x"}]}`,
			`{"channel":"fast","skipMaintenanceWindows":true,"modules":[{"name":"z","managed":false},{"name":"x"},{"name":"y","version":"1.0.0"}]}`,
			`{"channel":"fast","skipMaintenanceWindows":true,"modules":[` +
				`{"name":"y","version":"1.0.0","remoteModuleTemplateRef":"r","customResourcePolicy":"CreateAndDelete"},{"name":"x"},` +
				`{"name":"z","customResourcePolicy":"CreateAndDelete","managed":false}]}`},
		{"ineffective entries and duplicates are removed", `{"channel":"fast","modules":[{"name":"x"},{"name":"y"},{"name":"y","channel":"a"}]}`,
			`{"channel":"fast","modules":[{"name":"y"}]}`, `{"channel":"fast","modules":[{"name":"y"}]}`},
		{"what each side says for itself stays, though the entry changes",
			`{"channel":"fast","modules":[{"name":"x","channel":"a","onFailedUpgrade":"Rollback","progressDeadline":"1m0s","retry":3}]}`,
			`{"channel":"fast","modules":[{"name":"x","onFailedUpgrade":"None"}]}`,
			`{"channel":"fast","modules":[{"name":"x","customResourcePolicy":"CreateAndDelete",` +
				`"onFailedUpgrade":"Rollback","progressDeadline":"1m0s","retry":3}]}`},
		{"an empty channel means the default one", `{}`, `{"channel":"regular"}`, `{"channel":""}`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			spec := specOf(t, tc.spec)
			Apply(spec, SeenOf(specOf(t, tc.effective)))
			raw, err := json.Marshal(spec)
			must(err)
			if diff := cmp.Diff(tc.want, string(raw)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestAddOwn_TheHubCountsWhereItSaysSomething(t *testing.T) {
	const says = `{"name":"x","onFailedUpgrade":"Rollback","progressDeadline":"1h0m0s"}`
	for _, tc := range []struct{ name, effective, runtime, want string }{
		{"only the runtime says something", `{"name":"x"}`, says, says},
		{"only the hub does", says, `{"name":"x"}`, says},
		{"both do", `{"name":"x","onFailedUpgrade":"None","progressDeadline":"2m0s"}`, says,
			`{"name":"x","onFailedUpgrade":"None","progressDeadline":"1h0m0s"}`},
		{"each says one thing", `{"name":"x","progressDeadline":"2h0m0s"}`, says, `{"name":"x","onFailedUpgrade":"Rollback","progressDeadline":"2h0m0s"}`},
		{"a runtime's deadline that is shorter than the default does not count", `{"name":"x"}`, `{"name":"x","progressDeadline":"10s"}`, `{"name":"x"}`},
		{"nor does one that is shorter than the hub's", `{"name":"x","progressDeadline":"2h0m0s"}`, says,
			`{"name":"x","onFailedUpgrade":"Rollback","progressDeadline":"2h0m0s"}`},
		{"the runtime's entry is another module's", `{"name":"y"}`, says, `{"name":"y"}`},
		{"a person's decision in the runtime does not count", `{"name":"x"}`, `{"name":"x","avoid":"1.0.0@sha256:00","retry":3}`, `{"name":"x"}`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			effective := specOf(t, `{"modules":[`+tc.effective+`]}`)
			AddOwn(effective, specOf(t, `{"modules":[`+tc.runtime+`]}`))
			raw, err := json.Marshal(effective)
			must(err)
			if diff := cmp.Diff(`{"channel":"","modules":[`+tc.want+`]}`, string(raw)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestSeenOf_LeavesOutWhatEachSideSaysForItself(t *testing.T) {
	plain := SeenOf(specOf(t, `{"channel":"fast","modules":[{"name":"x"}]}`))
	own := SeenOf(specOf(t, `{"channel":"fast","modules":[{"name":"x","onFailedUpgrade":"Rollback","progressDeadline":"1m0s","retry":3}]}`))
	if diff := cmp.Diff(plain, own); diff != "" {
		t.Error(diff)
	}
}

func TestSeen_WhatWasAppliedIsWhatIsSeen(t *testing.T) {
	for seed := range uint64(worlds) {
		d := dice{rand.New(rand.NewPCG(seed, 7))}
		spec, want := d.kymaSpec(), SeenOf(d.kymaSpec())
		Apply(spec, want)
		if diff := cmp.Diff(want, SeenOf(spec)); diff != "" {
			t.Fatalf("seed %d (-want +got):\n%s", seed, diff)
		}
		before := spec.DeepCopy()
		Apply(spec, want)
		if diff := cmp.Diff(before, spec); diff != "" {
			t.Fatalf("seed %d, applied again (-before +after):\n%s", seed, diff)
		}
	}
}

// kymaSpec returns a spec as users write them, with up to four modules.
func (d dice) kymaSpec() *v1beta2.KymaSpec {
	spec := &v1beta2.KymaSpec{Channel: d.one("regular", "fast", "rapid"), SkipMaintenanceWindows: d.rarely(2)}
	for _, at := range d.Perm(len(letters)) {
		if d.rarely(3) {
			continue
		}
		entry := d.module(letters[at])
		if d.rarely(4) {
			entry.AllowCRDChanges = []v1beta2.CRDRule{v1beta2.CRDRule(d.one("FieldRemoved", "TypeChanged")), "EnumNarrowed"}
		}
		spec.Modules = append(spec.Modules, entry)
	}
	return spec
}
