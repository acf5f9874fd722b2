package workload

import (
	"testing"
	"time"

	"github.com/kyma-project/lifecycle-manager/tests/bench/bare"
	"github.com/kyma-project/lifecycle-manager/tests/bench/report"
	"github.com/kyma-project/lifecycle-manager/tests/testkit/calls"
)

func TestNecessary_TimesAreOfAsManyKymas(t *testing.T) {
	n := Necessary{
		kymas:   100,
		install: bare.Outcome{Calls: 10_000, HubWrites: 1300, Took: 4 * time.Second, CPU: 2 * time.Second},
		bump:    bare.Outcome{Calls: 2000, HubWrites: 400, Took: time.Second},
	}
	var r report.Result
	n.tellInstall(&r, 1000, 50*time.Second)
	n.tellBump(&r, 1000, 16*time.Second)
	type figure struct {
		value float64
		met   bool
	}
	want := map[string]figure{
		"necessary writes":                                        {2500, true},
		"necessary writes: CPU for each object":                   {0.2, true},
		"necessary writes: to the hub, for each Kyma":             {13, true},
		"necessary writes: all done after, for as many Kymas":     {40, true},
		"share of the necessary writes' rate":                     {0.8, true},
		"install, time, as a multiple of the necessary writes'":   {1.25, true},
		"the necessary writes would need":                         {10, true},
		"a version, time, as a multiple of the necessary writes'": {1.6, false},
	}
	for i, m := range r.Metrics {
		name := m.Name
		if name == multiple {
			name = map[bool]string{true: "install, ", false: "a version, "}[i < len(r.Metrics)-1] + name
		}
		if got := (figure{m.Value, m.Met()}); got != want[name] {
			t.Errorf("%s is %v, want %v", name, got, want[name])
		}
	}
	if len(r.Metrics) != len(want) {
		t.Errorf("%d figures, want %d", len(r.Metrics), len(want))
	}
}

func TestEvents_AreNoWritesAndCountedApart(t *testing.T) {
	all := calls.Counts{
		{Verb: calls.Create, Resource: "events.events.k8s.io"}:               4,
		{Verb: calls.Patch, Resource: "events"}:                              2,
		{Verb: calls.List, Resource: "events"}:                               1,
		{Verb: calls.Update, Resource: "manifests.operator.kyma-project.io"}: 3,
		{Verb: calls.Update, Resource: "leases.coordination.k8s.io"}:         5,
	}
	if got := events(all).Total(); got != 6 {
		t.Errorf("%d events, want 6", got)
	}
	if got := all.Writes().Total(); got != 3 {
		t.Errorf("%d writes beside them, want 3", got)
	}
}
