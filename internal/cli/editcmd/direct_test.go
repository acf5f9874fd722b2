package editcmd

import (
	"context"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/internal/cli/target"
	"github.com/kyma-project/lifecycle-manager/internal/devenv/localcluster"
	"github.com/kyma-project/lifecycle-manager/pkg/component"
	"github.com/kyma-project/lifecycle-manager/tests/testkit/apiserver"
)

// plainCluster returns a control plane with workloads and without any definition of ours; there is no lifecycle manager, and no Kyma.
func plainCluster(t *testing.T) *bench {
	t.Helper()
	apiserver.Need(t)
	plane, err := localcluster.Start(t.Context(), localcluster.Options{Name: "changecmd", Workloads: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := plane.Stop(); err != nil {
			t.Error(err)
		}
	})
	t.Setenv("DOCKER_CONFIG", t.TempDir())
	c, err := target.Of(plane.Config).Client()
	if err != nil {
		t.Fatal(err)
	}
	return &bench{t, c, plane.Config, "default"}
}

// step is one of several command lines, with its exit code and words that it prints.
type step struct {
	args  string
	code  int
	words []string
}

func (b *bench) steps(steps ...step) {
	b.Helper()
	for _, s := range steps {
		code, out, said := b.run(strings.Fields(s.args)...)
		if code != s.code {
			b.Fatalf("kyma %s: exit code %d, want %d\n%s%s", s.args, code, s.code, out, said)
		}
		for _, word := range s.words {
			if !strings.Contains(out+said, word) {
				b.Errorf("kyma %s: %q is not in\n%s%s", s.args, word, out, said)
			}
		}
	}
}

// seen reads an object of the namespace kyma-system; nil if there is none.
func (b *bench) seen(apiVersion, kind, name string) *unstructured.Unstructured {
	b.Helper()
	live := &unstructured.Unstructured{}
	live.SetGroupVersionKind(schema.FromAPIVersionAndKind(apiVersion, kind))
	err := b.Get(context.Background(), client.ObjectKey{Namespace: "kyma-system", Name: name}, live)
	if apierrors.IsNotFound(err) || meta.IsNoMatchError(err) {
		return nil
	}
	if err != nil {
		b.Fatal(err)
	}
	return live
}

// color returns the color in a custom resource; empty if there is none.
func (b *bench) color(name string) string {
	b.Helper()
	live := b.seen("widgets.example.com/v1", "Widget", name)
	if live == nil {
		return ""
	}
	color, _, _ := unstructured.NestedString(live.Object, "spec", "color")
	return color
}

func widget(name, color string) string {
	return fmt.Sprintf("{apiVersion: widgets.example.com/v1, kind: Widget, metadata: {name: %s, namespace: kyma-system}, spec: {color: %s}}", name, color)
}

// widgets returns the content of module widget in a version; configuration is an object that the previous version did not have.
func widgets(version, configuration string) string {
	return `apiVersion: apps/v1
kind: Deployment
metadata: {name: widget-manager, namespace: kyma-system}
spec:
  selector: {matchLabels: {app: widget}}
  template:
    metadata: {labels: {app: widget}}
    spec: {containers: [{name: manager, image: "example.com/widget:` + version + `"}]}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: ` + configuration + `, namespace: kyma-system}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.widgets.example.com}
spec:
  group: widgets.example.com
  scope: Namespaced
  names: {kind: Widget, plural: widgets}
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}]
`
}

// file writes a file of the test.
func (b *bench) file(name, text string) string {
	b.Helper()
	path := filepath.Join(b.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		b.Fatal(err)
	}
	return path
}

// linked serves two versions of module widget by https. It returns the file with their templates, the file with the server's certificate,
// and a function that stops the server.
func (b *bench) linked(labels string) (templates, ca string, offline func()) {
	b.Helper()
	web := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		version := strings.Trim(r.URL.Path, "/")
		_, _ = w.Write([]byte(widgets(version, "only-"+version)))
	}))
	b.Cleanup(web.Close)
	var all strings.Builder
	for _, version := range []string{"0.1.0", "0.2.0"} {
		fmt.Fprintf(&all, `---
apiVersion: operator.kyma-project.io/v1beta2
kind: ModuleTemplate
metadata: {name: widget-%[1]s, namespace: default, labels: {%[3]s}}
spec:
  moduleName: widget
  version: %[1]s
  descriptor: {}
  manager: {group: apps, version: v1, kind: Deployment, namespace: kyma-system, name: widget-manager}
  data: %[4]s
  resources: [{name: rawManifest, link: "%[2]s/%[1]s"}]
`, version, web.URL, labels, widget("default", "red"))
	}
	certificate := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: web.Certificate().Raw})
	return b.file("templates.yaml", all.String()), b.file("ca.pem", string(certificate)), web.Close
}

