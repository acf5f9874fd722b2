package kyma

import (
	"fmt"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/tools/events"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/module"
)

func TestRuntimeConsent_WhatCannotBeReadIsNotKnown(t *testing.T) {
	hub := &v1beta2.Kyma{ObjectMeta: metav1.ObjectMeta{Namespace: "kcp-system", Name: "k"}}
	says := &v1beta2.Kyma{Spec: v1beta2.KymaSpec{Modules: []v1beta2.Module{{Name: "m", UpgradeStrategy: v1beta2.UpgradeManual}}}}
	there := struct{ Runtime }{}
	for name, test := range map[string]struct {
		scope remoteScope
		known bool
		said  int
	}{
		"a local Kyma has no other side":                  {remoteScope{hub: hub}, true, 0},
		"a runtime that does not answer":                  {remoteScope{hub: hub, remote: true}, false, 0},
		"a runtime without a Kyma":                        {remoteScope{hub: hub, remote: true, runtime: there}, true, 0},
		"a Kyma that cannot be decoded":                   {remoteScope{hub: hub, remote: true, runtime: there, found: &unstructured.Unstructured{}}, false, 0},
		"a Kyma, also one whose spec is refused":          {remoteScope{hub: hub, remote: true, runtime: there, found: &unstructured.Unstructured{}, copy: says}, true, 1},
		"a connection that was just replaced":             {remoteScope{hub: hub, remote: true, copy: says}, false, 0},
		"a Kyma that was created since it was looked for": {remoteScope{hub: hub, remote: true, runtime: there, copy: says}, true, 1},
	} {
		r := &Reconciler{Now: metav1.Now}
		if said, known := r.runtimeConsent(&test.scope); known != test.known || len(said) != test.said {
			t.Errorf("%s: %v, known %v", name, said, known)
		}
	}
}

func TestRuntimeConsent_AFloodOfChangesIsNotFollowed(t *testing.T) {
	now := metav1.NewTime(time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC))
	r := &Reconciler{Now: func() metav1.Time { return now }}
	s := &remoteScope{hub: &v1beta2.Kyma{}, remote: true, runtime: struct{ Runtime }{}}
	follow := func(approved string) bool {
		s.copy, s.retry = &v1beta2.Kyma{Spec: v1beta2.KymaSpec{Modules: []v1beta2.Module{{Name: "m", Approved: approved}}}}, 0
		_, known := r.runtimeConsent(s)
		if known != (s.retry == 0) {
			t.Errorf("known %v, asked again after %s", known, s.retry)
		}
		return known
	}
	for i := range editsAtOnce + 1 {
		if !follow(fmt.Sprint(i)) {
			t.Fatalf("edit %d is not followed", i)
		}
	}
	if !follow(fmt.Sprint(editsAtOnce)) {
		t.Error("what is known is not known any more")
	}
	if follow("more") {
		t.Error("a flood is followed")
	}
	if now = metav1.NewTime(now.Add(editInterval)); !follow("more") {
		t.Error("later it is not followed either")
	}
}

func TestRecordConsent_TellsOfEachDigestOnce(t *testing.T) {
	waits := func(digest string, sides ...v1beta2.ConsentSide) *v1beta2.Kyma {
		return &v1beta2.Kyma{Status: v1beta2.KymaStatus{Modules: []v1beta2.ModuleStatus{{Name: "m",
			Pending: &v1beta2.PendingVersion{Version: "1.1.0", Digest: digest, From: sides}}}}}
	}
	const hub = v1beta2.ConsentHub
	nothing := &v1beta2.Kyma{Status: v1beta2.KymaStatus{Modules: []v1beta2.ModuleStatus{{Name: "m"}}}}
	for _, test := range []struct {
		name          string
		before, after *v1beta2.Kyma
		consent       module.Consent
		want          string
	}{
		{"a version begins to wait", nothing, waits("a", hub), module.ConsentMissing, "Normal ApprovalRequired m: version 1.1.0 waits"},
		{"of a Kyma that had no status", &v1beta2.Kyma{}, waits("a", hub), module.ConsentMissing, "Normal ApprovalRequired m: version 1.1.0 waits"},
		{"it still waits", waits("a", hub), waits("a", hub), module.ConsentMissing, ""},
		{"it was published again", waits("a", hub), waits("b", hub), module.ConsentMissing, "Normal ApprovalRequired m: version 1.1.0 waits"},
		{"one of two sides agreed", waits("a", hub, v1beta2.ConsentRuntime), waits("a", hub), module.ConsentMissing, ""},
		{"it was approved and begins", waits("a", hub), nothing, module.ConsentGiven, "Normal Approved m: version 1.1.0 has"},
		{"it was approved and waits for its window", waits("a", hub), waits("a"), module.ConsentGiven, "Normal Approved m: version 1.1.0 has"},
		{"it is forced", waits("a", hub), nothing, module.ConsentForced, "Normal ApprovalForced m: version 1.1.0 does not wait"},
		{"none is needed any more", waits("a", hub), nothing, module.ConsentNotNeeded, ""},
		{"nothing was decided", waits("a", hub), nothing, "", ""},
		{"nothing ever waited", nothing, nothing, module.ConsentNotNeeded, ""},
	} {
		recorder := events.NewFakeRecorder(3)
		r := &Reconciler{Events: recorder}
		r.recordConsent(test.after, test.before, []module.Verdict{{Module: "m", Consent: test.consent,
			Reason: v1beta2.ReasonApprovalRequired, Message: "version 1.1.0 waits"}})
		close(recorder.Events)
		got := ""
		for event := range recorder.Events {
			got += event
		}
		if !strings.HasPrefix(got, test.want) || (got == "") != (test.want == "") {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
}

func TestHasVersionWaiting(t *testing.T) {
	for name, test := range map[string]struct {
		entry v1beta2.ModuleStatus
		want  bool
	}{
		"for consent":  {v1beta2.ModuleStatus{Version: "1", Pending: &v1beta2.PendingVersion{}}, true},
		"for a window": {v1beta2.ModuleStatus{Version: "1", Maintenance: true}, true},
		"for a wave":   {v1beta2.ModuleStatus{Version: "1", Offered: "2"}, true},
		"at all":       {v1beta2.ModuleStatus{}, true},
		"for nothing":  {v1beta2.ModuleStatus{Version: "1"}, false},
	} {
		kyma := &v1beta2.Kyma{Status: v1beta2.KymaStatus{Modules: []v1beta2.ModuleStatus{{Version: "1"}, test.entry}}}
		if got := hasVersionWaiting(kyma); got != test.want {
			t.Errorf("a Kyma with a module that waits %s: %v", name, got)
		}
	}
}
