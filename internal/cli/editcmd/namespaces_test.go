package editcmd

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/client/directinstall"
	"github.com/kyma-project/lifecycle-manager/tests/testkit"
)

// space creates another namespace.
func (b *bench) space() string {
	b.Helper()
	made := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "space-"}}
	b.create(made)
	return made.Name
}

// offers puts templates of a community module into a namespace, with links to the content on a server.
func (b *bench) offers(namespace, module, url string, versions ...string) {
	b.Helper()
	for _, version := range versions {
		template := &v1beta2.ModuleTemplate{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: module + "-" + version}}
		template.Spec = v1beta2.ModuleTemplateSpec{
			ModuleName: module, Version: version,
			Resources: []v1beta2.Named{{Name: "rawManifest", Link: url + "/content/" + version}},
		}
		b.create(template)
	}
}

// TestNamespaces_ATenantCannotOfferAHigherVersion is about a cluster with a module in two namespaces: users of the second one publish a
// version above all others.
func TestNamespaces_ATenantCannotOfferAHigherVersion(t *testing.T) {
	b := newBench(t)
	t.Setenv("DOCKER_CONFIG", t.TempDir())
	module := testkit.Unique("gizmo")
	server, ca, _ := b.growingCatalog(module)
	shop, tenant := b.space(), b.space()
	b.offers(shop, module, server.URL, "0.1.0")
	b.offers(tenant, module, server.URL, "99.0.0")
	access := " --registry-ca-file " + ca
	several := []string{"is offered from namespaces", shop, tenant, "--template-namespace"}
	b.steps(
		step{"add " + module + " --community" + access, 64, several},
		step{"add " + module + "@99.0.0 --community" + access, 64, several},
		step{"add " + module + " --community --template-namespace kube-system" + access, 4, []string{"kube-system has no ModuleTemplate", shop}},
		step{"add " + module + " --community --template x.yaml --template-namespace " + shop + access, 64, []string{"exclude each other"}},
		step{"add " + module + " --community --template-namespace " + shop + access, 0, []string{"0.1.0 comes from the ModuleTemplate " + shop + "/" + module + "-0.1.0"}},
		step{"upgrade " + module + access, 0, []string{"up to date", "0.1.0 comes from the ModuleTemplate " + shop}},
		step{"upgrade " + module + " --to 99.0.0" + access, 4, []string{"has no version 99.0.0"}},
		step{"diff " + module + access, 0, nil},
	)
	b.offers(shop, module, server.URL, "0.2.0")
	b.steps(step{"upgrade " + module + access, 0, []string{"changed", "0.2.0"}})
	_, out, _ := b.run(strings.Fields("add " + module + " --community -o json" + access)...)
	list := changeList{}
	if err := json.Unmarshal([]byte(out), &list); err != nil || len(list.Items) != 1 || list.Items[0].Template != shop+"/"+module+"-0.2.0" {
		t.Errorf("programs are told %s (%v)", out, err)
	}
	if record, err := directinstall.Find(t.Context(), b, module); err != nil || record.Version != "0.2.0" || record.Template.Namespace != shop {
		t.Errorf("%+v %v", record, err)
	}
	b.noTemplate(module + "-0.1.0")
	b.gone(shop, module+"-0.1.0", module+"-0.2.0")
	b.steps(
		step{"upgrade " + module + access, 4, []string{"came from namespace " + shop, "offered from namespace " + tenant, "--template-namespace"}},
		step{"upgrade " + module + " --template-namespace " + tenant + access, 0, []string{"changed", "99.0.0"}},
		step{"delete " + module + " --yes", 0, []string{"disabled"}},
	)
}

// gone deletes templates.
func (b *bench) gone(namespace string, names ...string) {
	b.Helper()
	for _, name := range names {
		template := &v1beta2.ModuleTemplate{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
		if err := b.Delete(b.Context(), template); err != nil {
			b.Fatal(err)
		}
	}
}

// TestNamespaces_AReleaseOfATenantNamesNoComponent: only the release beside a template names its component and the versions of its
// channels.
func TestNamespaces_AReleaseOfATenantNamesNoComponent(t *testing.T) {
	b := newBench(t)
	module := testkit.Unique("gizmo")
	shop, tenant := b.space(), b.space()
	b.offers(shop, module, "https://127.0.0.1:1", "0.1.0")
	b.create(&v1beta2.ModuleReleaseMeta{
		ObjectMeta: metav1.ObjectMeta{Namespace: tenant, Name: module},
		Spec: v1beta2.ModuleReleaseMetaSpec{
			ModuleName: module, OCMComponentName: "example.com/tenant/" + module,
			Channels: []v1beta2.ChannelVersion{{Channel: "regular", Version: "0.1.0"}},
		},
	})
	b.steps(
		step{fmt.Sprintf("add %s:regular --unmanaged --yes", module), 4, []string{"has no channel regular"}},
		step{"add " + module + " --community", 1, []string{"is no community module"}},
	)
}
