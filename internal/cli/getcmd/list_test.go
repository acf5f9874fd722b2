package getcmd

import (
	"testing"

	"github.com/kyma-project/lifecycle-manager/internal/client/modulestatus"
)

func TestResourceText(t *testing.T) {
	for name, c := range map[string]struct {
		module modulestatus.Condition
		want   string
	}{
		"what it says is repeated":              {modulestatus.Condition{State: modulestatus.Warning}, "Warning"},
		"what is in another cluster is no word": {modulestatus.Condition{State: modulestatus.Unknown, Reason: modulestatus.WhyNotObserved}, ""},
		"what could not be read is Unknown":     {modulestatus.Condition{State: modulestatus.Unknown, Reason: modulestatus.WhyForbidden}, "Unknown"},
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
		"what is installed needs no more words": {modulestatus.Module{Installation: modulestatus.Installation{State: modulestatus.Installed}}, "Installed"},
		"what is under way says how far it is": {
			modulestatus.Module{Installation: modulestatus.Installation{State: modulestatus.Installing, Progress: "3/7"}}, "Installing 3/7",
		},
		"what was installed and is not ready now is no installation": {
			modulestatus.Module{Installation: modulestatus.Installation{State: modulestatus.Installed, Unready: true}}, "Installed (not ready)",
		},
		"what runs otherwise than it was asked for": {
			modulestatus.Module{Installation: modulestatus.Installation{State: modulestatus.Installed, Warning: true}}, "Installed (Warning)",
		},
		"that no one looks after it counts more": {
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
		{modulestatus.Version{Desired: "1.1.0", Installed: "1.0.0"}, "1.0.0 installed, 1.1.0 asked for"},
		{modulestatus.Version{Desired: "1.0.0", Installed: "1.0.0", Running: "0.9.0"}, "1.0.0 installed, operator at 0.9.0"},
		{modulestatus.Version{Desired: "1.1.0"}, "1.1.0 asked for"},
	} {
		if got := versions(c.version); got != c.want {
			t.Errorf("%+v is told as %q, want %q", c.version, got, c.want)
		}
	}
}
