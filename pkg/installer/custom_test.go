package installer

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/pkg/apply"
)

// withCustom returns an installation of a definition, a Deployment and one custom resource.
func (f *fixture) withCustom() Installation {
	inst := f.installation(deployment("operator"))
	inst.CRDs = []*unstructured.Unstructured{f.definition("Sample", "size: {type: integer}")}
	inst.CustomResources = []*unstructured.Unstructured{f.customResource("Sample", "default", "size: 1")}
	return inst
}

// An API server holds a create of a kind back for two seconds when it is as young as this one.
func TestCustomResourcesOfANewKindAreNotCreatedByPOST(t *testing.T) {
	f := onServer(t)
	inst := f.installation(pretty(f.customResource("Sample", "first", "size: 1").Object))
	inst.CRDs = []*unstructured.Unstructured{f.definition("Sample", "size: {type: integer}")}
	inst.CustomResources = []*unstructured.Unstructured{f.customResource("Sample", "default", "size: 1")}
	before := f.counter.Snapshot()
	f.equal("installed", actions(f.installs(inst))[1:], []string{"Sample first: Created", "Sample default: Created"})
	custom := slices.DeleteFunc(f.writes(before), func(call string) bool { return !strings.Contains(call, "samples") })
	f.equal("writes", custom, []string{"2 patch samples." + f.namespace + ".example.com"})
}

func TestCustomResourcesAreCreatedOnceAndLast(t *testing.T) {
	f := onServer(t)
	inst := f.withCustom()
	report, err := Install(t.Context(), inst)
	if err != nil || report.Reason != ReasonWaitingForInstall || !strings.HasPrefix(report.Message, "CustomResources waits for Deployment.apps") {
		t.Fatalf("%v\n%s", err, pretty(report))
	}
	if f.findCustom("Sample", "default") != nil {
		t.Error("it was created before its operator ran")
	}
	f.runs("operator")
	f.equal("installed", actions(f.installs(inst))[2:], []string{"Sample default: Created"})

	f.edit(f.findCustom("Sample", "default"), "spec: {size: 2}")
	inst.CustomResources = []*unstructured.Unstructured{f.customResource("Sample", "default", "size: 3")}
	before := f.counter.Snapshot()
	f.equal("again", actions(f.installs(inst))[2:], []string{"Sample default: Unchanged"})
	f.equal("writes", f.writes(before), nil)
	size, _, _ := unstructured.NestedInt64(f.findCustom("Sample", "default").Object, "spec", "size")
	if size != 2 {
		t.Errorf("size is %d, a person made it 2", size)
	}

	f.edit(f.findCustom("Sample", "default"), "status: {state: Processing}")
	live := f.findCustom("Sample", "default")
	live.Object["status"] = map[string]any{"state": "Processing"}
	f.must(f.other.Status().Update(t.Context(), live))
	if report, err = Check(t.Context(), inst); err != nil || report.Ready || report.Reason != ReasonNotReady {
		t.Errorf("while it says Processing: %v\n%s", err, pretty(report))
	}
	f.remove(live)
	if report = f.installs(inst); f.findCustom("Sample", "default") != nil || report.Objects[2].Message != "is not there" {
		t.Errorf("it was made again\n%s", pretty(report))
	}
}

func TestUninstallDeletesCustomResourcesFirstAndWaits(t *testing.T) {
	f := onServer(t)
	inst := f.withCustom()
	_, err := Install(t.Context(), inst)
	f.must(err)
	f.runs("operator")
	f.installs(inst)
	f.edit(f.findCustom("Sample", "default"), "metadata: {finalizers: [example.com/hold], annotations: {"+DefaultOwnerKey+": null}}")

	report, err := Uninstall(t.Context(), inst)
	if err != nil || report.Ready || report.State != StateDeleting || report.Reason != ReasonWaitingForDeletion {
		t.Errorf("%v\n%s", err, pretty(report))
	}
	if f.find("apps/v1", "Deployment", f.namespace, "operator") == nil {
		t.Error("the operator went before its custom resource")
	}
	inst.Wait = 30 * time.Second
	done := make(chan struct{})
	go func() {
		defer close(done)
		f.edit(f.findCustom("Sample", "default"), "metadata: {finalizers: null}")
	}()
	start := time.Now()
	report, err = Uninstall(t.Context(), inst)
	<-done
	if err != nil || !report.Ready || f.find("apps/v1", "Deployment", f.namespace, "operator") != nil {
		t.Errorf("after %s: %v\n%s", time.Since(start), err, pretty(report))
	}
	f.equal("records", f.records(), nil)
}

