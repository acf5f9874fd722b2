package operations

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/yaml"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/client/modulestatus"
	"github.com/kyma-project/lifecycle-manager/internal/devenv/localcluster"
)

// papers creates the kind Paper for module notes, and some Papers in the bench's namespace. The default custom resource is named default.
func (b *bench) papers(names ...string) (group string) {
	b.Helper()
	group = b.notes + ".example.com"
	made := &apiextensionsv1.CustomResourceDefinition{}
	if err := yaml.Unmarshal([]byte(strings.ReplaceAll(`
metadata: {name: papers.GROUP}
spec:
  group: GROUP
  scope: Namespaced
  names: {kind: Paper, plural: papers}
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}]
`, "GROUP", group)), made); err != nil {
		b.Fatal(err)
	}
	if _, err := envtest.InstallCRDs(b.config, envtest.CRDInstallOptions{MaxTime: time.Minute, CRDs: []*apiextensionsv1.CustomResourceDefinition{made}}); err != nil {
		b.Fatal(err)
	}
	template := &v1beta2.ModuleTemplate{}
	if err := b.Get(b.Context(), client.ObjectKey{Namespace: b.namespace, Name: b.notes + "-1.0.0"}, template); err != nil {
		b.Fatal(err)
	}
	template.Spec.Data = b.paper(group, "default")
	template.Spec.AssociatedResources = []metav1.GroupVersionKind{{Group: group, Version: "v1", Kind: "Paper"}}
	if err := b.Update(b.Context(), template); err != nil {
		b.Fatal(err)
	}
	for _, name := range names {
		b.create(b.paper(group, name))
	}
	return group
}

func (b *bench) paper(group, name string) *unstructured.Unstructured {
	return object("{apiVersion: " + group + "/v1, kind: Paper, metadata: {name: " + name + ", namespace: " + b.namespace + "}}")
}

// TestRuntime_AModuleOfAKymaGoesWithWhatWasShown: objects that users made block the deletion, shown ones are deleted first, and newer
// ones stay.
func TestRuntime_AModuleOfAKymaGoesWithWhatWasShown(t *testing.T) {
	b := newBench(t)
	b.manages()
	group := b.papers("default", "mine", "yours")
	kyma, admin := b.kyma("demo", v1beta2.Module{Name: b.notes}), b.admin()
	b.awaitStatus(kyma)
	deed := Request{Kind: Delete, Kyma: kyma, Module: b.notes}
	preview := b.previews(admin, deed)
	if preview.Way != string(modulestatus.Blocked) || len(preview.Blocking) != 2 || !strings.Contains(preview.Refused, "Paper "+b.namespace+"/mine") {
		t.Fatalf("%+v", preview)
	}
	b.refused(admin, deed, WhyBlocked, "yours")
	deed.Cascade = true
	b.refused(admin, deed, WhyBlocked, "came after the preview") // nothing was shown
	preview = b.previews(admin, deed)
	if len(changed(preview)) != 3 || len(preview.Warnings) != 1 || !strings.Contains(preview.Warnings[0], "CreateAndDelete") {
		t.Errorf("%+v", preview)
	}
	deed.Previewed = shownOf(preview)
	deed.Previewed[0].UID = "another"
	if err := b.refused(admin, deed, WhyBlocked, "came after the preview"); len(err.Blocking) != 1 {
		t.Errorf("%+v", err)
	}
	blind := b.user("blind-" + b.namespace)
	b.may(blind, rule(v1beta2.GroupVersion.Group, "*", "*"))
	b.refused(blind, deed, WhyBlocked, "cannot be seen", "you may not list Paper."+group)
	deed.Previewed = shownOf(preview)
	op := b.succeeds(admin, deed)
	if b.entries(kyma) != "" || b.find(group+"/v1", "Paper", b.namespace, "mine") != nil || b.find(group+"/v1", "Paper", b.namespace, "default") == nil {
		t.Errorf("the Kyma has %q: %+v", b.entries(kyma), op)
	}
	if len(op.Objects) != 3 || op.Objects[0].State != "Gone" {
		t.Errorf("%+v", op.Objects)
	}
	looker := b.user("looker-" + b.namespace)
	b.may(looker, rule(v1beta2.GroupVersion.Group, "kymas", "get"))
	seen, err := b.engine.Get(t.Context(), looker, op.ID)
	if err != nil || len(seen.Objects) != 1 || seen.Objects[0].Ref.Kind != modulestatus.KindModule || seen.Deed.Previewed != nil || seen.Access != (Access{}) {
		t.Errorf("who may see the Kyma sees %+v: %v", seen, err)
	}
}

