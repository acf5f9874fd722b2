package hubcontent_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/client/hubcontent"
	"github.com/kyma-project/lifecycle-manager/internal/module/rollout"
)

func TestImport_RestoresALostHubWithItsStatus(t *testing.T) {
	h := filled(t, "restored")
	before := read(h, "demo-notes", &v1beta2.Manifest{})
	content := h.export()
	h.lose()
	every(t, h.restore(content, hubcontent.ImportOptions{TakeOver: "former"}), hubcontent.Created,
		map[string]hubcontent.Action{"Namespace ": hubcontent.Unchanged})

	kyma := read(h, "demo", &v1beta2.Kyma{})
	if suspended(kyma) || len(kyma.Annotations) != 1 || kyma.Annotations[v1beta2.AnnotationTakeOverFrom] != "former" {
		t.Errorf("the Kyma has %v %v", kyma.Labels, kyma.Annotations)
	}
	if kyma.Status.RuntimeID != "runtime-1" || kyma.Status.ObservedGeneration != kyma.Generation || len(kyma.Finalizers) > 0 {
		t.Errorf("the Kyma has %v and status %+v", kyma.Finalizers, kyma.Status)
	}
	manifest := read(h, "demo-notes", &v1beta2.Manifest{})
	if !metav1.IsControlledBy(manifest, kyma) || manifest.UID == before.UID || suspended(manifest) {
		t.Errorf("the Manifest has %v %v", manifest.OwnerReferences, manifest.Labels)
	}
	s := manifest.Status
	if s.AppliedGeneration != manifest.Generation || !slices.Equal(s.Synced, before.Status.Synced) || len(s.Revisions) != 1 {
		t.Errorf("the Manifest has status %+v", s)
	}
	if fields := manifest.ManagedFields; !slices.ContainsFunc(fields, func(f metav1.ManagedFieldsEntry) bool {
		return f.Manager == v1beta2.FieldManagerHub && f.Operation == metav1.ManagedFieldsOperationApply
	}) {
		t.Errorf("the manager could not remove fields of the Manifest: %v", fields)
	}
	shard := read(h, "demo-notes.inventory.1", &corev1.Secret{})
	if !metav1.IsControlledBy(shard, manifest) || shard.Labels[v1beta2.LabelInventory] != string(manifest.UID) {
		t.Errorf("the inventory has %v %v", shard.OwnerReferences, shard.Labels)
	}
	if secret := read(h, "demo", &corev1.Secret{}); string(secret.Data["config"]) != secretText {
		t.Errorf("the access Secret has %d keys", len(secret.Data))
	}
	its := read(h, "notes", &v1beta2.ModuleRollout{})
	channel := its.Status.Channels[0]
	if !slices.Equal(channel.Underway, []string{rollout.Prefix(string(kyma.UID))}) || channel.Waves[0].Total != 1 || suspended(its) {
		t.Errorf("the rollout has %v and %+v", its.Labels, its.Status)
	}
	if release := read(h, "notes", &v1beta2.ModuleReleaseMeta{}); release.Annotations[v1beta2.AnnotationRollout] != string(its.UID) {
		t.Errorf("the release has %v", release.Annotations)
	}

	counted, writes := h.counted()
	done, err := hubcontent.Import(t.Context(), counted, content, hubcontent.ImportOptions{TakeOver: "former"})
	if err != nil || writes.Load() != 0 {
		t.Errorf("the second import sent %d writes: %v", writes.Load(), err)
	}
	every(t, actions(done), hubcontent.Unchanged, map[string]hubcontent.Action{
		"Manifest ": hubcontent.Kept, "Secret demo-notes.inventory": hubcontent.Kept,
	})
}

func TestExport_ContainsWhatSomethingDependsOn(t *testing.T) {
	h := filled(t, "contained")
	var names []string
	for _, o := range h.export().Objects {
		names = append(names, o.GetKind()+" "+o.GetName())
		if o.GetUID() != "" || o.GetResourceVersion() != "" || len(o.GetOwnerReferences())+len(o.GetFinalizers())+len(o.GetManagedFields()) > 0 {
			t.Errorf("%s has metadata of the cluster", o.GetName())
		}
	}
	want := []string{
		"Namespace contained", "ConfigMap files", "ConfigMap values", "Secret demo", "Secret login", "ModuleTemplate notes-1.0.0",
		"ModuleRollout notes", "ModuleReleaseMeta notes", "KymaRelease 2.2", "Kyma demo", "Manifest demo-notes", "Secret demo-notes.inventory.1",
	}
	if !slices.Equal(names, want) {
		t.Errorf("got %q", names)
	}
	options := h.options()
	options.WithoutSecrets = true
	content, err := hubcontent.Export(t.Context(), h, options)
	if err != nil {
		t.Fatal(err)
	}
	text, err := hubcontent.Encode(content)
	if err != nil || strings.Contains(string(text), "kind: Secret\nmetadata:\n  name: login") || len(content.Objects) != len(want)-2 {
		t.Errorf("%d objects without Secrets: %v", len(content.Objects), err)
	}
}

