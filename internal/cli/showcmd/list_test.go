package showcmd

import (
	"testing"

	"github.com/kyma-project/lifecycle-manager/internal/view"
)

func TestResourceText(t *testing.T) {
	for name, c := range map[string]struct {
		module view.Condition
		want   string
	}{
		"what it says is repeated":              {view.Condition{State: view.Warning}, "Warning"},
		"what is in another cluster is no word": {view.Condition{State: view.Unknown, Reason: view.WhyNotObserved}, ""},
		"what could not be read is Unknown":     {view.Condition{State: view.Unknown, Reason: view.WhyForbidden}, "Unknown"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := resourceText(&view.Module{State: view.Ready, Module: c.module}); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestPhaseText(t *testing.T) {
	for name, c := range map[string]struct {
		module view.Module
		want   string
	}{
		"what is installed needs no more words": {view.Module{Installation: view.Installation{State: view.Installed}}, "Installed"},
		"what is under way says how far it is": {
			view.Module{Installation: view.Installation{State: view.Installing, Progress: "3/7"}}, "Installing 3/7",
		},
		"what was installed and is not ready now is no installation": {
			view.Module{Installation: view.Installation{State: view.Installed, Unready: true}}, "Installed (not ready)",
		},
		"what runs otherwise than it was asked for": {
			view.Module{Installation: view.Installation{State: view.Installed, Warning: true}}, "Installed (Warning)",
		},
		"that nobody looks after it counts more": {
			view.Module{Suspended: true, Installation: view.Installation{State: view.Installed, Unready: true}}, "Installed (suspended)",
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
		version view.Version
		want    string
	}{
		{view.Version{Desired: "1.0.0", Installed: "1.0.0"}, "1.0.0 installed"},
		{view.Version{Desired: "1.1.0", Installed: "1.0.0"}, "1.0.0 installed, 1.1.0 asked for"},
		{view.Version{Desired: "1.0.0", Installed: "1.0.0", Running: "0.9.0"}, "1.0.0 installed, operator at 0.9.0"},
		{view.Version{Desired: "1.1.0"}, "1.1.0 asked for"},
	} {
		if got := versions(c.version); got != c.want {
			t.Errorf("%+v is told as %q, want %q", c.version, got, c.want)
		}
	}
}
