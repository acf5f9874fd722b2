package operations

import (
	"slices"
	"strings"
	"testing"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

// pend lets a version of a module wait for the consent of some sides.
func (b *bench) pend(kyma, module, version, digest string, from ...v1beta2.ConsentSide) {
	b.Helper()
	found := b.read(kyma)
	found.Status = v1beta2.KymaStatus{
		State: v1beta2.StateReady, LastOperation: v1beta2.LastOperation{Operation: "x"}, ObservedGeneration: found.Generation,
		Modules: []v1beta2.ModuleStatus{{
			Name: module, Version: "1.0.0", State: v1beta2.StateReady, Message: "version " + version + " waits for consent",
			Pending: &v1beta2.PendingVersion{Version: version, Digest: digest, From: from, Gravest: []string{"May read every Secret of the cluster."}},
		}},
	}
	if err := b.Status().Update(b.Context(), found); err != nil {
		b.Fatal(err)
	}
}

func TestApprove(t *testing.T) {
	b := newBench(t)
	kyma := b.kyma("asks", v1beta2.Module{Name: b.notes, Channel: "fast"})
	b.pend(kyma, b.notes, "1.1.0", someDigest, v1beta2.ConsentHub)
	admin, reference := b.admin(), "1.1.0@"+someDigest
	approve := Request{Kind: Approve, Kyma: kyma, Module: b.notes, Target: reference}

	preview := b.previews(admin, approve)
	shown := slices.ContainsFunc(preview.Diff, func(c Change) bool {
		return slices.ContainsFunc(c.Fields, func(f Field) bool {
			return strings.Contains(f.Path+f.To, "approved") && strings.Contains(f.To, reference)
		})
	})
	if preview.Refused != "" || !shown || !strings.Contains(preview.Why, someDigest) || b.read(kyma).Spec.Modules[0].Approved != "" {
		t.Errorf("%+v", preview)
	}
	other := approve
	other.Target = "1.1.0@sha256:" + strings.Repeat("1", 64)
	b.refused(admin, other, WhyBusy, "changed meanwhile")
	other.Target = "1.1.0"
	b.refused(admin, other, WhyInvalid, "version and digest")
	b.refused(admin, Request{Kind: Approve, Kyma: kyma, Module: b.beacon, Target: reference}, WhyNotFound, "has no module")
	b.refused(b.user("without-rights-"+b.namespace), approve, WhyForbidden, "lacks the permission")

	op, err := b.engine.Start(t.Context(), admin, approve)
	if err != nil || op.Title != "Approve "+b.notes+" 1.1.0 in "+kyma {
		t.Fatalf("%+v: %v", op, err)
	}
	written := func(op Operation) bool { return op.Steps[0].State == StepDone }
	if _, err := b.waits(b.engine, admin, op.ID, written); err != nil || b.read(kyma).Spec.Modules[0].Approved != reference {
		t.Fatalf("%+v: %v", b.read(kyma).Spec.Modules, err)
	}
	if _, err := b.engine.Cancel(t.Context(), admin, op.ID); err != nil { // no lifecycle manager carries it out here
		t.Error(err)
	}
	if _, err := b.waits(b.engine, admin, op.ID, func(op Operation) bool { return op.State == Cancelled }); err != nil {
		t.Fatal(err)
	}
	found := b.read(kyma)
	found.Status.Modules[0].Pending = nil
	if err := b.Status().Update(t.Context(), found); err != nil {
		t.Fatal(err)
	}
	if again := b.previews(admin, approve); again.Refused != "" {
		t.Errorf("what was written before cannot be resumed: %+v", again)
	}
}

func TestApprove_TellsWhoElseMustAgree(t *testing.T) {
	b := newBench(t)
	admin := b.admin()
	remote := true
	kyma := &v1beta2.Kyma{Spec: v1beta2.KymaSpec{Channel: "regular", Remote: &remote, Modules: []v1beta2.Module{{Name: b.notes, Channel: "fast"}}}}
	kyma.Namespace, kyma.Name = b.namespace, "far"
	b.create(kyma)
	far := b.namespace + "/far"
	approve := Request{Kind: Approve, Kyma: far, Module: b.notes, Target: "1.1.0@" + someDigest}

	b.pend(far, b.notes, "1.1.0", someDigest, v1beta2.ConsentRuntime)
	b.refused(admin, approve, WhyRefused, "the user of the runtime must agree")
	b.pend(far, b.notes, "1.1.0", someDigest, v1beta2.ConsentHub, v1beta2.ConsentRuntime)
	preview := b.previews(admin, approve)
	if preview.Refused != "" || len(preview.Warnings) != 1 || !strings.Contains(preview.Warnings[0], "the user of the runtime must agree, too") {
		t.Errorf("%+v", preview)
	}
	if op := b.succeeds(admin, approve); len(op.Steps) != 1 {
		t.Errorf("it waits for what others decide: %+v", op.Steps)
	}
}

func TestStrategy(t *testing.T) {
	b := newBench(t)
	kyma := b.kyma("cautious", v1beta2.Module{Name: b.notes})
	admin := b.admin()
	b.refused(admin, Request{Kind: Strategy, Kyma: kyma, Module: b.notes}, WhyInvalid, "strategy is missing")
	b.refused(admin, Request{Kind: Strategy, Kyma: kyma, Module: b.notes, Strategy: "Sometimes"}, WhyInvalid, "Sometimes")
	b.refused(admin, Request{Kind: Strategy, Kyma: kyma, Module: b.beacon, Strategy: v1beta2.UpgradeManual}, WhyNotFound, "has no module")
	op := b.succeeds(admin, Request{Kind: Strategy, Kyma: kyma, Module: b.notes, Strategy: v1beta2.UpgradeManual})
	if is := b.read(kyma).Spec.Modules[0]; is.UpgradeStrategy != v1beta2.UpgradeManual || len(op.Steps) != 1 {
		t.Errorf("%+v %+v", is, op.Steps)
	}
	b.pend(kyma, b.notes, "1.1.0", someDigest, v1beta2.ConsentHub)
	preview := b.previews(admin, Request{Kind: Strategy, Kyma: kyma, Module: b.notes, Strategy: v1beta2.UpgradeAutomatic})
	if len(preview.Warnings) != 1 || !strings.Contains(preview.Warnings[0], "1.1.0 waits for consent") {
		t.Errorf("%+v", preview)
	}
}

func TestAdd_AModuleCanAskBeforeEachVersion(t *testing.T) {
	b := newBench(t)
	kyma := b.kyma("asking")
	b.manages()
	b.succeeds(b.admin(), Request{Kind: Add, Kyma: kyma, Modules: []Wanted{{Name: b.notes, Strategy: v1beta2.UpgradeManual}}})
	if is := b.read(kyma).Spec.Modules[0]; is.UpgradeStrategy != v1beta2.UpgradeManual {
		t.Errorf("%+v", is)
	}
}
