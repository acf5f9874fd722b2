package operations

import (
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/module/revision"
)

// history gives a module of a Kyma a Manifest that asks for 1.1.0 and had 1.0.0 before, and returns the references of both.
func (b *bench) history(kyma, module string) (before, now string) {
	b.Helper()
	_, name, _ := strings.Cut(kyma, "/")
	manifest := &v1beta2.Manifest{ObjectMeta: metav1.ObjectMeta{Namespace: b.namespace, Name: name + "-" + module, Labels: map[string]string{
		v1beta2.LabelKymaName: name, v1beta2.LabelModuleName: module,
	}}}
	spec := func(version string) v1beta2.ManifestSpec {
		made := v1beta2.ManifestSpec{Version: version}
		made.Install.Source.Raw = []byte(`{"name":"` + version + `"}`)
		return made
	}
	manifest.Spec = spec("1.1.0")
	b.create(manifest)
	earlier := spec("1.0.0")
	for number, key := range []revision.Key{revision.Of(&earlier), revision.Of(&manifest.Spec)} {
		manifest.Status.Revisions = append(manifest.Status.Revisions, v1beta2.Revision{
			Number: int64(number + 1), Version: key.Version, Digest: key.Digest, Template: key.Template, At: metav1.Now(), Outcome: v1beta2.RevisionSucceeded,
		})
	}
	manifest.Status.State = v1beta2.StateReady
	if err := b.Status().Update(b.Context(), manifest); err != nil {
		b.Fatal(err)
	}
	found := b.read(kyma)
	found.Status = v1beta2.KymaStatus{
		State: v1beta2.StateReady, LastOperation: v1beta2.LastOperation{Operation: "x"}, ObservedGeneration: found.Generation,
		Modules: []v1beta2.ModuleStatus{{
			Name: module, Version: "1.1.0", State: v1beta2.StateReady,
			Manifest: &v1beta2.TrackingObject{PartialMeta: v1beta2.PartialMeta{Namespace: manifest.Namespace, Name: manifest.Name}},
		}},
	}
	if err := b.Status().Update(b.Context(), found); err != nil {
		b.Fatal(err)
	}
	return revision.ReferenceOf(manifest.Status.Revisions[0]), revision.ReferenceOf(manifest.Status.Revisions[1])
}

func TestBackAndRetry(t *testing.T) {
	b := newBench(t)
	kyma := b.kyma("returns", v1beta2.Module{Name: b.notes, Channel: "fast"})
	_, now := b.history(kyma, b.notes)
	admin := b.admin()
	back := Request{Kind: Back, Kyma: kyma, Module: b.notes, Target: now, Version: "1.0.0"}

	preview := b.previews(admin, back)
	fields := slices.ContainsFunc(preview.Diff, func(c Change) bool {
		return slices.ContainsFunc(c.Fields, func(f Field) bool { return strings.Contains(f.Path+f.To, "avoid") && strings.Contains(f.To, now) })
	})
	if preview.Confirm != b.notes || len(preview.Warnings) != 1 || !fields || b.read(kyma).Spec.Modules[0].Avoid != "" {
		t.Errorf("%+v", preview)
	}
	b.refused(admin, back, WhyConfirm, "type")
	other := back
	other.Target = "1.2.0@" + someDigest
	b.refused(admin, other, WhyBusy, "would leave "+now)
	other = back
	other.Version = "0.9.0"
	b.refused(admin, other, WhyBusy, "leads to 1.0.0")
	b.refused(admin, Request{Kind: Retry, Kyma: kyma, Module: b.notes}, WhyRefused, "nothing to try again")
	b.refused(admin, Request{Kind: Retry, Kyma: kyma, Module: b.beacon}, WhyNotFound, "has no module")
	none := b.kyma("young", v1beta2.Module{Name: b.notes})
	b.refused(admin, Request{Kind: Back, Kyma: none, Module: b.notes, Target: now, Version: "1.0.0"}, WhyRefused, "no history")
	b.refused(b.user("without-rights-"+b.namespace), back, WhyForbidden, "lacks the permission")

	back.Confirmation = b.notes
	op, err := b.engine.Start(t.Context(), admin, back)
	if err != nil || op.Title != "Go back to "+b.notes+" 1.0.0 in "+kyma {
		t.Fatalf("%+v: %v", op, err)
	}
	written := func(op Operation) bool { return op.Steps[0].State == StepDone }
	if _, err := b.waits(b.engine, admin, op.ID, written); err != nil || b.read(kyma).Spec.Modules[0].Avoid != now {
		t.Fatalf("%+v: %v", b.read(kyma).Spec.Modules, err)
	}
	if _, err := b.engine.Cancel(t.Context(), admin, op.ID); err != nil { // no lifecycle manager carries it out here
		t.Error(err)
	}
	if _, err := b.waits(b.engine, admin, op.ID, func(op Operation) bool { return op.State == Cancelled }); err != nil {
		t.Fatal(err)
	}
	if preview := b.previews(admin, Request{Kind: Retry, Kyma: kyma, Module: b.notes}); len(preview.Diff) != 1 || preview.Why == "" {
		t.Errorf("retry: %+v", preview)
	}
}