// What an upgrade drops goes in the order of a deletion: the operator must let go of its custom resource first.
func TestPruneStopsWhereFinalizersHold(t *testing.T) {
	f := onServer(t)
	const held = "---\napiVersion: v1\nkind: Secret\nmetadata: {name: held, finalizers: [example.com/hold]}\n"
	f.installs(f.installation(configMap("kept") + held + "---\napiVersion: v1\nkind: ServiceAccount\nmetadata: {name: operator}\n"))
	upgraded := f.installation(configMap("kept"))
	report, err := Install(t.Context(), upgraded)
	f.must(err)
	if report.Ready || report.Reason != ReasonWaitingForDeletion || !strings.Contains(report.Message, "held") {
		t.Errorf("%s", pretty(report))
	}
	f.get("v1", "ServiceAccount", "operator") // fails when it is gone

	secret := f.get("v1", "Secret", "held")
	secret.SetFinalizers(nil)
	f.must(f.other.Update(t.Context(), secret))
	f.installs(upgraded)
	if f.find("v1", "ServiceAccount", f.namespace, "operator") != nil {
		t.Error("the next wave stays")
	}
}

// withVersions returns a definition of others in two versions; served says whether the first one still is.
func (f *fixture) withVersions(definition *unstructured.Unstructured, served bool) *unstructured.Unstructured {
	f.Helper()
	made := definition.DeepCopy()
	versions, _, err := unstructured.NestedSlice(made.Object, "spec", "versions")
	f.must(err)
	first := versions[0].(map[string]any)
	second := (&unstructured.Unstructured{Object: first}).DeepCopy().Object
	first["served"], first["storage"] = served, false
	second["name"] = "v2"
	f.must(unstructured.SetNestedSlice(made.Object, []any{first, second}, "spec", "versions"))
	return made
}

func TestCustom_ACustomResourceOfAVersionThatIsNoLongerServedIsDeleted(t *testing.T) {
	f := onServer(t)
	definition := f.withVersions(f.definition("Sample", "size: {type: integer}"), true)
	live := definition.DeepCopy()
	f.must(f.other.Create(t.Context(), live))
	inst := f.installation()
	inst.CustomResources = []*unstructured.Unstructured{f.customResource("Sample", "default", "size: 1")}
	inst.Wait = time.Minute
	f.installs(inst)
	f.must(f.known(func() error {
		f.must(f.other.Get(t.Context(), client.ObjectKeyFromObject(live), live))
		live.Object["spec"] = f.withVersions(f.definition("Sample", "size: {type: integer}"), false).Object["spec"]
		return f.other.Update(t.Context(), live)
	}))
	f.must(wait.PollUntilContextTimeout(t.Context(), 50*time.Millisecond, time.Minute, true, func(context.Context) (bool, error) {
		_, err := f.cluster().served.resource(t.Context(), schema.GroupVersionKind{Group: f.namespace + ".example.com", Version: "v1", Kind: "Sample"})
		return err != nil, nil
	}))
	if report, err := Uninstall(t.Context(), inst); err != nil || !report.Ready {
		t.Errorf("%v\n%s", err, pretty(report))
	}
	if f.find(f.namespace+".example.com/v2", "Sample", f.namespace, "default") != nil {
		t.Error("it was left behind")
	}
}

// cluster returns a new connection, which has asked nothing yet.
func (f *fixture) cluster() *Cluster {
	f.Helper()
	made, err := Connect(f.config)
	f.must(err)
	return made
}

