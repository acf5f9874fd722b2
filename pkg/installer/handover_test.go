package installer

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/pkg/apply"
	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

// applied creates objects as `kubectl apply` does, in the namespace of the test.
func (f *fixture) applied(manager string, texts ...string) {
	f.Helper()
	for _, text := range texts {
		made := object(strings.TrimPrefix(text, "---\n"))
		made.SetNamespace(f.namespace)
		f.must(f.other.Create(f.Context(), made, client.FieldOwner(manager)))
	}
}

// kept checks that a Deployment is the same, and that its pods were not replaced: nothing of its spec changed. Its generation counts the
// changes of its mark all the same: API servers count a change of a Deployment's annotations, since its ReplicaSets get them.
func (f *fixture) kept(before *unstructured.Unstructured, marks int64) {
	f.Helper()
	after := f.get("apps/v1", "Deployment", before.GetName())
	if after.GetUID() != before.GetUID() {
		f.Errorf("Deployment %s was replaced", before.GetName())
	}
	if diff := cmp.Diff(before.Object["spec"], after.Object["spec"]); diff != "" {
		f.Errorf("Deployment %s changed: %s", before.GetName(), diff)
	}
	if changes := after.GetGeneration() - before.GetGeneration(); changes != marks {
		f.Errorf("Deployment %s changed %d times, and its mark %d times", before.GetName(), changes, marks)
	}
}

func TestInstall_TakesOverWhatKubectlApplied(t *testing.T) {
	f := onServer(t)
	f.applied("kubectl-client-side-apply", deployment("main"), configMap("config", "a=1", "old=1"))
	f.runs("main")
	before := f.get("apps/v1", "Deployment", "main")
	inst := f.installation(deployment("main") + configMap("config", "a=1"))
	report, err := Install(t.Context(), inst)
	f.reason(report, err, string(apply.ClassOwnershipConflict))

	inst.Ownership = apply.AdoptIfUnowned
	differences, err := Diff(t.Context(), inst)
	f.must(err)
	for _, difference := range differences {
		if difference.Change != apply.ChangeUpdate || difference.Note == "" {
			t.Errorf("%+v", difference)
		}
	}
	report = f.alive(inst, "main")
	f.equal("done", actions(report), []string{"ConfigMap config: Adopted", "Deployment main: Adopted"})
	f.kept(before, 1)
	if live := f.get("v1", "ConfigMap", "config"); live.Object["data"].(map[string]any)["old"] != nil {
		t.Errorf("what the installation does not declare stays: %v", live.Object["data"])
	}
	since := f.counter.Snapshot()
	f.installs(inst)
	f.equal("a second call", f.writes(since), nil)
}

func TestDisown_KeepsEverythingButMarkAndRecord(t *testing.T) {
	f := onServer(t)
	definition := f.definition("Widget", "size: {type: integer}")
	inst := f.installation(deployment("main") + configMap("config", "a=1"))
	inst.CRDs = []*unstructured.Unstructured{definition}
	inst.CustomResources = []*unstructured.Unstructured{f.customResource("Widget", "first", "size: 1")}
	f.alive(inst, "main")
	before := f.get("apps/v1", "Deployment", "main")

	since := f.counter.Snapshot()
	report, err := Disown(t.Context(), inst)
	f.must(err)
	if !report.Ready || report.State != StateGone {
		t.Errorf("%s", pretty(report))
	}
	f.equal("writes", f.writes(since), []string{
		"1 delete secrets", "1 patch configmaps", "1 patch customresourcedefinitions.apiextensions.k8s.io", "1 patch deployments.apps",
		"1 patch widgets." + f.namespace + ".example.com",
	})
	f.kept(before, 1)
	for _, live := range []*unstructured.Unstructured{
		f.get("v1", "ConfigMap", "config"), f.get("apps/v1", "Deployment", "main"), f.findCustom("Widget", "first"),
	} {
		if live == nil || live.GetAnnotations()[DefaultOwnerKey] != "" {
			t.Errorf("left as %v", live)
		}
	}
	if names := f.records(); len(names) > 0 {
		t.Errorf("records %v", names)
	}
	since = f.counter.Snapshot()
	if report, err = Disown(t.Context(), inst); err != nil || !report.Ready {
		t.Errorf("%v %s", err, pretty(report))
	}
	f.equal("a second call", f.writes(since), nil)

	inst.Ownership = apply.AdoptIfUnowned
	f.alive(inst, "main")
	f.kept(before, 2)
	if left := f.findCustom("Widget", "first"); left.GetAnnotations()[DefaultOwnerKey] != "" {
		t.Error("a custom resource that is there was changed")
	}
}

