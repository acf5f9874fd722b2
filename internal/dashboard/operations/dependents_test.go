package operations

import (
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

// needing lets a version of a module need another module.
func (b *bench) needing(module, version, other string) {
	b.Helper()
	template := &v1beta2.ModuleTemplate{}
	if err := b.Get(b.Context(), client.ObjectKey{Namespace: b.namespace, Name: module + "-" + version}, template); err != nil {
		b.Fatal(err)
	}
	template.Spec.Requires = []v1beta2.Requirement{{Module: other, Version: ">=0.1"}}
	if err := b.Update(b.Context(), template); err != nil {
		b.Fatal(err)
	}
}

func TestDelete_AModuleThatOthersNeedGoesWithThemOrStays(t *testing.T) {
	b := newBench(t)
	b.needing(b.notes, "1.0.0", b.beacon)
	kyma := b.kyma("leans", v1beta2.Module{Name: b.notes}, v1beta2.Module{Name: b.beacon, Channel: "fast"})
	b.manages()
	admin := b.admin()
	alone := Request{Kind: Delete, Kyma: kyma, Module: b.beacon}

	preview := b.previews(admin, alone)
	if !strings.Contains(preview.Refused, b.notes+" needs it") || len(preview.Dependents) != 1 || preview.Dependents[0].Module != b.notes ||
		preview.Dependents[0].Needs != b.beacon+" >=0.1" {
		t.Errorf("%+v", preview)
	}
	b.refused(admin, alone, WhyBlocked, b.notes+" needs it")
	other := Request{Kind: Delete, Kyma: kyma, Module: b.notes, With: []string{b.beacon}}
	b.refused(admin, other, WhyBusy, "does not need")
	if got := b.entries(kyma); got != "notes beacon:fast" {
		t.Fatalf("the Kyma has %s", got)
	}

	both := Request{Kind: Delete, Kyma: kyma, Module: b.beacon, With: []string{b.notes}}
	if preview := b.previews(admin, both); preview.Refused != "" || len(preview.Dependents) != 1 {
		t.Errorf("%+v", preview)
	}
	op := b.succeeds(admin, both)
	if got := b.entries(kyma); got != "" || op.Title != "Delete "+b.notes+", "+b.beacon+" in "+kyma {
		t.Errorf("%s: the Kyma has %s", op.Title, got)
	}
	if again := b.previews(admin, both); again.Refused != "" {
		t.Errorf("it cannot be repeated: %+v", again)
	}
	if !slices.Equal(both.about(nil), []subject{{kyma: kyma, module: b.beacon}, {kyma: kyma, module: b.notes}}) {
		t.Errorf("another operation could change a module that leaves along: %+v", both.about(nil))
	}
}

func TestDelete_WhatNothingNeedsIsNotHeld(t *testing.T) {
	b := newBench(t)
	b.needing(b.notes, "1.0.0", b.beacon)
	kyma := b.kyma("stands", v1beta2.Module{Name: b.notes}, v1beta2.Module{Name: b.beacon, Channel: "fast"})
	b.manages()
	b.succeeds(b.admin(), Request{Kind: Delete, Kyma: kyma, Module: b.notes})
	if got := b.entries(kyma); got != "beacon:fast" {
		t.Errorf("the Kyma has %s", got)
	}
}

func TestPromote_AVersionThatNoKymaCouldInstallMustBeTyped(t *testing.T) {
	b := newBench(t)
	b.needing(b.notes, "1.2.0", "absent")
	admin := b.admin()
	promote := Request{Kind: Promote, Release: b.namespace + "/" + b.notes, Channel: "fast", Version: "1.2.0"}
	preview := b.previews(admin, promote)
	if preview.Confirm != b.notes || len(preview.Warnings) != 1 || !strings.Contains(preview.Warnings[0], "it needs module absent") {
		t.Errorf("%+v", preview)
	}
	b.refused(admin, promote, WhyConfirm, "would wait")
	promote.Confirmation = b.notes
	b.succeeds(admin, promote)

	b.needing(b.notes, "1.1.0", b.beacon)
	promote = Request{Kind: Promote, Release: b.namespace + "/" + b.notes, Channel: "slow", Version: "1.1.0"}
	if preview := b.previews(admin, promote); preview.Confirm != "" || len(preview.Warnings) != 0 {
		t.Errorf("what can be had is held against it: %+v", preview)
	}
}
