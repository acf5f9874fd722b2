package oracle

import (
	"strings"
	"testing"

	"github.com/Masterminds/semver/v3"

	"github.com/kyma-project/lifecycle-manager/tests/faults/operation"
	"github.com/kyma-project/lifecycle-manager/tests/faults/proxy"
	"github.com/kyma-project/lifecycle-manager/tests/testkit"
)

func TestNever_ALowerVersionIsOnlyForAUserWhoWantsIt(t *testing.T) {
	manifest := func(version string) proxy.Call {
		return proxy.Call{Server: "hub", Verb: "patch", Resource: "manifests", Name: "a", Body: []byte("spec: {version: " + version + "}")}
	}
	for name, tc := range map[string]struct {
		back, then string
		want       string
	}{
		"a higher version":                             {"", "1.2.0", ""},
		"the same version":                             {"", "1.1.0", ""},
		"a lower one":                                  {"", "1.0.0", "version 1.0.0, which was 1.1.0 before"},
		"a lower one that a user wants":                {"1.0.0", "1.0.0", ""},
		"a lower one than the one that a user wants":   {"1.0.0", "0.9.0", "version 0.9.0, which was 1.1.0 before"},
		"a lower one, while a user wants a higher one": {"1.1.0", "1.0.0", "version 1.0.0, which was 1.1.0 before"},
	} {
		t.Run(name, func(t *testing.T) {
			versions := map[string]*semver.Version{}
			if got := lower(versions, manifest("1.1.0"), tc.back); got != "" {
				t.Fatal(got)
			}
			if got := lower(versions, manifest(tc.then), tc.back); got != tc.want {
				t.Errorf("lower() = %q, want %q", got, tc.want)
			}
		})
	}
}

func TestNever_WhatTheManagerMayWriteOnTheHub(t *testing.T) {
	for name, tc := range map[string]struct {
		call proxy.Call
		may  bool
	}{
		"the mark of a release":               {proxy.Call{Verb: "update", Resource: "modulereleasemetas"}, true},
		"a release is not the manager's":      {proxy.Call{Verb: "create", Resource: "modulereleasemetas"}, false},
		"and stays":                           {proxy.Call{Verb: "delete", Resource: "modulereleasemetas", UID: "1"}, false},
		"a template":                          {proxy.Call{Verb: "update", Resource: "moduletemplates"}, false},
		"the status of a rollout":             {proxy.Call{Verb: "update", Resource: "modulerollouts", Subresource: "status"}, true},
		"the finalizer of a rollout":          {proxy.Call{Verb: "patch", Resource: "modulerollouts"}, true},
		"a rollout is made by people":         {proxy.Call{Verb: "create", Resource: "modulerollouts"}, false},
		"and deleted by them":                 {proxy.Call{Verb: "delete", Resource: "modulerollouts", UID: "1"}, false},
		"a Manifest":                          {proxy.Call{Verb: "delete", Resource: "manifests", UID: "1"}, true},
		"one without saying which one it was": {proxy.Call{Verb: "delete", Resource: "manifests"}, false},
	} {
		if problem := onHub(tc.call); (problem == "") != tc.may {
			t.Errorf("%s: %q", name, strings.TrimSpace(problem))
		}
	}
}

func TestNever_AVersionThatWaitsForConsentIsNotWritten(t *testing.T) {
	agreed := map[string]uint64{"hub": 7}
	for name, tc := range map[string]struct {
		held   string
		agreed map[string]uint64
		call   proxy.Call
		early  bool
	}{
		"nothing waits":                      {"", nil, manifestOf(3, "1.1.0"), false},
		"it waits":                           {"1.1.0", nil, manifestOf(3, "1.1.0"), true},
		"what runs is written again":         {"1.1.0", nil, manifestOf(3, "1.0.0"), false},
		"a person agreed after the call":     {"1.1.0", agreed, manifestOf(7, "1.1.0"), true},
		"a person had agreed":                {"1.1.0", agreed, manifestOf(8, "1.1.0"), false},
		"a person had agreed, on the hub":    {"1.1.0", agreed, objectOf(8, "1.1.0"), true},
		"an object of it, into the runtime":  {"1.1.0", nil, objectOf(3, "1.1.0"), true},
		"an object of what runs stays there": {"1.1.0", nil, objectOf(3, "1.0.0"), false},
	} {
		s := &operation.Scenario{Held: tc.held, Agreed: tc.agreed}
		if problem := early(s, tc.call); (problem != "") != tc.early {
			t.Errorf("%s: %q", name, problem)
		}
	}
}

func TestNever_ARuntimeOfAnotherHubIsNotWrittenTo(t *testing.T) {
	for name, tc := range map[string]struct {
		foreign *operation.Span
		call    uint64
		has     bool
	}{
		"no other hub was there":            {nil, 3, false},
		"another has it":                    {&operation.Span{From: 2}, 3, true},
		"before the manager knew":           {&operation.Span{From: 3}, 3, false},
		"until a person asks for it":        {&operation.Span{From: 2, To: 3}, 3, true},
		"a person has asked, so it is ours": {&operation.Span{From: 1, To: 2}, 3, false},
	} {
		if got := tc.foreign.Has(tc.call); got != tc.has {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func manifestOf(n uint64, version string) proxy.Call {
	return proxy.Call{Server: "hub", N: n, Verb: "patch", Resource: "manifests", Name: "a", Body: []byte("spec: {version: " + version + "}")}
}

func objectOf(n uint64, version string) proxy.Call {
	body := "metadata: {labels: {" + testkit.VersionLabel + ": " + version + "}}"
	return proxy.Call{Server: "runtime-1", N: n, Verb: "patch", Resource: "configmaps", Name: "a", Body: []byte(body)}
}
