package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestGreeting(t *testing.T) {
	for name, tc := range map[string]struct {
		spec map[string]any
		want string
	}{
		"says hello":                      {map[string]any{"whom": "world"}, "Hello, world!"},
		"shouts when asked to":            {map[string]any{"whom": "world", "loud": true}, "HELLO, WORLD!"},
		"survives a spec of another kind": {map[string]any{"whom": int64(1), "loud": "yes"}, "Hello, !"},
	} {
		t.Run(name, func(t *testing.T) {
			greeter := newGreeter()
			greeter.Object["spec"] = tc.spec
			if got := Greeting(greeter); got != tc.want {
				t.Errorf("Greeting() = %q, want %q", got, tc.want)
			}
		})
	}
}

func TestConditionsOf(t *testing.T) {
	greeter := newGreeter()
	if got := conditionsOf(greeter); got != nil {
		t.Errorf("a Greeter without status has conditions %v", got)
	}
	greeter.Object["status"] = map[string]any{"conditions": []any{
		map[string]any{"type": "Ready", "status": "True", "lastTransitionTime": "2026-01-02T03:04:05Z"},
	}}
	want := []metav1.Condition{{Type: "Ready", Status: "True", LastTransitionTime: metav1.Unix(1767323045, 0)}}
	if diff := cmp.Diff(want, conditionsOf(greeter)); diff != "" {
		t.Errorf("conditions that were written are not read back (-want +got):\n%s", diff)
	}
	greeter.Object["status"] = map[string]any{"conditions": "none"}
	if got := conditionsOf(greeter); got != nil {
		t.Errorf("conditions that cannot be read are %v, want none", got)
	}
}