func TestModulesWithoutTheOperator(t *testing.T) {
	b := plainCluster(t)
	t.Run("a community module from link to deletion", func(t *testing.T) { b.on(t).communityModule() })
	t.Run("a manageable module on purpose", func(t *testing.T) { b.on(t).manageableModule() })
	t.Run("a custom resource in place of the default one", func(t *testing.T) { b.on(t).ownResource() })
	t.Run("a component of a registry", func(t *testing.T) { b.on(t).fromRegistry() })
}

// on returns the bench of a subtest.
func (b *bench) on(t *testing.T) *bench { return &bench{t, b.WithWatch, b.config, b.namespace} }

func (b *bench) communityModule() {
	templates, ca, offline := b.linked("")
	from := " --template " + templates + " --registry-ca-file " + ca
	b.steps(
		step{"add widget --community", 4, []string{"there is no module widget", "--template takes a file"}},
		step{"add widget@0.1.0" + from, 4, []string{"no Kyma", "--community"}},
		step{"add widget@9.0.0 --community" + from, 4, []string{"it has 0.2.0, 0.1.0"}},
		step{"add widget@0.1.0 --community --dry-run=client" + from, 0, []string{"Create Deployment.apps kyma-system/widget-manager", "enabled (dry run)"}},
	)
	if b.seen("apps/v1", "Deployment", "widget-manager") != nil {
		b.Fatal("a dry run wrote")
	}
	b.steps(
		step{"add widget@0.1.0 --community" + from, 0, []string{"widget is a community module", "module/widget   enabled", "0.1.0"}},
		step{"add widget@0.1.0 --community -o json" + from, 0, []string{`"action": "unchanged"`, `"version": "0.1.0"`}},
		step{"diff widget@0.1.0" + from, 0, nil},
	)
	if b.color("default") != "red" {
		b.Fatalf("the default custom resource is %q", b.color("default"))
	}
	edited := b.seen("widgets.example.com/v1", "Widget", "default")
	if err := b.Patch(b.Context(), edited, client.RawPatch("application/merge-patch+json", []byte(`{"spec":{"color":"blue"}}`))); err != nil {
		b.Fatal(err)
	}
	b.steps(
		step{"diff widget@0.2.0" + from, 1, []string{"Update Deployment.apps kyma-system/widget-manager", "widget:0.2.0", "Delete ConfigMap kyma-system/only-0.1.0"}},
		step{"upgrade widget" + from, 0, []string{"module/widget   changed", "0.2.0"}},
		step{"upgrade widget" + from, 0, []string{"module/widget   up to date", "0.2.0"}},
		step{"upgrade widget --to 0.1.0" + from, 1, []string{"0.2.0", "higher"}},
		step{"add widget --community" + from, 0, []string{"module/widget   unchanged"}},
	)
	if b.color("default") != "blue" || b.seen("v1", "ConfigMap", "only-0.1.0") != nil || b.seen("v1", "ConfigMap", "only-0.2.0") == nil {
		b.Errorf("the upgrade left the custom resource %q", b.color("default"))
	}
	mine := &unstructured.Unstructured{Object: b.seen("widgets.example.com/v1", "Widget", "default").Object}
	mine = mine.DeepCopy()
	mine.SetName("mine")
	mine.SetResourceVersion("")
	b.create(mine)
	offline()
	b.steps(
		step{"delete widget --yes", 1, []string{"Widget kyma-system/mine", "--cascade=preview"}},
		step{"delete widget --keep-resources --dry-run=client", 0, []string{
			"Kept Deployment.apps kyma-system/widget-manager: it stays as it is", "disabled (dry run)",
		}},
		step{"delete widget --keep-resources", 64, []string{"letting go of module widget", "--yes confirms it"}},
		step{"delete widget --cascade=preview -o name", 0, []string{"Widget/mine"}},
		step{"delete widget --cascade", 64, []string{"Widget kyma-system/mine", "--yes confirms it"}},
	)
	if b.color("mine") == "" {
		b.Fatal("it is gone without a yes")
	}
	b.steps(
		step{"delete widget --cascade --yes", 0, []string{"module/widget   disabled"}},
		step{"delete widget --yes", 4, []string{"module widget is not installed"}},
	)
	for _, kind := range []string{"ConfigMap only-0.2.0", "Secret manifest.module-widget"} {
		if kind, name, _ := strings.Cut(kind, " "); b.seen("v1", kind, name) != nil {
			b.Errorf("%s %s was left", kind, name)
		}
	}
	if b.seen("apps/v1", "Deployment", "widget-manager") != nil || b.color("default") != "" {
		b.Error("the operator or its custom resource was left")
	}
}

