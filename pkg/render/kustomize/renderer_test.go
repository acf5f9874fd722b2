package kustomize

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/filesys"

	"github.com/kyma-project/lifecycle-manager/pkg/content"
	"github.com/kyma-project/lifecycle-manager/pkg/render"
	"github.com/kyma-project/lifecycle-manager/pkg/render/internal/rendertest"
)

const deployment = `apiVersion: apps/v1
kind: Deployment
metadata: {name: web, labels: {app: web}}
spec:
  replicas: 1
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - name: web
        image: example.com/web:1.0.0
        env: [{name: NODE, value: $(NODE)}, {name: HOME, value: "{{ not a template }}"}]
        envFrom: [{configMapRef: {name: settings}}, {secretRef: {name: login}}]
`

const service = "apiVersion: v1\nkind: Service\nmetadata: {name: web}\nspec: {selector: {app: web}, ports: [{port: 80}]}\n"

// shapes are kustomizations as users write them; the folder is the part of the name before the first blank.
var shapes = map[string]*content.Tree{
	" a base alone": rendertest.Content(
		"kustomization.yaml", "resources: [deployment.yaml, service.yaml, list.json]\nnamePrefix: my-\nnamespace: here\n",
		"deployment.yaml", deployment, "service.yaml", service, "list.json", rendertest.JSONConfig("a")),
	"overlays/eu an overlay with patches": rendertest.Content(
		"base/kustomization.yml", "resources:\n- deployment.yaml\n- service.yaml\n",
		"base/deployment.yaml", deployment, "base/service.yaml", service,
		"overlays/eu/kustomization.yaml", `
resources: [../../base]
namespace: eu
nameSuffix: -eu
labels: [{pairs: {region: eu}, includeSelectors: true}]
commonAnnotations: {team: a}
images: [{name: example.com/web, newTag: 2.0.0}]
replicas: [{name: web, count: 3}]
patches:
- path: env.yaml
- target: {kind: Service}
  patch: |
    - {op: add, path: /spec/type, value: NodePort}
- target: {kind: Deployment, labelSelector: app=web}
  path: ../../base/more/json patch.yaml
`,
		"overlays/eu/env.yaml", "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\n"+
			"spec: {template: {spec: {containers: [{name: web, env: [{name: MORE, value: x}]}]}}}\n",
		"base/more/json patch.yaml", "- op: replace\n  path: /spec/template/spec/containers/0/name\n  value: renamed\n"),
	" generators": rendertest.Content(
		"Kustomization", `
resources: [deployment.yaml]
generatorOptions: {labels: {made: here}}
configMapGenerator:
- name: settings
  files: [app.ini, renamed=conf/db.ini]
  envs: [conf/vars.env]
  literals: [a=b, 'c="d e"']
- {name: fixed, env: conf/vars.env, options: {disableNameSuffixHash: true, immutable: true}}
secretGenerator:
- {name: login, literals: [password=geheim], type: Opaque}
`,
		"deployment.yaml", deployment, "app.ini", "[a]\nb = &c *d\n", "conf/db.ini", "\xff\x00", "conf/vars.env", "# x\nA=1\nB=2\n"),
	"prod components and replacements": rendertest.Content(
		"base/kustomization.yaml", "resources: [deployment.yaml, service.yaml]\n", "base/deployment.yaml", deployment, "base/service.yaml", service,
		"components/probe/kustomization.yaml", `
apiVersion: kustomize.config.k8s.io/v1alpha1
kind: Component
resources: [config.yaml]
patches: [{path: probe.yaml, target: {kind: Deployment}}]
`,
		"components/probe/config.yaml", rendertest.Config("probe"),
		"components/probe/probe.yaml", "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: any}\nspec: {minReadySeconds: 5}\n",
		"prod/kustomization.yaml", `
resources: [../base]
components: [../components/probe]
replacements:
- source: {kind: Service, name: web, fieldPath: spec.ports.0.port}
  targets: [{select: {kind: Deployment}, fieldPaths: [spec.template.metadata.annotations.port], options: {create: true}}]
- path: ../replace.yaml
`,
		"replace.yaml", "- source: {kind: Service, fieldPath: metadata.name}\n  targets: [{select: {kind: ConfigMap}, fieldPaths: [data.service], "+
			"options: {create: true}}]\n"),
	"app what is deprecated": rendertest.Content(
		"app/kustomization.yaml", `
bases: [../base]
commonLabels: {old: "yes"}
patchesStrategicMerge:
- replicas.yaml
- |-
  apiVersion: apps/v1
  kind: Deployment
  metadata: {name: web}
  spec: {paused: true}
patchesJson6902:
- target: {group: apps, version: v1, kind: Deployment, name: web}
  path: json.yaml
- target: {version: v1, kind: Service, name: web}
  patch: '[{"op": "remove", "path": "/spec/ports"}]'
vars: [{name: NODE, objref: {apiVersion: v1, kind: Service, name: web}}]
imageTags: [{name: example.com/web, newTag: "3"}]
`,
		"app/replicas.yaml", "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec: {replicas: 7}\n",
		"app/json.yaml", "- {op: add, path: /metadata/annotations, value: {a: b}}\n",
		"base/kustomization.yaml", "resources: [deployment.yaml, service.yaml]\n", "base/deployment.yaml", deployment, "base/service.yaml", service),
	" built-in plugins, definitions and configurations": rendertest.Content(
		"kustomization.yaml", `
resources: [deployment.yaml, bee.yaml]
crds: [crds.yaml]
configurations: [names.yaml]
namePrefix: x-
generators:
- |-
  apiVersion: builtin
  kind: ConfigMapGenerator
  metadata: {name: settings}
  files: [names.yaml]
transformers:
- plugins/patch.yaml
- |-
  apiVersion: builtin
  kind: PrefixTransformer
  metadata: {name: p}
  prefix: y-
  fieldSpecs: [{path: metadata/name}]
validators:
- |-
  apiVersion: builtin
  kind: LabelTransformer
  metadata: {name: l}
  labels: {}
`,
		"deployment.yaml", deployment, "bee.yaml", "apiVersion: b.io/v1\nkind: Bee\nmetadata: {name: bee}\nspec: {flower: {name: web}, other: web}\n",
		"names.yaml", "nameReference:\n- kind: Deployment\n  fieldSpecs: [{kind: Bee, path: spec/other}]\n",
		"crds.yaml", `{
"b.io/v1.Bee": {"Schema": {"properties": {"apiVersion": {}, "kind": {}, "metadata": {}, "spec": {"$ref": "b.io/v1.BeeSpec"}}}},
"b.io/v1.BeeSpec": {"Schema": {"properties": {"flower": {
  "x-kubernetes-object-ref-api-version": "v1", "x-kubernetes-object-ref-kind": "Deployment"}}}}}`,
		"plugins/patch.yaml", "apiVersion: builtin\nkind: PatchTransformer\nmetadata: {name: a}\npath: patch.yaml\ntarget: {kind: Deployment}\n",
		"patch.yaml", "- {op: add, path: /spec/paused, value: true}\n"),
	" a schema of its own, an order and origins": rendertest.Content(
		"kustomization.yaml", "resources: [a.yaml, deployment.yaml]\nopenapi: {path: schema.json}\npatches: [{path: patch.yaml}]\n"+
			"sortOptions: {order: fifo}\nbuildMetadata: [originAnnotations, managedByLabel]\n",
		"a.yaml", thing, "patch.yaml", thingPatch, "schema.json", thingSchema, "deployment.yaml", deployment),
	" aliases and a list": rendertest.Content(
		"kustomization.yaml", "resources: [a.yaml]\ncommonAnnotations: {a: &x v, b: *x}\n",
		"a.yaml", rendertest.List("List", rendertest.Config("a")+"data: &d {k: v, <<: {z: y}}\nbinaryData: *d\n", service)),
}

