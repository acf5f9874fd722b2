package server

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/client/modulestatus"
	"github.com/kyma-project/lifecycle-manager/internal/dashboard/operations"
)

// asking returns a module of a Kyma of which version 1.2.0 waits for the consent of some sides.
func asking(remote bool, from ...v1beta2.ConsentSide) *one {
	o := past()
	o.kyma.Spec.Remote = &remote
	pending := &v1beta2.PendingVersion{Version: "1.2.0", Digest: someDigest, From: from}
	o.kyma.Status.Modules[0].Pending, o.module.Pending = pending, pending
	return o
}

func TestConsent_OfferedToWhoseConsentIsMissing(t *testing.T) {
	for name, c := range map[string]struct {
		o      *one
		change func(*one)
		act    bool
		others string
	}{
		"on the hub":                    {asking(true, v1beta2.ConsentHub), nil, true, ""},
		"in the one cluster there is":   {asking(false, v1beta2.ConsentRuntime), nil, true, ""},
		"of the user of the runtime":    {asking(true, v1beta2.ConsentRuntime), nil, false, "the user of the runtime must agree"},
		"of both":                       {asking(true, v1beta2.ConsentHub, v1beta2.ConsentRuntime), nil, true, "the user of the runtime must agree, too"},
		"of a version not yet known":    {asking(true, v1beta2.ConsentHub), func(o *one) { o.module.Pending.Digest = "" }, false, "not known yet"},
		"that was given a moment ago":   {asking(true, v1beta2.ConsentHub), func(o *one) { o.kyma.Spec.Modules[0].Approved = "1.2.0@" + someDigest }, false, "you have agreed"},
		"that was given to another one": {asking(true, v1beta2.ConsentHub), func(o *one) { o.kyma.Spec.Modules[0].Approved = "1.1.0@" + someDigest }, true, ""},
	} {
		t.Run(name, func(t *testing.T) {
			if c.change != nil {
				c.change(c.o)
			}
			d := moduleDetail{Access: moduleAccess{Edit: true}}
			d.consent(c.o)
			if d.Consent == nil || (d.Consent.Act != nil) != c.act || !strings.Contains(d.Consent.Others, c.others) || c.others == "" && d.Consent.Others != "" {
				t.Fatalf("%+v", d.Consent)
			}
			if act := d.Consent.Act; act != nil && (act.Deed.Validate() != nil || act.Deed.Target != "1.2.0@"+someDigest || !act.Allowed) {
				t.Errorf("%+v", act)
			}
		})
	}
}

func TestConsent_WhoMayNotChangeTheKymaIsTold(t *testing.T) {
	d := moduleDetail{}
	d.consent(asking(true, v1beta2.ConsentHub))
	if d.Consent.Act == nil || d.Consent.Act.Allowed || d.Consent.Act.Why == "" || d.Strategy.Act.Allowed {
		t.Errorf("%+v %+v", d.Consent.Act, d.Strategy)
	}
}

func TestConsent_WhatWaitsForNothingHasNone(t *testing.T) {
	d := moduleDetail{Access: moduleAccess{Edit: true}}
	d.consent(past())
	if d.Consent != nil || d.Strategy == nil || d.Strategy.Is != v1beta2.UpgradeAutomatic || d.Strategy.Act.Deed.Strategy != v1beta2.UpgradeManual {
		t.Errorf("%+v %+v", d.Consent, d.Strategy)
	}
	manual := past()
	manual.kyma.Spec.Modules[0].UpgradeStrategy = v1beta2.UpgradeManual
	d.consent(manual)
	if d.Strategy.Is != v1beta2.UpgradeManual || d.Strategy.Act.Deed.Kind != operations.Strategy || d.Strategy.Act.Deed.Validate() != nil {
		t.Errorf("%+v", d.Strategy)
	}
	mandatory := asking(true, v1beta2.ConsentHub)
	mandatory.module.Mandatory = true
	d = moduleDetail{}
	if d.consent(mandatory); d.Consent != nil || d.Strategy != nil {
		t.Errorf("a mandatory module asks: %+v", d)
	}
}

func TestUnconsented_OneItemForAVersionThatWaitsInManyKymas(t *testing.T) {
	var modules []modulestatus.Module
	for i := range 3 {
		modules = append(modules, modulestatus.Module{
			Name: "notes", Kyma: fmt.Sprintf("a/k%d", i), ConsentHere: true,
			Pending: &v1beta2.PendingVersion{Version: "1.1.0", Gravest: []string{"May read every Secret of the cluster."}},
		})
	}
	modules = append(modules,
		modulestatus.Module{Name: "beacon", Kyma: "a/k0", ConsentHere: true, Pending: &v1beta2.PendingVersion{Version: "2.0.0"}},
		modulestatus.Module{Name: "beacon", Kyma: "a/k1", Pending: &v1beta2.PendingVersion{Version: "2.0.0"}}, // of another user
		modulestatus.Module{Name: "istio", Kyma: "a/k1"})
	var got []string
	for _, one := range unconsented(modules) {
		got = append(got, strings.Join([]string{one.Kind, one.Namespace, one.Kyma, one.Name, one.Message}, "|"))
	}
	want := []string{
		"Consent||a/k0|beacon|version 2.0.0 waits for your consent",
		"Consent|a||notes|version 1.1.0 waits for your consent in 3 Kymas: May read every Secret of the cluster.",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}
