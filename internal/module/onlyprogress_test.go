package module

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

func TestOnlyProgress(t *testing.T) {
	for sentence, test := range map[string]struct {
		change func(before, after *v1beta2.KymaStatus)
		want   bool
	}{
		"nothing": {func(_, _ *v1beta2.KymaStatus) {}, true},
		"a module that becomes ready": {func(_, after *v1beta2.KymaStatus) {
			after.Modules[0].State, after.Modules[0].Reason, after.Modules[0].Message = v1beta2.StateReady, "", ""
			after.ModulesReady = "1/2"
			after.Conditions[0].Message = "1 of 2 modules ready"
		}, true},
		"a module that says what it waits for": {func(_, after *v1beta2.KymaStatus) {
			after.Modules[0].Message = "Deployment notes has 0 of 1 pods available"
		}, true},
		"the whole Kyma becomes ready":     {func(_, after *v1beta2.KymaStatus) { after.State = v1beta2.StateReady }, false},
		"the first status":                 {func(before, _ *v1beta2.KymaStatus) { before.State = "" }, false},
		"another spec was taken notice of": {func(_, after *v1beta2.KymaStatus) { after.ObservedGeneration++ }, false},
		"the runtime is known":             {func(_, after *v1beta2.KymaStatus) { after.RuntimeID = "one" }, false},
		"a module fails":                   {func(_, after *v1beta2.KymaStatus) { after.Modules[0].State = v1beta2.StateError }, false},
		"a failed module starts anew": {func(before, _ *v1beta2.KymaStatus) {
			before.Modules[0].State = v1beta2.StateError
		}, false},
		"a failed module says why": {func(before, after *v1beta2.KymaStatus) {
			before.Modules[0].State, after.Modules[0].State = v1beta2.StateError, v1beta2.StateError
			after.Modules[0].Message = "denied by a webhook"
		}, false},
		"a module comes": {func(_, after *v1beta2.KymaStatus) {
			after.Modules = append(after.Modules, v1beta2.ModuleStatus{Name: "third", State: v1beta2.StateProcessing})
		}, false},
		"a module goes":                {func(_, after *v1beta2.KymaStatus) { after.Modules = after.Modules[:1] }, false},
		"a module has another version": {func(_, after *v1beta2.KymaStatus) { after.Modules[0].Version = "2.0.0" }, false},
		"a version waits for consent": {func(_, after *v1beta2.KymaStatus) {
			after.Modules[0].Pending = &v1beta2.PendingVersion{Version: "2.0.0"}
		}, false},
		"an upgrade waits for its window": {func(_, after *v1beta2.KymaStatus) { after.Modules[0].Maintenance = true }, false},
	} {
		t.Run(sentence, func(t *testing.T) {
			before := &v1beta2.KymaStatus{
				State: v1beta2.StateProcessing, ObservedGeneration: 1, ModulesReady: "0/2",
				Conditions: []metav1.Condition{{Type: v1beta2.ConditionReady, Message: "0 of 2 modules ready"}},
				Modules: []v1beta2.ModuleStatus{
					{Name: "notes", State: v1beta2.StateProcessing, Version: "1.0.0", Reason: v1beta2.ReasonManifestPending, Message: "written"},
					{Name: "maps", State: v1beta2.StateProcessing, Version: "1.0.0"},
				},
			}
			after := before.DeepCopy()
			test.change(before, after)
			if got := OnlyProgress(before, after); got != test.want {
				t.Errorf("got %v, want %v", got, test.want)
			}
		})
	}
}