// A kind whose list of parts is merged by name when the schema says so, and replaced otherwise.
const (
	thing       = "apiVersion: t.io/v1\nkind: Thing\nmetadata: {name: t}\nspec: {parts: [{name: a, size: 1}, {name: b, size: 2}]}\n"
	thingPatch  = "apiVersion: t.io/v1\nkind: Thing\nmetadata: {name: t}\nspec: {parts: [{name: b, size: 3}]}\n"
	thingSchema = `{"definitions": {"io.t.v1.Thing": {
  "type": "object", "x-kubernetes-group-version-kind": [{"group": "t.io", "kind": "Thing", "version": "v1"}],
  "properties": {"spec": {"type": "object", "properties": {"parts": {"type": "array",
    "items": {"type": "object", "properties": {"name": {"type": "string"}, "size": {"type": "integer"}}},
    "x-kubernetes-patch-merge-key": "name", "x-kubernetes-patch-strategy": "merge"}}}}}}}`
)

// TestKustomizeEqualsKustomizeBuild compares with what the command builds from the same files on a disk.
func TestKustomizeEqualsKustomizeBuild(t *testing.T) {
	for name, tree := range shapes {
		t.Run(name, func(t *testing.T) {
			folder, _, _ := strings.Cut(name, " ")
			before := rendertest.Copy(tree)
			rendered, err := Renderer{Path: folder}.Render(t.Context(), tree, render.Input{})
			if err != nil {
				t.Fatal(err)
			}
			want := builtOnDisk(t, tree, folder)
			if diff := cmp.Diff(want, rendered.Objects()); diff != "" || len(want) == 0 {
				t.Errorf("%d objects: %s", len(want), diff)
			}
			if diff := cmp.Diff(before, tree); diff != "" {
				t.Errorf("the content was changed: %s", diff)
			}
		})
	}
}