func TestExport_LeavesOutWhatGoes(t *testing.T) {
	h := filled(t, "going")
	if err := h.Delete(t.Context(), read(h, "demo", &v1beta2.Kyma{})); err != nil {
		t.Fatal(err)
	}
	content := h.export()
	for _, o := range content.Objects {
		if o.GetKind() == "Kyma" || o.GetKind() == "Manifest" || o.GetName() == "demo" {
			t.Errorf("%s %s is exported", o.GetKind(), o.GetName())
		}
	}
	if !strings.Contains(strings.Join(content.Warnings, "\n"), "Kyma going/demo is being deleted") {
		t.Errorf("warnings: %q", content.Warnings)
	}
}

// TestImport_ContinuesAfterEachPhase cuts an import off in each phase. Until the last ones, the manager may act on nothing.
func TestImport_ContinuesAfterEachPhase(t *testing.T) {
	h := filled(t, "interrupted")
	content := h.export()
	for _, phase := range []string{
		"configmaps", "secrets", "moduletemplates", "modulerollouts", "modulereleasemetas", "kymas", "manifests", "inventories", "statuses",
		"suspension of Kymas", "suspension of rollouts",
	} {
		t.Run(phase, func(t *testing.T) {
			h.lose()
			ctx, cut := context.WithCancel(t.Context())
			_, err := hubcontent.Import(ctx, h, content, hubcontent.ImportOptions{Progress: func(now string, _, _ int) {
				if now == phase {
					cut()
				}
			}})
			if phase != "suspension of rollouts" && !errors.Is(err, context.Canceled) {
				t.Fatalf("got %v", err)
			}
			if !strings.HasPrefix(phase, "suspension") {
				allSuspended(t, h)
			}
			h.restore(content, hubcontent.ImportOptions{})
			manifest := read(h, "demo-notes", &v1beta2.Manifest{})
			if suspended(manifest) || len(manifest.Status.Revisions) != 1 || suspended(read(h, "demo", &v1beta2.Kyma{})) {
				t.Errorf("the Manifest has %v, %+v", manifest.Labels, manifest.Status)
			}
			if its := read(h, "notes", &v1beta2.ModuleRollout{}); suspended(its) || len(its.Status.Channels) != 1 {
				t.Errorf("the rollout has %v, %+v", its.Labels, its.Status)
			}
		})
	}
}

func allSuspended(t *testing.T, h *hub) {
	t.Helper()
	for _, list := range []client.ObjectList{&v1beta2.KymaList{}, &v1beta2.ManifestList{}, &v1beta2.ModuleRolloutList{}} {
		if err := h.List(t.Context(), list, client.InNamespace(h.namespace)); err != nil {
			t.Fatal(err)
		}
		for _, object := range items(list) {
			if !suspended(object) {
				t.Errorf("%s %T is not suspended", object.GetName(), object)
			}
		}
	}
}

func TestImport_LeavesSuspendedWhatWas(t *testing.T) {
	h := filled(t, "asleep")
	kyma := read(h, "demo", &v1beta2.Kyma{})
	kyma.Labels = map[string]string{v1beta2.LabelSkipReconciliation: "true"}
	if err := h.Update(t.Context(), kyma); err != nil {
		t.Fatal(err)
	}
	content := h.export()
	h.lose()
	h.restore(content, hubcontent.ImportOptions{Suspended: true})
	allSuspended(t, h)
	h.restore(content, hubcontent.ImportOptions{})
	kyma = read(h, "demo", &v1beta2.Kyma{})
	if kyma.Labels[v1beta2.LabelSkipReconciliation] != "true" || kyma.Annotations[v1beta2.AnnotationImport] != "" {
		t.Errorf("the Kyma has %v %v", kyma.Labels, kyma.Annotations)
	}
	if manifest := read(h, "demo-notes", &v1beta2.Manifest{}); manifest.Labels[v1beta2.LabelSkipReconciliation] != "" {
		t.Errorf("the Manifest has %v", manifest.Labels)
	}
}

