package editcmd

import (
	"testing"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/client/kymaedit"
)

func TestUpgrade_HowAnUpgradeStands(t *testing.T) {
	for name, c := range map[string]struct {
		status *v1beta2.ModuleStatus
		want   string
	}{
		"nothing is known of it yet": {nil, "upgrading"},
		"the channel's version runs": {&v1beta2.ModuleStatus{Version: "1.1.0", State: "Ready"}, "up to date"},
		"it runs with a warning":     {&v1beta2.ModuleStatus{Version: "1.1.0", State: "Warning"}, "up to date"},
		"another version runs":       {&v1beta2.ModuleStatus{Version: "1.0.0", State: "Ready"}, "upgrading"},
		"it waits for a person":      {&v1beta2.ModuleStatus{Version: "1.0.0", State: "Ready", Pending: pendingOf(digestA, v1beta2.ConsentHub)}, "waits for consent"},
		"a person has agreed, and it waits for a window": {&v1beta2.ModuleStatus{Version: "1.0.0", State: "Ready", Pending: pendingOf(digestA)},
			"upgrading"},
		"the channel's version is coming up": {&v1beta2.ModuleStatus{Version: "1.1.0", State: "Processing"}, "upgrading"},
	} {
		t.Run(name, func(t *testing.T) {
			kyma := &v1beta2.Kyma{Spec: v1beta2.KymaSpec{Channel: "fast", Modules: []v1beta2.Module{{Name: "notes"}}}}
			if c.status != nil {
				c.status.Name = "notes"
				kyma.Status.Modules = []v1beta2.ModuleStatus{*c.status}
			}
			s := &session{KymaContext: kymaedit.StandOf(kyma)}
			s.Offers = map[string]kymaedit.Offer{"notes": {Channels: map[string]string{"fast": "1.1.0"}}}
			if got := upgradeState(s, &kyma.Spec, "notes"); got != c.want {
				t.Errorf("told %q, want %q", got, c.want)
			}
		})
	}
	if got := upgradeState(nil, nil, "notes"); got != "up to date" {
		t.Errorf("of a module that is installed directly %q is told", got)
	}
}
