package module

import (
	"testing"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

func TestEntryDoubt_ADoubtAboutAComponentIsToldWhereNothingElseIs(t *testing.T) {
	const doubt = "the component is not signed, which the policy only warns of"
	w := sampleWorld(installedAt("regular", "1.0.0"), reported(v1beta2.StateReady, "Ready", ""))
	for key, component := range w.Components {
		component.Warning = doubt
		w.Components[key] = component
	}
	status := Rollup(w, Resolve(w), nil)
	if len(status.Modules) != 1 || status.Modules[0].Message != doubt {
		t.Errorf("modules %+v", status.Modules)
	}
}
