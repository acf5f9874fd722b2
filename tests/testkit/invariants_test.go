package testkit

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

func TestViolations(t *testing.T) {
	then, later := metav1.NewTime(time.Unix(1000, 0)), metav1.NewTime(time.Unix(2000, 0))
	ready := func(status metav1.ConditionStatus, at metav1.Time) []metav1.Condition {
		return []metav1.Condition{{Type: v1beta2.ConditionReady, Status: status, Reason: "Because", LastTransitionTime: at}}
	}
	module := func(state v1beta2.State) []v1beta2.ModuleStatus {
		return []v1beta2.ModuleStatus{{Name: "redis", State: state}}
	}
	for name, c := range map[string]struct {
		before, now subject
		want        string // part of the one violation; "" for none
	}{
		"an object without status is fine": {now: subject{generation: 1}},
		"Ready is fine when the condition and all modules agree": {now: subject{
			state: v1beta2.StateReady, conditions: ready(metav1.ConditionTrue, then), modules: module(v1beta2.StateReady)}},
		"Ready is fine with a module that is no longer managed": {now: subject{
			state: v1beta2.StateReady, conditions: ready(metav1.ConditionTrue, then), modules: module(v1beta2.StateUnmanaged)}},
		"Ready without the condition is a lie": {now: subject{
			state: v1beta2.StateReady}, want: "condition Ready is not True"},
		"a status that upstream wrote is not judged": {now: subject{
			state: v1beta2.StateReady, conditions: []metav1.Condition{{Type: v1beta2.ConditionResources}, {Type: v1beta2.ConditionInstallation}}}},
		"nor is it with the generation that our definition gives it": {now: subject{state: v1beta2.StateReady, observed: -1, generation: 1,
			conditions: []metav1.Condition{{Type: v1beta2.ConditionInstallation}, {Type: v1beta2.ConditionResources}}}},
		"Ready with a module that is processing is a lie": {now: subject{
			state: v1beta2.StateReady, conditions: ready(metav1.ConditionTrue, then), modules: module(v1beta2.StateProcessing)},
			want: "module redis is Processing"},
		"Error with the condition Ready is a lie": {now: subject{
			state: v1beta2.StateError, conditions: ready(metav1.ConditionTrue, then)}, want: "state is Error and condition Ready is True"},
		"a status of a future generation is refused": {now: subject{
			generation: 1, observed: 2}, want: "generation 2 of an object at generation 1"},
		"a status that goes back to an earlier generation is refused": {
			before: subject{generation: 3, observed: 3}, now: subject{generation: 3, observed: 2}, want: "now speaks of 2"},
		"an object that was not looked at yet is fine": {now: subject{generation: 1, observed: -1}},
		"a status that was looked at and is not any more is refused": {
			before: subject{generation: 3, observed: 3}, now: subject{generation: 3, observed: -1}, want: "now speaks of -1"},
		"a status whose generation is dropped by a definition without that field is not judged": {
			before: subject{generation: 3, observed: 3}, now: subject{generation: 3}},
		"a transition time that moves with the status is fine": {
			before: subject{conditions: ready(metav1.ConditionFalse, then)}, now: subject{conditions: ready(metav1.ConditionTrue, later)}},
		"a transition time that moves without the status is refused": {
			before: subject{conditions: ready(metav1.ConditionFalse, then)}, now: subject{conditions: ready(metav1.ConditionFalse, later)},
			want: "lastTransitionTime moved"},
		"findings of pkg/conditions are passed on": {now: subject{
			conditions: []metav1.Condition{{Type: "Ready", Status: "Maybe", Reason: "Because", LastTransitionTime: then}}}, want: "Maybe"},
	} {
		t.Run(name, func(t *testing.T) {
			got := violations(c.before, c.now)
			if c.want == "" && len(got) == 0 {
				return
			}
			if c.want == "" || len(got) != 1 || !strings.Contains(got[0], c.want) {
				t.Errorf("violations are %q, want one with %q", got, c.want)
			}
		})
	}
}

func TestUniqueNamesAreNamesOfModules(t *testing.T) {
	seen := map[string]bool{}
	for range 2000 {
		name := Unique("redis")
		if seen[name] {
			t.Fatalf("%s came twice", name)
		}
		seen[name] = true
		if strings.Trim(name, "abcdefghijklmnopqrstuvwxyz-") != "" {
			t.Fatalf("%s is no name for a module", name)
		}
	}
}

func TestInvariants_WhatCrossedOnItsWayIsNoFault(t *testing.T) {
	begun := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	failed := func(reason, message string) subject {
		return subject{state: v1beta2.StateError, conditions: []metav1.Condition{
			{Type: v1beta2.ConditionReady, Status: metav1.ConditionFalse, Reason: reason, Message: message},
		}}
	}
	secret, template := failed(v1beta2.ReasonAccessSecretNotFound, ""), failed(v1beta2.ReasonModuleError, "a: "+v1beta2.ReasonTemplateNotFound)
	away := failed(v1beta2.ReasonRuntimeUnreachable, "after "+v1beta2.ReasonAccessSecretNotFound)
	for _, c := range []struct {
		name   string
		errors []subject
		lasts  time.Duration
		told   int
	}{
		{"a Secret that came a moment after its Kyma", []subject{secret}, time.Second, 0},
		{"a template that came a moment after its release", []subject{template}, time.Second, 0},
		{"one after the other", []subject{secret, template}, time.Second, 0},
		{"a Secret that was missing for longer", []subject{secret}, crossing, 1},
		{"another error that was over at once", []subject{away}, time.Millisecond, 1},
		{"another error while it was missing", []subject{secret, away}, time.Second, 1},
	} {
		s := sighting{at: begun, text: c.name, missing: c.errors[0].misses()}
		for _, now := range append(c.errors[1:], subject{state: v1beta2.StateReady}) {
			s.next(now, begun.Add(c.lasts))
		}
		if got := texts([]sighting{s}); len(got) != c.told {
			t.Errorf("%s: told %v", c.name, got)
		}
	}
}