func TestCustom_ACustomResourceThatIsBeingDeletedIsMadeAgain(t *testing.T) {
	f := onServer(t)
	f.must(f.other.Create(t.Context(), f.definition("Sample", "size: {type: integer}")))
	old := f.customResource("Sample", "default", "size: 1")
	old.SetNamespace(f.namespace)
	old.SetFinalizers([]string{"example.com/cleanup"})
	f.must(f.known(func() error { return f.other.Create(t.Context(), old) }))
	f.must(f.other.Delete(t.Context(), old))
	inst := f.installation()
	inst.CustomResources = []*unstructured.Unstructured{f.customResource("Sample", "default", "size: 1")}
	report, err := Install(t.Context(), inst)
	if ReasonOf(err) != string(apply.ClassConflict) || report.Ready {
		t.Errorf("%v\n%s", err, pretty(report))
	}
	f.must(f.other.Get(t.Context(), client.ObjectKeyFromObject(old), old))
	old.SetFinalizers(nil)
	f.must(f.other.Update(t.Context(), old))
	f.installs(inst)
	if made := f.findCustom("Sample", "default"); made == nil || made.GetUID() == old.GetUID() {
		t.Errorf("made: %v", made)
	}
}

func TestUninstallIsBlockedByObjectsOfOthers(t *testing.T) {
	f := onServer(t)
	inst := f.withCustom()
	_, err := Install(t.Context(), inst)
	f.must(err)
	f.runs("operator")
	f.installs(inst)
	theirs := f.customResource("Sample", "theirs", "size: 1")
	theirs.SetNamespace(f.namespace)
	f.must(f.known(func() error { return f.other.Create(t.Context(), theirs) }))
	report, err := Uninstall(t.Context(), inst)
	if err != nil || report.Reason != ReasonDeletionBlocked || !strings.Contains(report.Message, "theirs") {
		t.Errorf("%v\n%s", err, pretty(report))
	}
	if f.find("apps/v1", "Deployment", f.namespace, "operator") == nil || f.findCustom("Sample", "default") != nil {
		t.Error("the operator has to stay, and our own resource to go")
	}
	inst.Wait = time.Minute
	go func() { _ = f.other.Delete(t.Context(), theirs) }()
	if report, err = Uninstall(t.Context(), inst); err != nil || !report.Ready {
		t.Errorf("%v\n%s", err, pretty(report))
	}
}

func TestCustom_ACustomResourceOfSomebodyElseIsLeftAlone(t *testing.T) {
	f := onServer(t)
	inst := f.installation()
	inst.CRDs = []*unstructured.Unstructured{f.definition("Sample", "size: {type: integer}")}
	f.installs(inst)
	theirs := f.customResource("Sample", "default", "size: 7")
	theirs.SetNamespace(f.namespace)
	f.must(f.known(func() error { return f.other.Create(t.Context(), theirs) }))
	inst.CustomResources = []*unstructured.Unstructured{f.customResource("Sample", "default", "size: 1")}
	report := f.installs(inst)
	if last := report.Objects[1]; last.Action != apply.Unchanged || !strings.HasPrefix(last.Message, "it existed already") {
		t.Error(pretty(report))
	}
	report, err := Uninstall(t.Context(), inst)
	if err != nil || report.Reason != ReasonDeletionBlocked || f.findCustom("Sample", "default") == nil {
		t.Errorf("%v\n%s", err, pretty(report))
	}
}

func TestDefinitionsChangeOnlySafely(t *testing.T) {
	f := onServer(t)
	inst := f.installation(configMap("a"))
	inst.CRDs = []*unstructured.Unstructured{f.definition("Sample", "size: {type: integer}, name: {type: string}")}
	f.installs(inst)
	theirs := f.customResource("Sample", "theirs", "size: 7")
	theirs.SetNamespace(f.namespace)
	f.must(f.known(func() error { return f.other.Create(t.Context(), theirs) }))
	inst.CRDs = []*unstructured.Unstructured{f.definition("Sample", "size: {type: integer}")}
	inst.Sources = f.installation(configMap("a", "k=2")).Sources
	report, err := Install(t.Context(), inst)
	f.reason(report, err, ReasonCRDChangeRefused)
	if data := f.get("v1", "ConfigMap", "a").Object["data"]; data != nil {
		t.Errorf("something was written ahead of the refusal: %v", data)
	}
	differences, err := Diff(t.Context(), inst)
	if err != nil || differences[0].Change != apply.ChangeRefused || ReasonOf(differences[0].Err) != ReasonCRDChangeRefused {
		t.Errorf("%v\n%s", err, pretty(differences))
	}
	inst.AllowCRDChanges = []string{"FieldRemoved"}
	updated := []string{"CustomResourceDefinition samples." + f.namespace + ".example.com: Updated", "ConfigMap a: Updated"}
	f.equal("allowed", actions(f.installs(inst)), updated)

	f.must(f.other.Delete(t.Context(), theirs))
	inst.AllowCRDChanges = nil
	inst.CRDs = []*unstructured.Unstructured{f.definition("Sample", "size: {type: string}")}
	inst.Sources = f.installation(configMap("a", "k=3")).Sources
	f.equal("without an object", actions(f.installs(inst)), updated)
}