func (b *bench) manageableModule() {
	templates, ca, _ := b.linked("operator.kyma-project.io/managed-by: kyma")
	from := " --template " + templates + " --registry-ca-file " + ca
	b.steps(
		step{"add widget --community" + from, 1, []string{"is no community module"}},
		step{"add widget --unmanaged" + from, 64, []string{"full support is given up", "--unmanaged --yes"}},
		step{"add widget --unmanaged --yes --policy Ignore" + from, 0, []string{"module/widget   enabled", "0.2.0"}},
		step{"add widget --unmanaged" + from, 0, []string{"module/widget   unchanged"}},
		step{"manage widget", 4, []string{"no Kyma"}},
		step{"delete widget --yes --dry-run=client", 0, []string{"disabled (dry run)"}},
		step{"suspend widget", 4, []string{"no Kyma"}},
	)
	if b.color("default") != "" {
		b.Error("the policy is Ignore, and there is a default custom resource")
	}
	b.changesHands("--unmanaged --yes --policy Ignore" + from)
	b.steps(step{"delete widget --yes --timeout 3m", 0, []string{"module/widget   disabled"}})
}

// changesHands lets go of module widget and takes it over again, by the flags of its installation.
func (b *bench) changesHands(flags string) {
	before := b.seen("apps/v1", "Deployment", "widget-manager")
	b.steps(
		step{"delete widget --keep-resources --yes", 0, []string{"module/widget   disabled"}},
		step{"delete widget --keep-resources --yes", 4, []string{"module widget is not installed"}},
		step{"add widget " + flags, 1, []string{"carries no owner mark", "kyma add --adopt takes over"}},
		step{"add widget --adopt --dry-run=client " + flags, 0, []string{
			"Update Deployment.apps kyma-system/widget-manager\n  (it exists already, and is taken over)", "owned-by", "enabled (dry run)",
		}},
	)
	if b.seen("v1", "Secret", "manifest.module-widget") != nil {
		b.Error("what was refused or only shown has a record")
	}
	b.steps(step{"add widget --adopt " + flags, 0, []string{"module/widget   enabled"}})
	after := b.seen("apps/v1", "Deployment", "widget-manager")
	if after == nil || after.GetUID() != before.GetUID() {
		b.Fatal("the operator was replaced")
	}
	if diff := cmp.Diff(before.Object["spec"], after.Object["spec"]); diff != "" {
		b.Errorf("the operator changed: %s", diff)
	}
	// An API server counts changes of a Deployment's annotations, too: its mark went and came.
	if changes := after.GetGeneration() - before.GetGeneration(); changes != 2 {
		b.Errorf("the operator changed %d times", changes)
	}
}

func (b *bench) ownResource() {
	templates, ca, _ := b.linked("")
	from := " --template " + templates + " --registry-ca-file " + ca
	b.steps(
		step{"add widget --community --cr " + b.file("cr.yaml", widget("own", "green")) + from, 0, []string{"enabled"}},
		step{"upgrade widget" + from, 0, []string{"up to date"}},
	)
	if b.color("own") != "green" || b.color("default") != "" {
		b.Errorf("own is %q, default %q", b.color("own"), b.color("default"))
	}
	b.steps(step{"delete widget --yes", 0, []string{"disabled"}})
}

func (b *bench) fromRegistry() {
	registry, err := localcluster.StartRegistry(b.Context(), localcluster.RegistryOptions{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = registry.Stop() })
	for _, version := range []string{"0.1.0", "0.2.0"} {
		_, err := component.Push(b.Context(), component.Registry{Host: registry.Host, PlainHTTP: true}, component.Version{
			Name: "example.com/module/widget", Version: version, Provider: "example.com", Resources: []component.Resource{
				{Name: "raw-manifest", Data: []byte(widgets(version, "only-"+version))},
				{Name: "default-cr", Data: []byte(widget("default", "red"))},
			},
		})
		if err != nil {
			b.Fatal(err)
		}
	}
	from := " --registry http://" + registry.Host + "//example.com/module/widget"
	b.steps(
		step{"add widget --community" + from, 64, []string{"the version of module widget is missing", "widget@VERSION"}},
		step{"add gadget@0.1.0 --community" + from, 4, []string{"holds module widget"}},
		step{"add widget@0.3.0 --community" + from, 4, []string{"0.3.0"}},
		step{"add widget@0.1.0 --community --timeout 1m" + from, 0, []string{"enabled"}},
		step{"diff widget@0.2.0" + from, 1, []string{"only-0.2.0"}},
		step{"upgrade widget --to 0.2.0" + from, 0, []string{"changed", "0.2.0"}},
	)
	if b.color("default") != "red" {
		b.Errorf("the default custom resource is %q", b.color("default"))
	}
	registry.Inject(localcluster.Down())
	b.steps(step{"delete widget --yes", 0, []string{"disabled"}})
}
