package manifest

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

func TestHealthy_RequiresProbesForReady(t *testing.T) {
	probe := v1beta2.Probe{Name: "green", Kind: "ServiceAccount", Expression: `self.status.color == "green"`}
	colored := func(color string) *unstructured.Unstructured {
		return &unstructured.Unstructured{Object: map[string]any{"status": map[string]any{"color": color}}}
	}
	for name, test := range map[string]struct {
		probe  v1beta2.Probe
		object *unstructured.Unstructured
		fresh  bool
		want   string
	}{
		"one that is true":                            {probe: probe, object: colored("green")},
		"one that is false":                           {probe: probe, object: colored("red"), want: "ServiceAccount default/operator: probe green: "},
		"one with words of its own":                   {probe: v1beta2.Probe{Name: "green", Kind: "ServiceAccount", Expression: "false", Message: "paint it"}, object: colored("red"), want: "probe green: paint it"},
		"one for a kind that is not there":            {probe: v1beta2.Probe{Name: "none", Kind: "Pod", Expression: "false"}},
		"an object that was not seen yet":             {probe: probe, fresh: true, want: "probe green waits to see it"},
		"an object that was not seen since a restart": {probe: probe},
	} {
		t.Run(name, func(t *testing.T) {
			w, c := settledWork(func(m *v1beta2.Manifest) { m.Spec.Probes = []v1beta2.Probe{test.probe} })
			if test.fresh {
				w.before.Status.State = v1beta2.StateProcessing
			}
			if test.object != nil {
				c.objects = map[inventory.ID]*unstructured.Unstructured{accountID: test.object}
			}
			r := newReconciler(t)
			got := r.healthy(w)
			if test.want == "" {
				if got.state != v1beta2.StateReady {
					t.Errorf("got %+v", got)
				}
				return
			}
			if got.state != v1beta2.StateProcessing || got.reason != v1beta2.ReasonWaitingForProbe || !strings.Contains(got.message, test.want) {
				t.Errorf("got %+v, want %q", got, test.want)
			}
		})
	}
}

func TestCompile_RefusesInvalidProbeBeforeAnyChange(t *testing.T) {
	w, _ := settledWork(func(m *v1beta2.Manifest) {
		m.Spec.Probes = []v1beta2.Probe{{Name: "broken", Kind: "Pod", Expression: "self.+"}}
	})
	err := newReconciler(t).compile(w)
	if problem := problemOf(err); problem == nil || problem.Reason != v1beta2.ReasonProbeInvalid || !strings.Contains(problem.Message, `"broken"`) {
		t.Errorf("error %v", err)
	}
}