func TestContentMayUseKindsThatItDefines(t *testing.T) {
	f := onServer(t)
	inst := f.installation(pretty(f.definition("Inner", "size: {type: integer}").Object) + "\n---\n" +
		pretty(f.customResource("Inner", "one", "size: 1").Object))
	f.equal("at once", actions(f.installs(inst))[1:], []string{"Inner one: Created"})
	inst.Wait = time.Minute // a definition goes when the API server has finalized it
	report, err := Uninstall(t.Context(), inst)
	if err != nil || !report.Ready {
		t.Errorf("%v\n%s", err, pretty(report))
	}
}

// An operator may bring the definition of its own custom resource. Until it does, no one knows whether that lives in a namespace.
func TestKindsThatAnEarlierSourceBrings(t *testing.T) {
	f := onServer(t)
	inst := f.installation(deployment("operator"), pretty(f.customResource("Late", "content", "").Object))
	inst.CustomResources = []*unstructured.Unstructured{f.customResource("Late", "custom", "")}
	report, err := Install(t.Context(), inst)
	if err != nil || report.Reason != ReasonWaitingForInstall || len(report.Objects) != 3 {
		t.Errorf("%v\n%s", err, pretty(report))
	}
	f.runs("operator")
	report, err = Install(t.Context(), inst)
	f.reason(report, err, string(apply.ClassKindUnknown))
	if recorded := f.recordOf(inst); len(recorded.entries) != 1 || len(recorded.created) != 0 {
		t.Errorf("%+v %+v", recorded.entries, recorded.created)
	}
	if report, err = Check(t.Context(), inst); err != nil || report.Ready || report.Reason != ReasonOutdated {
		t.Errorf("%v\n%s", err, pretty(report))
	}
	if differences, err := Diff(t.Context(), inst); err != nil || len(differences) != 3 || differences[1].Change != apply.ChangeRefused {
		t.Errorf("%v\n%s", err, pretty(differences))
	}
	f.must(f.other.Create(t.Context(), f.definition("Late", "")))
	inst.Wait = time.Minute
	f.installs(inst)
	if f.findCustom("Late", "content") == nil || f.findCustom("Late", "custom") == nil {
		t.Error("they are not in the namespace of the installation")
	}
	if report, err = Uninstall(t.Context(), inst); err != nil || !report.Ready {
		t.Errorf("%v\n%s", err, pretty(report))
	}
}

func TestCustom_WhatIsMarkedToBeKeptStays(t *testing.T) {
	f := onServer(t)
	inst := f.installation("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: kept, annotations: {" + apply.AnnotationKeep + ": 'true'}}\n")
	inst.CRDs = []*unstructured.Unstructured{f.definition("Sample", "")}
	inst.CustomResources = []*unstructured.Unstructured{f.customResource("Sample", "default", "")}
	f.installs(inst)
	f.edit(f.findCustom("Sample", "default"), "metadata: {annotations: {"+apply.AnnotationKeep+": 'true', "+DefaultOwnerKey+": null}}")
	report, err := Uninstall(t.Context(), inst)
	if err != nil || report.Reason != ReasonDeletionBlocked || f.findCustom("Sample", "default") == nil {
		t.Errorf("a definition takes what is kept with it: %v\n%s", err, pretty(report))
	}
	f.remove(f.findCustom("Sample", "default"))
	inst.Wait = time.Minute
	if report, err = Uninstall(t.Context(), inst); err != nil || !report.Ready || !f.has("kept") {
		t.Errorf("%v\n%s", err, pretty(report))
	}
}
