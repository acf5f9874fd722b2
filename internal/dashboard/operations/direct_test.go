package operations

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/client/communitycatalog"
	"github.com/kyma-project/lifecycle-manager/internal/client/directinstall"
	"github.com/kyma-project/lifecycle-manager/internal/client/modulestatus"
	"github.com/kyma-project/lifecycle-manager/tests/testkit"
)

// widget creates a community module with a unique name, in two versions.
func (b *bench) widget() string {
	b.Helper()
	name := testkit.Unique("widget")
	b.create(b.community(name, "0.1.0", "red"))
	b.create(b.community(name, "0.2.0", "blue"))
	return name
}

func addCommunity(module, version string) Request {
	return Request{Kind: Add, Community: true, Modules: []Wanted{{Name: module, Version: version}}}
}

// record returns the record of a module that is installed directly; nil if it is not.
func (b *bench) record(module string) *modulestatus.Direct {
	b.Helper()
	all, err := directinstall.List(b.Context(), b.WithWatch)
	if err != nil {
		b.Fatal(err)
	}
	for i := range all {
		if all[i].Module == module {
			return &all[i]
		}
	}
	return nil
}

// shownOf returns the objects of a preview as a request names them.
func shownOf(preview Preview) []PreviewedObject {
	var all []PreviewedObject
	for _, blocking := range preview.Blocking {
		all = append(all, PreviewedObject{Ref: blocking.Ref, UID: blocking.UID})
	}
	return all
}

func TestDirect_ACommunityModuleFromAddToDelete(t *testing.T) {
	b := newBench(t)
	widget, admin := b.widget(), b.admin()

	preview := b.previews(admin, addCommunity(widget, "0.1.0"))
	if diff := cmp.Diff([]string{"Create ConfigMap", "Create ConfigMap", "Create CustomResourceDefinition", "Create Sample"}, changed(preview)); diff != "" ||
		preview.Way != "Direct" || preview.Confirm != "" || len(preview.Warnings) != 1 || b.configMap(widget) != nil {
		t.Fatalf("%s\n%+v", diff, preview)
	}
	op := b.succeeds(admin, addCommunity(widget, "0.1.0"))
	if len(op.Objects) < 4 || b.color(widget, "default") != "red" || b.record(widget).Version != "0.1.0" {
		t.Fatalf("%+v", op)
	}
	b.succeeds(admin, addCommunity(widget, "0.1.0"))

	own := sample(widget, "default", "green")
	preview = b.previews(admin, Request{Kind: Configure, Module: widget, Object: own})
	if diff := cmp.Diff([]string{"Update Sample"}, changed(preview)); diff != "" || b.color(widget, "default") != "red" {
		t.Errorf("%s", diff)
	}
	b.succeeds(admin, Request{Kind: Configure, Module: widget, Object: own})

	upgrade := Request{Kind: Upgrade, Items: []Item{{Module: widget}}}
	preview = b.previews(admin, upgrade)
	if diff := cmp.Diff([]string{"Create ConfigMap", "Delete ConfigMap", "Update ConfigMap"}, changed(preview)); diff != "" {
		t.Errorf("the upgrade (-want +got):\n%s", diff)
	}
	b.succeeds(admin, upgrade)
	if b.color(widget, "default") != "green" || b.record(widget).Version != "0.2.0" || b.configMap(widget+"-0.1.0") != nil {
		t.Errorf("the upgrade left color %s, and %+v", b.color(widget, "default"), b.record(widget))
	}
	b.refused(admin, Request{Kind: Upgrade, Items: []Item{{Module: widget, Version: "0.3.0"}}}, WhyNotFound, "0.2.0, 0.1.0")
	b.deletesWidget(widget)
}