func builtOnDisk(t *testing.T, tree *content.Tree, folder string) []*unstructured.Unstructured {
	t.Helper()
	root := t.TempDir()
	for _, file := range tree.Files {
		name := filepath.Join(root, file.Path)
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, file.Data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	options := krusty.MakeDefaultOptions()
	options.Reorder = krusty.ReorderOptionUnspecified
	options.LoadRestrictions = types.LoadRestrictionsNone
	built, err := krusty.MakeKustomizer(options).Run(filesys.MakeFsOnDisk(), filepath.Join(root, folder))
	if err != nil {
		t.Fatal(err)
	}
	text, err := built.AsYaml()
	if err != nil {
		t.Fatal(err)
	}
	objects, err := render.Parse(bytes.NewReader(text), rendertest.Limit)
	if err != nil {
		t.Fatal(err)
	}
	return objects
}

func parts(t *testing.T, tree *content.Tree) string {
	t.Helper()
	rendered, err := Renderer{}.Render(t.Context(), tree, render.Input{})
	if err != nil {
		t.Fatal(err)
	}
	found, _, _ := unstructured.NestedSlice(rendered.Objects()[0].Object, "spec", "parts")
	return fmt.Sprint(found)
}

func TestKustomize_TheSchemaOfOneContentIsNotThatOfTheNext(t *testing.T) {
	files := []string{"a.yaml", thing, "patch.yaml", thingPatch, "schema.json", thingSchema, "kustomization.yaml"}
	own := rendertest.Content(append(files, "resources: [a.yaml]\npatches: [{path: patch.yaml}]\nopenapi: {path: schema.json}\n")...)
	none := rendertest.Content(append(files, "resources: [a.yaml]\npatches: [{path: patch.yaml}]\n")...)
	for range 2 {
		if got := parts(t, own); got != "[map[name:b size:3] map[name:a size:1]]" {
			t.Errorf("with a schema the parts are %s", got)
		}
		if got := parts(t, none); got != "[map[name:b size:3]]" {
			t.Errorf("without a schema the parts are %s", got)
		}
	}
}

func TestKustomizationsMayBeBuiltAtOnce(t *testing.T) {
	var all sync.WaitGroup
	for name, tree := range shapes {
		for range 3 {
			all.Go(func() {
				folder, _, _ := strings.Cut(name, " ")
				if _, err := (Renderer{Path: folder}).Render(t.Context(), tree, render.Input{}); err != nil {
					t.Errorf("%s: %v", name, err)
				}
			})
		}
	}
	all.Wait()
}

// TestKustomize_EveryFieldOfKustomizeIsLookedAt fails when a new version of the library can read more than the walk knows.
func TestKustomize_EveryFieldOfKustomizeIsLookedAt(t *testing.T) {
	looked := []string{
		"OpenAPI", "PatchesStrategicMerge", "PatchesJson6902", "Patches", "Replacements", "Resources", "Components", "Crds", "Bases",
		"ConfigMapGenerator", "SecretGenerator", "HelmCharts", "HelmChartInflationGenerator", "Configurations", "Generators", "Transformers",
		"Validators",
	}
	harmless := []string{
		"TypeMeta", "MetaData", "NamePrefix", "NameSuffix", "Namespace", "CommonLabels", "Labels", "CommonAnnotations", "Images", "ImageTags",
		"Replicas", "Vars", "SortOptions", "HelmGlobals", "GeneratorOptions", "BuildMetadata",
	}
	kind := reflect.TypeFor[types.Kustomization]()
	for field := range kind.Fields() {
		if name := field.Name; !slices.Contains(looked, name) && !slices.Contains(harmless, name) {
			t.Errorf("no one has thought about field %s", name)
		}
	}
	for _, name := range krusty.GetBuiltinPluginNames() {
		if _, known := builtinPlugins[name]; !known && name != "HelmChartInflationGenerator" {
			t.Errorf("no one has thought about plugin %s", name)
		}
	}
	for _, sources := range []any{types.KvPairSources{}, types.Patch{}, types.ReplacementField{}} {
		if got := reflect.TypeOf(sources).NumField(); got > 4 {
			t.Errorf("%T has %d fields", sources, got)
		}
	}
}
