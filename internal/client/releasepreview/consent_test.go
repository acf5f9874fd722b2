package releasepreview

import (
	"strings"
	"testing"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/module"
)

// manual makes the module's entry wait for consent, which it has for a version.
func manual(approved string) func(*Member) {
	return func(m *Member) {
		m.Kyma.Spec.Modules[0].UpgradeStrategy, m.Kyma.Spec.Modules[0].Approved = v1beta2.UpgradeManual, approved
	}
}

// asks is a policy that wants the hub's consent to new rights of the module.
func asks(hub *Hub) {
	hub.Approvals = &module.ApprovalPolicy{Rules: []module.ApprovalRule{{
		Modules: []string{beacon}, When: []module.ApprovalTrigger{module.ApprovalNewRights}, By: []v1beta2.ConsentSide{v1beta2.ConsentHub},
	}}}
}

// changes says what the step from 1.0.0 to 1.1.0 changes.
func changes(change module.Change) func(*Hub) {
	return func(hub *Hub) {
		hub.Changes = map[module.ChangeKey]module.Change{{Module: beacon, From: digest("1.0.0"), To: digest("1.1.0")}: change}
	}
}

func TestForesee_TellsWhoseConsentIsNeeded(t *testing.T) {
	grave := module.Change{NewRights: true, Counts: v1beta2.PendingCounts{RightsAdded: 2}, Gravest: []string{"May read every Secret of the cluster."}}
	for name, test := range map[string]struct {
		hub    []func(*Hub)
		member Member
		want   Outcome
		says   string
	}{
		"an entry that asks for it waits": {member: newMember(1, "1.0.0", manual("")), want: NeedsConsent},
		"one that has it does not":        {member: newMember(1, "1.0.0", manual("1.1.0@"+digest("1.1.0"))), want: Upgrades},
		"consent to other content is none": {
			member: newMember(1, "1.0.0", manual("1.1.0@"+digest("other"))), want: NeedsConsent,
		},
		"a policy about rights holds a version that wants more": {
			hub: []func(*Hub){asks, changes(grave)}, member: newMember(1, "1.0.0"), want: NeedsConsent, says: "it may read every Secret of the cluster",
		},
		"and lets one through that does not": {
			hub: []func(*Hub){asks, changes(module.Change{})}, member: newMember(1, "1.0.0"), want: Upgrades,
		},
		"a step that was not compared counts as one that wants more": {
			hub: []func(*Hub){asks}, member: newMember(1, "1.0.0"), want: NeedsConsent, says: "was not compared",
		},
		"a first installation is free unless the policy says otherwise": {hub: []func(*Hub){asks}, member: newMember(1, ""), want: Installs},
		"a version that waits for the runtime's user waits on": {
			member: newMember(1, "1.0.0", func(m *Member) {
				m.Kyma.Status.Modules[0].Pending = &v1beta2.PendingVersion{Version: "1.0.5", From: []v1beta2.ConsentSide{v1beta2.ConsentRuntime}}
			}), want: NeedsConsent, says: "of the runtime's user",
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := foresee(t, newHub(test.hub...), upgrade, test.member)
			if got.Count(test.want) != 1 || !strings.Contains(got.Groups[0].Detail, test.says) {
				t.Errorf("want %s (%s), got %+v", test.want, test.says, got.Groups)
			}
		})
	}
}

func TestForesee_WhatUsersOfRuntimesHoldIsNotKnown(t *testing.T) {
	no := false
	local := newMember(1, "1.0.0", func(m *Member) { m.Kyma.Spec.Remote = &no })
	for name, test := range map[string]struct {
		member Member
		told   int
	}{"a remote Kyma": {newMember(1, "1.0.0"), 1}, "a local one": {local, 0}} {
		if got := foresee(t, newHub(), upgrade, test.member); len(got.Unknown) != test.told {
			t.Errorf("%s: %q", name, got.Unknown)
		}
	}
}