func TestPromote(t *testing.T) {
	b := newBench(t)
	admin, release := b.admin(), b.namespace+"/"+b.notes
	deed := Request{Kind: Promote, Release: release, Channel: "regular", Version: "1.2.0"}
	if preview := b.previews(admin, deed); len(preview.Diff) != 1 || len(preview.Diff[0].Fields) != 1 || preview.Diff[0].Fields[0].To != "1.2.0" {
		t.Errorf("%+v", preview)
	}
	b.succeeds(admin, deed)
	b.succeeds(admin, deed)
	back := Request{Kind: Promote, Release: release, Channel: "regular", Version: "1.1.0"}
	if preview := b.previews(admin, back); preview.Confirm != b.notes || len(preview.Warnings) != 1 || len(preview.Diff) != 1 {
		t.Errorf("a lower version: %+v", preview)
	}
	b.refused(admin, back, WhyConfirm, "is lower")
	b.refused(admin, Request{Kind: Promote, Release: release, Channel: "fast", Version: "2.0.0"}, WhyRefused, "no ModuleTemplate")
	b.refused(admin, Request{Kind: Promote, Release: release, Channel: "None!", Version: "2.0.0"}, WhyInvalid, "channel")
	b.refused(admin, Request{Kind: Promote, Release: release + "x", Channel: "fast", Version: "1.2.0"}, WhyNotFound, "no ModuleReleaseMeta")
	found := &v1beta2.ModuleReleaseMeta{}
	if err := b.Get(t.Context(), client.ObjectKey{Namespace: b.namespace, Name: b.notes}, found); err != nil || offeredBy(found, "regular") != "1.2.0" {
		t.Errorf("%+v %v", found.Spec, err)
	}
	back.Confirmation = b.notes
	b.succeeds(admin, back)
	if err := b.Get(t.Context(), client.ObjectKeyFromObject(found), found); err != nil || offeredBy(found, "regular") != "1.1.0" {
		t.Errorf("after going back: %+v %v", found.Spec, err)
	}
}

// TestRuntime_InTheRuntimeOfAKyma: the access Secret leads there, for users who may read it; others do not see the objects of the
// runtime.
func TestRuntime_InTheRuntimeOfAKyma(t *testing.T) {
	b := newBench(t)
	widget, admin := b.widget(), b.admin()
	b.create(&v1beta2.Kyma{ObjectMeta: metav1.ObjectMeta{Namespace: b.namespace, Name: "far"}, Spec: v1beta2.KymaSpec{Channel: "regular"}})
	kyma := b.namespace + "/far"
	deed := addCommunity(widget, "0.1.0")
	deed.Kyma = kyma
	if _, err := b.engine.Preview(t.Context(), admin, deed); err == nil || !strings.Contains(err.Error(), "nothing leads to the runtime") {
		t.Errorf("without a Secret: %v", err)
	}
	access, err := localcluster.KubeconfigOf("runtime", b.config)
	if err != nil {
		t.Fatal(err)
	}
	b.create(&corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: b.namespace, Name: "far", Labels: map[string]string{v1beta2.LabelKymaName: "far"}},
		Data:       map[string][]byte{v1beta2.AccessSecretKey: access},
	})
	reader := b.user("reader-" + b.namespace)
	b.may(reader, rule(v1beta2.GroupVersion.Group, "*", "*"))
	if _, err := b.engine.Preview(t.Context(), reader, deed); err == nil || !strings.Contains(err.Error(), "may not read the access Secret") {
		t.Errorf("without the right to read it: %v", err)
	}
	op := b.succeeds(admin, deed)
	if seen, err := b.engine.Get(t.Context(), reader, op.ID); err != nil || len(seen.Objects) != 0 || len(op.Objects) == 0 {
		t.Errorf("the reader sees %+v, %v", seen.Objects, err)
	}
	if b.color(widget, "default") != "red" {
		t.Error("it is not installed")
	}
	b.succeeds(admin, Request{Kind: Upgrade, Items: []Item{{Kyma: kyma, Module: widget}}})
	b.succeeds(admin, Request{Kind: Configure, Kyma: kyma, Module: widget, Object: sample(widget, "default", "green")})
	b.succeeds(admin, Request{Kind: Delete, Kyma: kyma, Module: widget})
	if b.record(widget) != nil {
		t.Error("it is still installed")
	}
}