// deletesWidget checks that objects that users made block the deletion, by name, that only shown ones are deleted with the module, and
// that nothing is left of it.
func (b *bench) deletesWidget(widget string) {
	b.Helper()
	admin := b.admin()
	b.create(sample(widget, "mine", "black"))
	remove := Request{Kind: Delete, Module: widget}
	preview := b.previews(admin, remove)
	if len(preview.Blocking) != 1 || preview.Blocking[0].Ref.Name != "mine" || preview.Blocking[0].UID == "" || preview.Way != "Blocked" ||
		!strings.Contains(preview.Refused, "Sample kyma-system/mine") {
		b.Errorf("%+v", preview)
	}
	if err := b.refused(admin, remove, WhyBlocked, "Sample kyma-system/mine"); len(err.Blocking) != 1 {
		b.Errorf("%+v", err)
	}
	remove.Cascade = true
	preview = b.previews(admin, remove)
	if preview.Refused != "" || preview.Way != "DeleteResources" || len(preview.Diff) < 5 {
		b.Errorf("%+v", preview)
	}
	remove.Previewed = shownOf(preview)
	b.create(sample(widget, "later", "black"))
	if err := b.refused(admin, remove, WhyBlocked, "later"); len(err.Blocking) != 1 {
		b.Errorf("%+v", err)
	}
	remove.Previewed = shownOf(b.previews(admin, remove))
	b.succeeds(admin, remove)
	if b.record(widget) != nil || b.configMap(widget) != nil || b.color(widget, "mine") != "" {
		b.Errorf("something is left: %+v", b.record(widget))
	}
	if op := b.succeeds(admin, remove); len(op.Steps) != 0 || !strings.Contains(op.Message, "not installed") {
		b.Errorf("a second time: %+v", op)
	}
}

// TestDirect_WhoMaySeeLessIsBlocked: a kind that may not be listed counts as having objects.
func TestDirect_WhoMaySeeLessIsBlocked(t *testing.T) {
	b := newBench(t)
	widget := b.widget()
	b.succeeds(b.admin(), addCommunity(widget, "0.1.0"))
	blind := b.user("blind-" + b.namespace)
	b.may(blind, rule("", "secrets configmaps namespaces", "*"), rule("apiextensions.k8s.io", "customresourcedefinitions", "*"),
		rule(v1beta2.GroupVersion.Group, "kymas modulereleasemetas moduletemplates", "get list"))
	preview := b.previews(blind, Request{Kind: Delete, Module: widget, Cascade: true})
	if preview.Way != "Blocked" || !strings.Contains(preview.Refused, "cannot be seen") {
		t.Errorf("%+v", preview)
	}
	b.refused(blind, Request{Kind: Delete, Module: widget, Cascade: true}, WhyBlocked, "Sample")
	if b.record(widget).Deleting {
		t.Error("the deletion has begun")
	}
	b.succeeds(b.admin(), Request{Kind: Delete, Module: widget})
}

// TestDirect_AManageableModuleOnPurpose: its name must be typed once, and it is refused if a Kyma has the module.
func TestDirect_AManageableModuleOnPurpose(t *testing.T) {
	b := newBench(t)
	gadget, admin := testkit.Unique("gadget"), b.admin()
	b.create(b.community(gadget, "1.0.0", "red"))
	b.release(gadget, "regular", "1.0.0")
	deed := Request{Kind: Add, Direct: true, Modules: []Wanted{{Name: gadget, Policy: v1beta2.CustomResourcePolicyIgnore}}}
	preview := b.previews(admin, deed)
	if preview.Confirm != gadget || preview.Way != "DirectConfirmed" || preview.Refused != "" || !strings.Contains(preview.Why, "full support") {
		t.Fatalf("%+v", preview)
	}
	b.refused(admin, deed, WhyConfirm, gadget)
	deed.Confirmation = gadget
	b.succeeds(admin, deed)
	if b.color(gadget, "default") != "" {
		t.Error("the policy is Ignore, and there is a default custom resource")
	}
	if deed.Confirmation = ""; b.previews(admin, deed).Confirm != "" {
		t.Error("it has to be confirmed a second time")
	}
	b.manages()
	kyma := b.kyma("demo")
	b.refused(admin, Request{Kind: Add, Kyma: kyma, Modules: []Wanted{{Name: gadget}}}, WhyRefused, "without the lifecycle manager")
	b.refused(admin, Request{Kind: Manage, Kyma: kyma, Module: gadget}, WhyRefused, "without the lifecycle manager")
	b.succeeds(admin, Request{Kind: Delete, Kyma: kyma, Module: gadget})
	if b.record(gadget) != nil {
		t.Error("it is still installed")
	}
	b.succeeds(admin, Request{Kind: Add, Kyma: kyma, Modules: []Wanted{{Name: gadget}}})
	b.refused(admin, Request{Kind: Add, Kyma: kyma, Direct: true, Confirmation: gadget, Modules: deed.Modules}, WhyRefused, "remove it from the Kyma first")
	without := deed
	without.Confirmation = gadget
	if preview := b.previews(admin, without); !strings.Contains(preview.Refused, "is managed by the Kyma "+kyma) {
		t.Errorf("where no Kyma is named: %+v", preview)
	}
}

