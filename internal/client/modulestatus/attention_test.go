package modulestatus

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestNeedsAttention(t *testing.T) {
	now := time.Unix(10_000, 0)
	ago := func(age time.Duration) *metav1.Time { return &metav1.Time{Time: now.Add(-age)} }
	for name, c := range map[string]struct {
		module      Module
		want, later bool
	}{
		"an error needs attention at once":         {Module{State: Error}, true, false},
		"a warning, too":                           {Module{State: Warning}, true, false},
		"progress has two minutes":                 {Module{State: Processing, Since: ago(Patience - time.Second)}, false, true},
		"and no longer":                            {Module{State: Processing, Since: ago(Patience)}, true, false},
		"progress without a beginning is progress": {Module{State: Processing}, false, false},
		"a deletion takes its time":                {Module{State: Deleting, Since: ago(time.Hour)}, false, false},
		"a deletion that waits for objects of users": {
			Module{State: Deleting, Installation: Installation{BlockedBy: []string{"Greeting a/b"}}}, true, false,
		},
		"what could not be read is no trouble of the module": {Module{State: Unknown}, false, false},
		"what is Ready": {Module{State: Ready, Since: ago(time.Hour)}, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			if got, later := c.module.NeedsAttention(now), c.module.WillNeedAttention(now); got != c.want || later != c.later {
				t.Errorf("needs attention: %t, later: %t; want %t, %t", got, later, c.want, c.later)
			}
		})
	}
}

func TestExplanation(t *testing.T) {
	installation := Installation{State: Failed, Reason: "Forbidden", Message: "may not create"}
	resource := Condition{State: Error, Reason: "Error", Message: "no certificate"}
	for name, c := range map[string]struct {
		module Module
		want   string
	}{
		"the installation": {Module{Installation: installation, Module: resource}, "Forbidden: may not create"},
		"the custom resource of what is installed": {
			Module{Installation: Installation{State: Installed, Reason: "Ready", Message: "all is there"}, Module: resource}, "Error: no certificate",
		},
		"a warning of the installation comes first": {
			Module{Installation: Installation{State: Installed, Warning: true, Reason: "Drift", Message: "changed"}, Module: resource}, "Drift: changed",
		},
		"the custom resource where the installation says nothing": {Module{Module: resource}, "Error: no certificate"},
	} {
		t.Run(name, func(t *testing.T) {
			if reason, message := c.module.Explanation(); reason+": "+message != c.want {
				t.Errorf("%s: %s, want %s", reason, message, c.want)
			}
		})
	}
}