func TestImport_RefusesWhatDiffers(t *testing.T) {
	h := filled(t, "different")
	content := h.export()
	secret, kyma := read(h, "demo", &corev1.Secret{}), read(h, "demo", &v1beta2.Kyma{})
	secret.Data["config"] = []byte("another")
	kyma.Spec.Channel = "fast"
	if err := errors.Join(h.Update(t.Context(), secret), h.Update(t.Context(), kyma)); err != nil {
		t.Fatal(err)
	}
	if err := h.Delete(t.Context(), read(h, "values", &corev1.ConfigMap{})); err != nil {
		t.Fatal(err)
	}
	counted, writes := h.counted()
	_, err := hubcontent.Import(t.Context(), counted, content, hubcontent.ImportOptions{})
	var conflict *hubcontent.ConflictError
	if !errors.As(err, &conflict) || len(conflict.Items) != 2 {
		t.Fatalf("got %v", err)
	}
	text := err.Error()
	if !strings.Contains(text, "Secret different/demo (data)") || !strings.Contains(text, "Kyma different/demo (spec.channel)") ||
		strings.Contains(text, secretText) || strings.Contains(text, "another") || strings.Contains(text, "\n") {
		t.Errorf("got %v", err)
	}
	err = h.Get(t.Context(), client.ObjectKey{Namespace: h.namespace, Name: "values"}, &corev1.ConfigMap{})
	if err == nil || writes.Load() > 1 {
		t.Errorf("%d writes; one asks for defaults", writes.Load())
	}
	done := h.restore(content, hubcontent.ImportOptions{Overwrite: true})
	if done["Kyma demo"] != hubcontent.Overwritten || done["Secret demo"] != hubcontent.Overwritten ||
		done["ConfigMap values"] != hubcontent.Created {
		t.Errorf("got %v", done)
	}
	kyma = read(h, "demo", &v1beta2.Kyma{})
	if kyma.Spec.Channel != "regular" || suspended(kyma) || kyma.Status.State != v1beta2.StateReady {
		t.Errorf("the Kyma is %+v", kyma)
	}
	every(t, h.restore(content, hubcontent.ImportOptions{}), hubcontent.Unchanged, map[string]hubcontent.Action{
		"Manifest ": hubcontent.Kept, "Secret demo-notes.inventory": hubcontent.Kept,
	})
}

func TestImport_TakesOverWhereTheRuntimeIsAnotherHubs(t *testing.T) {
	h := filled(t, "claimed")
	content := h.export()
	kyma := read(h, "demo", &v1beta2.Kyma{})
	kyma.Status.Conditions = []metav1.Condition{{
		Type: v1beta2.ConditionReady, Status: metav1.ConditionFalse, Reason: v1beta2.ReasonRuntimeClaimed, LastTransitionTime: metav1.Now(),
	}}
	h.status(kyma)
	h.restore(content, hubcontent.ImportOptions{TakeOver: "former", DryRun: true})
	if kyma = read(h, "demo", &v1beta2.Kyma{}); kyma.Annotations[v1beta2.AnnotationTakeOverFrom] != "" {
		t.Error("a dry run wrote")
	}
	h.restore(content, hubcontent.ImportOptions{TakeOver: "former"})
	if kyma = read(h, "demo", &v1beta2.Kyma{}); kyma.Annotations[v1beta2.AnnotationTakeOverFrom] != "former" {
		t.Errorf("the Kyma has %v", kyma.Annotations)
	}
}

func TestImport_KeepsLocalKymasWithoutWhatTheyInstalled(t *testing.T) {
	h := newHub(t, "local")
	no := false
	kyma := &v1beta2.Kyma{ObjectMeta: h.meta("here"), Spec: v1beta2.KymaSpec{Channel: "regular", Remote: &no}}
	h.make(kyma)
	manifest := &v1beta2.Manifest{ObjectMeta: h.meta("here-notes", v1beta2.LabelKymaName, "here"), Spec: v1beta2.ManifestSpec{
		Install: v1beta2.InstallInfo{Name: "a", Source: runtime.RawExtension{Raw: []byte(`{"configMaps":[{"name":"files"}]}`)}},
	}}
	manifest.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(kyma, v1beta2.GroupVersion.WithKind("Kyma"))}
	h.make(manifest)
	content := h.export()
	for _, o := range content.Objects {
		if o.GetKind() == "Manifest" || o.GetKind() == "Kyma" && o.Object["status"] != nil {
			t.Errorf("%s %s is exported with what it installed", o.GetKind(), o.GetName())
		}
	}
	if !strings.Contains(strings.Join(content.Warnings, "\n"), "Kyma local/here installs into the hub itself") {
		t.Errorf("warnings: %q", content.Warnings)
	}
}