// TestDirect_ACustomResourceOfOnesOwn: it is created with the module, and written as edited.
func TestDirect_ACustomResourceOfOnesOwn(t *testing.T) {
	b := newBench(t)
	widget, admin := b.widget(), b.admin()
	deed := addCommunity(widget, "0.1.0")
	deed.Modules[0].Resource = sample(widget, "own", "green")
	b.succeeds(admin, deed)
	if b.color(widget, "own") != "green" || b.color(widget, "default") != "" {
		t.Fatalf("own is %q, default %q", b.color(widget, "own"), b.color(widget, "default"))
	}
	read := b.find(widget+".example.com/v1", "Sample", modulestatus.DirectNamespace, "own")
	meanwhile := read.DeepCopy()
	meanwhile.Object["spec"] = map[string]any{"color": "white"}
	if err := b.Update(t.Context(), meanwhile); err != nil {
		t.Fatal(err)
	}
	read.Object["spec"] = map[string]any{"color": "black"}
	op := b.ends(b.engine, admin, b.starts(admin, Request{Kind: Configure, Module: widget, Object: read}).ID, Failed)
	if !strings.Contains(op.Message, "has changed since you read it") || b.color(widget, "own") != "white" {
		t.Errorf("%s, and the color is %s", op.Message, b.color(widget, "own"))
	}
	read.SetResourceVersion(meanwhile.GetResourceVersion())
	b.succeeds(admin, Request{Kind: Configure, Module: widget, Object: read})
	b.succeeds(admin, Request{Kind: Configure, Module: widget, Object: read}) // it was written, and is the same
	if b.color(widget, "own") != "black" {
		t.Errorf("the color is %s", b.color(widget, "own"))
	}
	b.refused(admin, Request{Kind: Configure, Module: widget, Object: object("{apiVersion: v1, kind: ConfigMap, metadata: {name: x}}")},
		WhyInvalid, "is configured by a Sample")
}

// TestDirect_ASharedServerFetchesFromPublicAddressesOnly: users choose the addresses that a module links to.
func TestDirect_ASharedServerFetchesFromPublicAddressesOnly(t *testing.T) {
	b := newBench(t)
	widget := b.widget()
	b.engine.options.Shared = true
	preview := b.previews(b.admin(), addCommunity(widget, "0.1.0"))
	if !strings.Contains(preview.Refused, "private address") || strings.Contains(preview.Refused, "127.0.0.1") {
		t.Errorf("%+v", preview)
	}
	op := b.ends(b.engine, b.admin(), b.starts(b.admin(), addCommunity(widget, "0.1.0")).ID, Failed)
	if !strings.Contains(op.Message, "private address") || b.record(widget) != nil {
		t.Errorf("%+v", op)
	}
	b.engine.options.Catalogs.AllowPrivate = true
	b.succeeds(b.admin(), addCommunity(widget, "0.1.0"))
	b.succeeds(b.admin(), Request{Kind: Delete, Module: widget})
}

// TestDirect_AModuleOfASourceIsKeptInTheCluster, so that the cluster lists what is available.
func TestDirect_AModuleOfASourceIsKeptInTheCluster(t *testing.T) {
	b := newBench(t)
	shelf := b.namespace // a source in a namespace of the cluster
	widget := b.widget()
	admin := b.admin()
	b.engine.options.Sources = b.namespace
	source, err := b.engine.AddSource(t.Context(), admin, userFields(sourceOf("shelf", "cluster://"+shelf)))
	if err != nil || source.Name != "shelf" {
		t.Fatalf("%+v %v", source, err)
	}
	tested, err := b.engine.TestSource(t.Context(), admin, sourceOf("shelf", ""))
	if err != nil || len(tested.Modules) == 0 {
		t.Fatalf("%+v %v", tested, err)
	}
	deed := addCommunity(widget, "0.1.0")
	deed.Source = "shelf"
	b.succeeds(admin, deed)
	kept := &v1beta2.ModuleTemplate{}
	if err := b.Get(t.Context(), client.ObjectKey{Namespace: "default", Name: widget + "-0.1.0"}, kept); err != nil {
		t.Fatal(err)
	}
	if kept.Annotations[communitycatalog.AnnotationSource] != "cluster://"+shelf || b.record(widget).Template.Namespace != "default" {
		t.Errorf("%+v %+v", kept.ObjectMeta, b.record(widget))
	}
	deed.Source = "nobody"
	if _, err := b.engine.Start(t.Context(), admin, deed); ReasonOf(err) != WhyNotFound {
		t.Errorf("got %v", err)
	}
	if err := b.engine.RemoveSource(t.Context(), admin, "shelf"); err != nil {
		t.Fatal(err)
	}
	if all, err := b.engine.Sources(t.Context(), admin); err != nil || len(all) != 0 {
		t.Errorf("%v %v", all, err)
	}
	b.succeeds(admin, Request{Kind: Delete, Module: widget})
}

