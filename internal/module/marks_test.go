package module

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

func TestMakePlan_TheManifestSaysHowLongAnUpgradeMayTake(t *testing.T) {
	const name = v1beta2.AnnotationProgressDeadline
	hour := theModule(func(m *v1beta2.Module) { m.ProgressDeadline = &metav1.Duration{Duration: time.Hour} })
	for _, test := range []struct {
		name   string
		world  Snapshot
		writes int
		want   string
	}{
		{"one that does not go back by itself says nothing", sampleWorld(hour), 1, ""},
		{"the default is half an hour", sampleWorld(automatic), 1, "30m0s"},
		{"its own deadline counts", sampleWorld(automatic, hour), 1, "1h0m0s"},
		{"what says so already is not written again", sampleWorld(automatic, hour, installedAt("regular", v1)), 0, ""},
		{"another deadline is written", sampleWorld(automatic, installedAt("regular", v1), hour), 1, "1h0m0s"},
		{"so is the end of it", sampleWorld(automatic, installedAt("regular", v1), theModule(func(m *v1beta2.Module) { m.OnFailedUpgrade = "" })), 1, ""},
		{"one that is deleted keeps it", sampleWorld(automatic, installedAt("regular", v1), disabled, theManifest(func(m *v1beta2.Manifest) { dying(m) })), 0, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			plan := MakePlan(test.world, Resolve(test.world))
			if writes := len(plan.Apply) + len(plan.Adjust); writes != test.writes {
				t.Fatalf("%d writes, want %d: %+v", writes, test.writes, plan)
			}
			if len(plan.Apply) > 0 && plan.Apply[0].Annotations[name] != test.want {
				t.Errorf("%s: %q, want %q", name, plan.Apply[0].Annotations[name], test.want)
			}
		})
	}
}