// alive installs, while the Deployment becomes available, and returns what the first call did.
func (f *fixture) alive(inst Installation, name string) Report {
	f.Helper()
	report, err := Install(f.Context(), inst)
	f.must(err)
	f.runs(name)
	f.installs(inst)
	return report
}

// A process that dies after any of its calls leaves a record, until nothing is marked any more.
func TestDisown_IsContinuedAfterACrash(t *testing.T) {
	f := onServer(t)
	inst := f.installation(configMap("a") + configMap("b") + configMap("c"))
	for at := int64(1); ; at++ {
		inst.Ownership = apply.AdoptIfUnowned
		f.installs(inst)
		ctx, kill := context.WithCancel(t.Context())
		var writes atomic.Int64
		f.loses = func(request *http.Request) bool {
			if (request.Method == http.MethodPatch || request.Method == http.MethodDelete) && writes.Add(1) == at {
				kill()
			}
			return writes.Load() >= at
		}
		_, err := Disown(ctx, inst)
		f.loses = nil
		kill()
		if err == nil {
			break
		}
		left := 0
		for _, name := range []string{"a", "b", "c"} {
			if f.get("v1", "ConfigMap", name).GetAnnotations()[DefaultOwnerKey] != "" {
				left++
			}
		}
		if left > 0 && len(f.records()) == 0 {
			t.Fatalf("after %d writes %d objects are marked, and no record knows of them", at, left)
		}
		if _, err := Disown(t.Context(), inst); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"a", "b", "c"} {
			if f.get("v1", "ConfigMap", name).GetAnnotations()[DefaultOwnerKey] != "" {
				t.Errorf("after %d writes and a second call %s is marked", at, name)
			}
		}
		if at > 10 {
			t.Fatal("no end of writes")
		}
	}
}

func TestDisown_HandsOverToTheSuccessor(t *testing.T) {
	f := onServer(t)
	inst := f.installation(configMap("shared") + configMap("own"))
	f.installs(inst)
	inst.Successor = func(id inventory.ID) string {
		if id.Name == "shared" {
			return "other/one"
		}
		return ""
	}
	if _, err := Disown(t.Context(), inst); err != nil {
		t.Fatal(err)
	}
	marks := []string{
		f.get("v1", "ConfigMap", "shared").GetAnnotations()[DefaultOwnerKey], f.get("v1", "ConfigMap", "own").GetAnnotations()[DefaultOwnerKey],
	}
	if !slices.Equal(marks, []string{"other/one", ""}) {
		t.Errorf("the marks are %q", marks)
	}
}

// To the hooks of a chart, a release that is taken over was installed before.
func TestInstall_RunsNoHooksOfAnInstallationForWhatItTakesOver(t *testing.T) {
	for name, exists := range map[string]bool{"taken over": true, "installed": false} {
		t.Run(name, func(t *testing.T) {
			f := onServer(t)
			if exists {
				f.applied("helm", deployment("main"))
				f.runs("main")
			}
			inst := f.chart(deployment("main"), jobAt("first", "pre-install"), configMap("note"))
			inst.Ownership = apply.AdoptIfUnowned
			if _, err := Install(t.Context(), inst); err != nil {
				t.Fatal(err)
			}
			ran := f.find("batch/v1", "Job", f.namespace, "first") != nil
			if ran == exists || f.has("note") != exists {
				t.Errorf("the hook ran: %t, and what follows it was installed: %t", ran, f.has("note"))
			}
		})
	}
}
