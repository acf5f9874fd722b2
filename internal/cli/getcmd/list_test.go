package getcmd

import (
	"testing"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/client/modulestatus"
)

func TestResourceText(t *testing.T) {
	for name, c := range map[string]struct {
		module modulestatus.Condition
		want   string
	}{
		"the state of the resource is shown":   {modulestatus.Condition{State: modulestatus.Warning}, "Warning"},
		"a resource in another cluster is not": {modulestatus.Condition{State: modulestatus.Unknown, Reason: modulestatus.WhyNotObserved}, ""},
		"what could not be read is Unknown":    {modulestatus.Condition{State: modulestatus.Unknown, Reason: modulestatus.WhyForbidden}, "Unknown"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := resourceText(&modulestatus.Module{State: modulestatus.Ready, Module: c.module}); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestPhaseText(t *testing.T) {
	for name, c := range map[string]struct {
		module modulestatus.Module
		want   string
	}{
		"an installed module needs no remark": {modulestatus.Module{Installation: modulestatus.Installation{State: modulestatus.Installed}}, "Installed"},
		"an installation in progress shows how far it is": {
			modulestatus.Module{Installation: modulestatus.Installation{State: modulestatus.Installing, Progress: "3/7"}}, "Installing 3/7",
		},
		"an installed module that is not ready now is not installing": {
			modulestatus.Module{Installation: modulestatus.Installation{State: modulestatus.Installed, Unready: true}}, "Installed (not ready)",
		},
		"a module that runs differently than requested": {
			modulestatus.Module{Installation: modulestatus.Installation{State: modulestatus.Installed, Warning: true}}, "Installed (Warning)",
		},
		"a version that waits for its rollout is named": {
			modulestatus.Module{Offered: "1.3.0", Installation: modulestatus.Installation{State: modulestatus.Installed}},
			"Installed (1.3.0 waits for its rollout)",
		},
		"a version that waits for consent is named": {
			modulestatus.Module{
				Pending: &v1beta2.PendingVersion{Version: "1.3.0"}, Installation: modulestatus.Installation{State: modulestatus.Installed},
			},
			"Installed (1.3.0 waits for consent)",
		},
		"one that waits for a requirement says so": {
			modulestatus.Module{Installation: modulestatus.Installation{State: modulestatus.Installed, Reason: "RequirementMissing"}},
			"Installed (waits for what it requires)",
		},
		"suspended takes precedence": {
			modulestatus.Module{Suspended: true, Installation: modulestatus.Installation{State: modulestatus.Installed, Unready: true}}, "Installed (suspended)",
		},
	} {
		t.Run(name, func(t *testing.T) {
			if got := phaseText(&c.module); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestVersionsInWords(t *testing.T) {
	for _, c := range []struct {
		version modulestatus.Version
		want    string
	}{
		{modulestatus.Version{Desired: "1.0.0", Installed: "1.0.0"}, "1.0.0 installed"},
		{modulestatus.Version{Desired: "1.1.0", Installed: "1.0.0"}, "1.0.0 installed, 1.1.0 requested"},
		{modulestatus.Version{Desired: "1.0.0", Installed: "1.0.0", Running: "0.9.0"}, "1.0.0 installed, operator at 0.9.0"},
		{modulestatus.Version{Desired: "1.1.0"}, "1.1.0 requested"},
	} {
		if got := versions(c.version); got != c.want {
			t.Errorf("%+v is told as %q, want %q", c.version, got, c.want)
		}
	}
}