// in returns a template in another namespace.
func in(namespace string, template *v1beta2.ModuleTemplate) *v1beta2.ModuleTemplate {
	template.Namespace = namespace
	return template
}

// TestDirect_ATenantCannotOfferAHigherVersion is about a module in two namespaces of the cluster: users of the second one publish a
// version above all others.
func TestDirect_ATenantCannotOfferAHigherVersion(t *testing.T) {
	b := newBench(t)
	admin, module := b.admin(), testkit.Unique("widget")
	tenant := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "tenant-"}}
	b.create(tenant)
	b.create(b.community(module, "0.1.0", "red"))
	b.create(in(tenant.Name, b.community(module, "99.0.0", "black")))
	for _, version := range []string{"", "99.0.0"} {
		err := b.refused(admin, addCommunity(module, version), WhyRefused, "offered from namespaces")
		if !strings.Contains(err.Error(), b.namespace) || !strings.Contains(err.Error(), tenant.Name) {
			t.Errorf("the error does not name who offers it: %v", err)
		}
	}
	add := addCommunity(module, "")
	add.Modules[0].Namespace = b.namespace
	preview := b.previews(admin, add)
	want := []Taken{{Module: module, Version: "0.1.0", Namespace: b.namespace}}
	if diff := cmp.Diff(want, preview.Templates); diff != "" || preview.Refused != "" {
		t.Fatalf("%s\n%s", preview.Refused, diff)
	}
	b.succeeds(admin, add)

	upgrade := Request{Kind: Upgrade, Items: []Item{{Module: module}}}
	if preview := b.previews(admin, upgrade); len(preview.Templates) != 1 || preview.Templates[0].Namespace != b.namespace {
		t.Errorf("%+v", preview)
	}
	b.succeeds(admin, upgrade)
	b.refused(admin, Request{Kind: Upgrade, Items: []Item{{Module: module, Version: "99.0.0"}}}, WhyNotFound, "has no version 99.0.0")
	if record := b.record(module); record.Version != "0.1.0" || record.Template.Namespace != b.namespace {
		t.Errorf("%+v", record)
	}
	upgrade.Items[0].Namespace = tenant.Name
	if preview := b.previews(admin, upgrade); len(preview.Templates) != 1 || preview.Templates[0].Version != "99.0.0" {
		t.Errorf("a namespace that is named offers its versions: %+v", preview)
	}
	b.succeeds(admin, Request{Kind: Delete, Module: module})
}

func TestDirect_WhereANamespaceMeansNothing(t *testing.T) {
	for name, deed := range map[string]Request{
		"in a Kyma":               {Kind: Add, Kyma: "a/b", Modules: []Wanted{{Name: "notes", Namespace: "shop"}}},
		"beside a source":         {Kind: Add, Community: true, Source: "s", Modules: []Wanted{{Name: "notes", Namespace: "shop"}}},
		"that is none":            {Kind: Add, Community: true, Modules: []Wanted{{Name: "notes", Namespace: "a/b"}}},
		"that is none, upgrading": {Kind: Upgrade, Items: []Item{{Module: "notes", Namespace: "a/b"}}},
	} {
		if err := deed.Validate(); ReasonOf(err) != WhyInvalid {
			t.Errorf("%s: %v", name, err)
		}
	}
	good := Request{Kind: Add, Community: true, Modules: []Wanted{{Name: "notes", Namespace: "shop"}}}
	if err := good.Validate(); err != nil {
		t.Error(err)
	}
}
