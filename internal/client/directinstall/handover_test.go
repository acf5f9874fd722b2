package directinstall_test

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/client/directinstall"
	"github.com/kyma-project/lifecycle-manager/pkg/apply"
	"github.com/kyma-project/lifecycle-manager/pkg/installer"
)

func (f *fixture) deployment(name string) *unstructured.Unstructured {
	f.Helper()
	return f.find("apps/v1", "Deployment", system, name)
}

// kept checks that a Deployment is the same, and that its pods were not replaced: nothing of its spec changed. Its generation counts the
// changes of its owner mark all the same, because an API server counts changes of a Deployment's annotations, which its ReplicaSets inherit.
func (f *fixture) kept(before *unstructured.Unstructured, marks int64) {
	f.Helper()
	after := f.deployment(before.GetName())
	if after == nil || after.GetUID() != before.GetUID() {
		f.Fatalf("Deployment %s was replaced: %v", before.GetName(), after)
	}
	if diff := cmp.Diff(before.Object["spec"], after.Object["spec"]); diff != "" {
		f.Errorf("Deployment %s changed: %s", before.GetName(), diff)
	}
	if changes := after.GetGeneration() - before.GetGeneration(); changes != marks {
		f.Errorf("Deployment %s changed %d times, and its mark %d times", before.GetName(), changes, marks)
	}
}

// applies creates objects as `kubectl apply` does.
func (f *fixture) applies(texts ...string) {
	f.Helper()
	if f.find("v1", "Namespace", "", system) == nil {
		f.create("{apiVersion: v1, kind: Namespace, metadata: {name: " + system + "}}")
	}
	for _, text := range texts {
		made := object(strings.TrimPrefix(text, "---\n"))
		f.must(f.other.Create(f.Context(), made, client.FieldOwner("kubectl-client-side-apply")))
	}
}

// By kubectl, directly, by kubectl again: the Deployment is the same all the time.
func TestAdopt_AModuleGoesFromKubectlAndBack(t *testing.T) {
	f := onCluster(t)
	content := deployment("hands-manager", "example.com/hands:0.1.0") + configMap("hands-a", "1")
	f.applies(deployment("hands-manager", "example.com/hands:0.1.0"), configMap("hands-a", "1"))
	before := f.deployment("hands-manager")
	plan := f.plan("hands", "0.1.0", content)

	report, err := directinstall.Install(t.Context(), plan)
	f.reason(report, err, directinstall.ReasonOwnershipConflict, "hands-manager", "hands-a", "carries no owner mark")
	if f.listed("hands") != nil {
		t.Fatal("a refused installation has a record")
	}

	plan.Adopt, plan.DryRun = true, true
	if n := f.writes(func(config *rest.Config) {
		plan.Config = config
		report, err = directinstall.Install(t.Context(), plan)
		f.must(err)
	}); n != 0 || f.listed("hands") != nil {
		t.Fatalf("a dry run writes %d times", n)
	}
	taken := 0
	for _, difference := range report.Differences {
		if difference.Change == apply.ChangeUpdate && strings.Contains(difference.Note, "taken over") && len(difference.Fields) > 0 {
			taken++
		}
	}
	if taken != 2 {
		t.Errorf("the preview says %+v", report.Differences)
	}

	plan.DryRun, plan.Config = false, f.config
	f.installs(plan)
	f.kept(before, 1)
	if n := f.writes(func(config *rest.Config) { plan.Config = config; f.installs(plan) }); n != 0 {
		t.Errorf("the same again writes %d times", n)
	}

	removal := f.removal("hands")
	removal.Keep, removal.DryRun = true, true
	report, err = directinstall.Delete(t.Context(), removal)
	f.must(err)
	for _, object := range report.Objects {
		if object.Action != apply.Kept {
			t.Errorf("the preview says %+v", object)
		}
	}
	removal.DryRun = false
	f.deletes(removal)
	f.kept(before, 2)
	if live := f.deployment("hands-manager"); live.GetAnnotations()[installer.DefaultOwnerKey] != "" || f.listed("hands") != nil {
		t.Errorf("annotations %v, record %v", live.GetAnnotations(), f.listed("hands"))
	}
	if report := f.deletes(f.removal("hands")); report.Reason != directinstall.ReasonNotInstalled || f.configMap("hands-a") == nil {
		t.Errorf("what was let go of is deleted: %+v", report)
	}
}

// What a Kyma has is not taken, and what it let go of is.
func TestAdopt_AManifestLetsGoFirst(t *testing.T) {
	f := onCluster(t)
	f.applies(deployment("given-manager", "example.com/given:0.1.0"))
	live := f.deployment("given-manager")
	f.patch(live, "metadata: {labels: {"+v1beta2.LabelManagedBy+": kyma}, annotations: {"+v1beta2.AnnotationOwnedBy+": kcp-system/demo-given}}")
	before := f.deployment("given-manager")
	plan := f.plan("given", "0.1.0", deployment("given-manager", "example.com/given:0.1.0"))
	plan.Adopt = true
	report, err := directinstall.Install(t.Context(), plan)
	f.reason(report, err, directinstall.ReasonOwnershipConflict, "kcp-system/demo-given", "--keep-resources")
	f.patch(f.deployment("given-manager"), "metadata: {labels: {"+v1beta2.LabelManagedBy+": null}}")
	f.installs(plan)
	f.kept(before, 1)
	f.deletes(f.removal("given"))
}

// A deletion does not follow letting go that was interrupted, nor the other way round.
func TestKeep_IsContinuedByNothingElse(t *testing.T) {
	f := onCluster(t)
	plan := f.plan("parting", "0.1.0", configMap("parting-a", "1")+configMap("parting-b", "1"))
	f.installs(plan)
	removal := f.removal("parting")
	removal.Keep = true
	ctx, kill := context.WithCancel(t.Context())
	defer kill()
	process := &mortal{at: 2, end: kill} // the note in the record is the first write
	removal.Config = process.config(f.config)
	if _, err := directinstall.Delete(ctx, removal); err == nil {
		t.Fatal("it was not interrupted")
	}
	report, err := directinstall.Delete(t.Context(), f.removal("parting"))
	f.reason(report, err, directinstall.ReasonBeingDeleted, "letting go of it again")
	report, err = directinstall.Install(t.Context(), plan)
	f.reason(report, err, directinstall.ReasonBeingDeleted, "letting go of it again")
	removal.Config = f.config
	f.deletes(removal)
	if f.configMap("parting-a") == nil || f.configMap("parting-b") == nil || f.listed("parting") != nil {
		t.Error("something is gone, or the record is left")
	}
}
