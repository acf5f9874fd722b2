package modulestatus

import (
	"testing"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

func TestPendingCounts(t *testing.T) {
	for want, counts := range map[string]v1beta2.PendingCounts{
		"":                        {},
		"1 new right":             {RightsAdded: 1},
		"3 new rights, 1 webhook": {RightsAdded: 3, Webhooks: 1},
		"2 new rights, 1 right fewer, 4 definitions, 2 webhooks, 1 image from another place": {
			RightsAdded: 2, RightsRemoved: 1, Definitions: 4, Webhooks: 2, Images: 1,
		},
	} {
		if got := PendingCounts(counts); got != want {
			t.Errorf("%+v: %q, want %q", counts, got, want)
		}
	}
}

func TestModules_WhatWaitsIsNotUnderWay(t *testing.T) {
	in := seen([]v1beta2.Kyma{remoteKyma(func(k *v1beta2.Kyma) {
		k.Spec.Channel, k.Status.Modules[0].Pending = "fast", &v1beta2.PendingVersion{Version: "1.1.0", From: []v1beta2.ConsentSide{v1beta2.ConsentHub}}
	})})
	in.Manifests = []v1beta2.Manifest{manifest()}
	m := check(t, in, want{state: Ready, phase: Installed, version: "1.0.0/1.1.0/1.1.0"})
	if m.Pending == nil || m.Pending.Version != "1.1.0" || !m.ConsentHere {
		t.Errorf("what waits for consent is told as %+v, here: %v", m.Pending, m.ConsentHere)
	}
	in.Kymas[0].Status.Modules[0].Pending.From = nil // it waits for a window or a wave now
	if m = check(t, in, want{state: Ready, phase: Installed, version: "1.0.0/1.1.0/1.1.0"}); m.Pending != nil || m.ConsentHere {
		t.Errorf("what has its consent is told as %+v, here: %v", m.Pending, m.ConsentHere)
	}
	in = seen([]v1beta2.Kyma{remoteKyma(func(k *v1beta2.Kyma) {
		k.Spec.Channel, k.Status.Modules[0].Message = "fast", "version 1.1.0 needs module istio, which the Kyma does not have"
	})})
	in.Manifests = []v1beta2.Manifest{manifest()}
	check(t, in, want{state: Ready, phase: Installed, version: "1.0.0/1.1.0/1.1.0", reason: v1beta2.ReasonRequirementMissing})
}

func TestReason_TheMostSpecificRuleCounts(t *testing.T) {
	for text, want := range map[string]string{
		"version 1.1.0 waits for consent of the hub's operator: it may read every Secret of the cluster": "ApprovalRequired",
		"version 1.1.0 waits for wave rest":                      "WaitingForRollout",
		"the module is being removed":                            "ModuleDeleting",
		"something that no rule says":                            "",
		"version 1.0.0 needs module warden (>=1.0.0), which ...": "RequirementMissing",
	} {
		if got := mostSpecific(text); got != want {
			t.Errorf("%q is of %q, want %q", text, got, want)
		}
	}
}
