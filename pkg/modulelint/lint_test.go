package modulelint

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kyma-project/lifecycle-manager/pkg/content"
	"github.com/kyma-project/lifecycle-manager/pkg/diagnostics"
	"github.com/kyma-project/lifecycle-manager/pkg/moduleconfig"
	"github.com/kyma-project/lifecycle-manager/pkg/render"
)

// files holds the three files of a module, by their name in testdata.
type files map[string]string

const config, manifest, cr = "module-config.yaml", "manifest.yaml", "default-cr.yaml"

func sample(t testing.TB) files {
	t.Helper()
	found := files{}
	for _, name := range []string{config, manifest, cr} {
		text, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		found[name] = string(text)
	}
	return found
}

// module returns the module of the files; the configuration must be valid.
func (f files) module(t testing.TB) Module {
	t.Helper()
	parsed, findings := moduleconfig.Parse(config, []byte(f[config]))
	if diagnostics.Failed(findings) {
		t.Fatal(findings)
	}
	return Module{Config: parsed, Manifest: []byte(f[manifest]), ManifestFile: manifest, DefaultCR: []byte(f[cr]), DefaultCRFile: cr}
}

// edit replaces a part of a file once.
type edit struct{ file, old, new string }

func (f files) edited(t *testing.T, edits []edit) files {
	t.Helper()
	for _, e := range edits {
		if !strings.Contains(f[e.file], e.old) {
			t.Fatalf("%s does not contain %q", e.file, e.old)
		}
		f[e.file] = strings.Replace(f[e.file], e.old, e.new, 1)
	}
	return f
}

func TestLint_AModuleThatIsInOrderHasNoFindings(t *testing.T) {
	module := sample(t).module(t)
	if findings := Lint(module, Options{}); len(findings) > 0 {
		t.Errorf("findings: %v", findings)
	}
}

func TestSamplesOfTheRepositoryHaveNoErrors(t *testing.T) {
	manifests, err := filepath.Glob("../../samples/modules/*/*/manifest.yaml")
	if err != nil || len(manifests) == 0 {
		t.Fatalf("no samples (error %v)", err)
	}
	for _, path := range manifests {
		module := Module{ManifestFile: path, DefaultCRFile: filepath.Join(filepath.Dir(path), "default-cr.yaml")}
		if module.Manifest, err = os.ReadFile(path); err != nil {
			t.Fatal(err)
		}
		if module.DefaultCR, err = os.ReadFile(module.DefaultCRFile); errors.Is(err, os.ErrNotExist) {
			module.DefaultCR = nil
		}
		if findings := Lint(module, Options{}); diagnostics.Failed(findings) {
			t.Errorf("%v", findings)
		}
	}
}

const (
	container = "image: registry.example.com/notes/manager:1.2.3"
	digest    = "@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
	spec      = "spec.template.spec."
	state     = "spec.versions[0].schema.openAPIV3Schema.properties.status.properties.state"
)

func TestLint_WhatIsWrongIsToldWithItsPlace(t *testing.T) {
	for name, c := range map[string]struct {
		edits []edit
		want  string // file:line field rule severity
		says  string
	}{
		"an image with the tag latest":                           {[]edit{{manifest, "busybox:1.36", "busybox:latest"}}, "manifest.yaml:57 " + spec + "initContainers[0].image image error", "latest"},
		"an image with the tag main":                             {[]edit{{manifest, "exporter:v0.26.1", "exporter:main"}}, "manifest.yaml:72 " + spec + "containers[1].image image error", "main"},
		"an image without a tag":                                 {[]edit{{manifest, "busybox:1.36", "busybox"}}, "manifest.yaml:57 " + spec + "initContainers[0].image image error", "neither tag nor digest"},
		"an invalid image":                                       {[]edit{{manifest, "docker.io/library/busybox:1.36", "Docker.io/Busy box"}}, "manifest.yaml:57 " + spec + "initContainers[0].image image error", "not a reference to an image"},
		"a container without an image":                           {[]edit{{manifest, "image: docker.io/library/busybox:1.36", "args: []"}}, "manifest.yaml:56 " + spec + "initContainers[0].image image error", "no image"},
		"a digest makes any tag good":                            {[]edit{{manifest, "busybox:1.36", "busybox:latest" + digest}}, "", ""},
		"an image of a DaemonSet":                                {[]edit{{manifest, "agent:1.2.3", "agent:latest"}}, "manifest.yaml:95 " + spec + "containers[0].image image error", "DaemonSet.apps notes-system/agent"},
		"an image of a CronJob in a List":                        {[]edit{{manifest, "clean" + digest, "clean:latest"}}, "manifest.yaml:86 spec.jobTemplate.spec.template.spec.containers[0].image image error", "CronJob.batch"},
		"an image of a Job":                                      {[]edit{{manifest, "once:build-7", "once"}}, "manifest.yaml:90 " + spec + "containers[0].image image error", "Job.batch"},
		"an image of an ephemeral container":                     {[]edit{{manifest, "look:1.0.0", "look:latest"}}, "manifest.yaml:102 spec.ephemeralContainers[0].image image error", "Pod notes-system/bare"},
		"an image in a variable":                                 {[]edit{{manifest, "proxy:3.1.0", "proxy:latest"}}, "manifest.yaml:70 " + spec + "containers[0].env[4].value image error", "latest"},
		"an image in an argument":                                {[]edit{{manifest, "helper:2.0.0", "helper:main"}}, "manifest.yaml:64 " + spec + "containers[0].args[1] image error", "main"},
		"an image of the configuration":                          {[]edit{{config, "worker:1.2.3", "worker:latest"}}, "module-config.yaml:22 images[0] image error", "latest"},
		"the same name and tag in two repositories":              {[]edit{{config, "registry.example.com/notes/worker:1.2.3", "other.example.com/agent:1.2.3"}}, "manifest.yaml:0  image-twins warning", "other.example.com/agent, registry.example.com/notes/agent"},
		"a missing manager":                                      {[]edit{{config, "name: notes-manager", "name: manager"}}, "module-config.yaml:12 manager manager error", "notes-system/notes-manager"},
		"a manager of another namespace":                         {[]edit{{config, "namespace: notes-system", "namespace: kyma-system"}}, "module-config.yaml:12 manager manager error", "Deployment.apps kyma-system/notes-manager"},
		"a manager without a namespace is found in any":          {[]edit{{config, "  namespace: notes-system\n", ""}}, "", ""},
		"a missing manager that runs no pods":                    {[]edit{{config, "kind: Deployment", "kind: Operator"}}, "module-config.yaml:12 manager manager warning", "Operator.apps"},
		"a manager with another tag":                             {[]edit{{manifest, container, "image: registry.example.com/notes/manager:1.2.30"}}, "manifest.yaml:60 " + spec + "containers[0].image manager-version error", "1.2.30, v0.26.1"},
		"a manager with a v before its tag":                      {[]edit{{manifest, container, "image: registry.example.com/notes/manager:v1.2.3"}}, "manifest.yaml:60 " + spec + "containers[0].image manager-version warning", "v1.2.3"},
		"a manager behind a registry with a port":                {[]edit{{manifest, container, "image: registry.example.com:5000/notes/manager:1.2.3"}}, "", ""},
		"a manager that is pinned by digest alone":               {[]edit{{manifest, container, "image: registry.example.com/notes/manager" + digest}, {manifest, ":v0.26.1", digest}}, "manifest.yaml:60 " + spec + "containers[0].image manager-version warning", "cannot be determined"},
		"a manager pinned by digest with the version in a label": {[]edit{{manifest, container, "image: registry.example.com/notes/manager" + digest}, {manifest, ":v0.26.1", digest}, {manifest, "  name: notes-manager\n", "  name: notes-manager\n  labels: {app.kubernetes.io/version: v1.2.3}\n"}}, "", ""},
		"a manager pinned by digest with another version":        {[]edit{{manifest, container, "image: registry.example.com/notes/manager" + digest}, {manifest, ":v0.26.1", digest}, {manifest, "  name: notes-manager\n", "  name: notes-manager\n  labels: {app.kubernetes.io/version: 1.2.4}\n"}}, "manifest.yaml:61 " + spec + "containers[0].image manager-version error", "1.2.4"},
		"a default CR with a value of the wrong type":            {[]edit{{cr, "min: 2", "min: two"}}, "default-cr.yaml:8 spec.min default-cr error", "integer"},
		"a default CR with a value that is not in the enum":      {[]edit{{cr, "colour: red", "colour: blue"}}, "default-cr.yaml:7 spec.colour default-cr error", "red"},
		"a default CR without a required field":                  {[]edit{{cr, "  title: First\n", ""}}, "default-cr.yaml:5 spec.title default-cr error", "lacks the field"},
		"a default CR that breaks a CEL rule":                    {[]edit{{cr, "min: 2", "min: 9"}}, "default-cr.yaml:5 spec default-cr error", "min must not be above max"},
		"a default CR that needs the defaults is good":           {[]edit{{cr, "  min: 2\n", ""}}, "", ""},
		"a default CR with a wrong element of a list":            {[]edit{{cr, "text: a", "text: {}"}}, "default-cr.yaml:10 spec.lines[0].text default-cr error", "string"},
		"a default CR with an unknown field":                     {[]edit{{cr, "text: a", "txt: a"}}, "default-cr.yaml:10 spec.lines[0].txt default-cr error", "not in the schema"},
		"a default CR of a kind that is not defined":             {[]edit{{cr, "kind: Note", "kind: Notebook"}}, "default-cr.yaml:2 kind default-cr-kind error", "Note.notes.example.com"},
		"a default CR of a group that is not defined":            {[]edit{{cr, "notes.example.com/v1", "notes.example.org/v1"}}, "default-cr.yaml:2 kind default-cr-kind error", "does not define"},
		"a default CR of a version that is not served":           {[]edit{{cr, "notes.example.com/v1", "notes.example.com/v1alpha1"}}, "default-cr.yaml:1 apiVersion default-cr-kind error", "use one that is: v1"},
		"two default CRs":                                        {[]edit{{cr, "  - text: a\n", "  - text: a\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"}}, "default-cr.yaml:0  default-cr error", "2 objects"},
		"a default CR without a name":                            {[]edit{{cr, "  name: default\n", ""}}, "default-cr.yaml:1  default-cr error", "name"},
		"a default CR with a namespace, but its kind has none":   {[]edit{{manifest, "scope: Namespaced", "scope: Cluster"}, {cr, "  name: default\n", "  name: default\n  namespace: x\n"}}, "default-cr.yaml:5 metadata.namespace default-cr error", "has none"},
		"a default CR that is not YAML":                          {[]edit{{cr, "  title: First", "  title: [First"}}, "default-cr.yaml:6  default-cr error", "cannot be read"},
		"a definition whose name is not that of its kind":        {[]edit{{manifest, "plural: notes}", "plural: noten}"}}, "manifest.yaml:5 metadata.name definition error", "noten.notes.example.com"},
		"a definition without a schema in a version":             {[]edit{{manifest, "    storage: false\n    schema:\n      openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}\n", "    storage: false\n"}}, "manifest.yaml:41 spec.versions[1] definition error", "without a schema"},
		"a definition that stores two versions":                  {[]edit{{manifest, "storage: false", "storage: true"}}, "manifest.yaml:10 spec.versions definition error", "2 versions"},
		"a definition without a scope":                           {[]edit{{manifest, "  scope: Namespaced\n", ""}}, "manifest.yaml:6 spec.scope definition error", "Namespaced or Cluster"},
		"a definition with a schema that an API server refuses":  {[]edit{{manifest, "title: {type: string, minLength: 1}", "title: {minLength: 1}"}}, "manifest.yaml:10 spec.versions definition error", "cannot be used"},
		"a definition of a removed version":                      {[]edit{{manifest, "apiVersion: apiextensions.k8s.io/v1\n", "apiVersion: apiextensions.k8s.io/v1beta1\n"}}, "manifest.yaml:2 apiVersion definition error", "v1beta1"},
		"an associated resource that is not defined":             {[]edit{{config, "kind: Note}", "kind: Nota}"}}, "module-config.yaml:19 associatedResources[0] associated warning", "Note.notes.example.com"},
		"an associated resource of a version that is not served": {[]edit{{config, "version: v1, kind: Note}", "version: v1alpha1, kind: Note}"}}, "module-config.yaml:19 associatedResources[0] associated warning", "v1"},
		"a status without a state":                               {[]edit{{manifest, `state: {type: string, enum: [Processing, Deleting, Ready, Error, Warning, ""]}`, "phase: {type: string}"}}, "manifest.yaml:39 " + state + " state-contract warning", "no status.state"},
		"a state that lacks a value":                             {[]edit{{manifest, `Error, Warning, ""]`, "Error, Broken]"}}, "manifest.yaml:40 " + state + " state-contract warning", "without Warning, with Broken"},
		"a state that is a number":                               {[]edit{{manifest, `{type: string, enum: [Processing, Deleting, Ready, Error, Warning, ""]}`, "{type: integer}"}}, "manifest.yaml:40 " + state + " state-contract warning", "not a string"},
		"a status without a subresource":                         {[]edit{{manifest, "    subresources: {status: {}}\n", ""}}, "manifest.yaml:11 spec.versions[0] state-contract warning", "status subresource"},
		"state checks read another field":                        {[]edit{{manifest, `state: {type: string, enum: [Processing, Deleting, Ready, Error, Warning, ""]}`, "phase: {type: string}"}, {config, "team: notes", "team: notes\ncustomStateCheck:\n- {jsonPath: status.phase, value: a, mappedState: Ready}\n- {jsonPath: status.phase, value: b, mappedState: Error}"}}, "", ""},
		"a manifest with one object twice, and differently":      {[]edit{{manifest, "metadata: {name: bare, namespace: notes-system}", "metadata: {name: bare, namespace: notes-system}\nspec: {containers: []}\n---\napiVersion: v1\nkind: Pod\nmetadata: {name: bare, namespace: notes-system}"}}, "manifest.yaml:97  manifest error", "declared differently"},
		"a manifest that is not YAML":                            {[]edit{{manifest, "scope: Namespaced", "scope: [Namespaced"}}, "manifest.yaml:9  manifest error", "cannot be read"},
	} {
		t.Run(name, func(t *testing.T) {
			findings := Lint(sample(t).edited(t, c.edits).module(t), Options{})
			if c.want == "" {
				if len(findings) > 0 {
					t.Errorf("findings: %v", findings)
				}
				return
			}
			if len(findings) != 1 {
				t.Fatalf("%d findings, want %q: %v", len(findings), c.want, findings)
			}
			f := findings[0]
			if got := fmt.Sprintf("%s:%d %s %s %s", f.File, f.Line, f.Field, f.Rule, f.Severity); got != c.want {
				t.Errorf("got %q, want %q: %v", got, c.want, f)
			}
			if !strings.Contains(f.Message+"; "+f.Fix, c.says) || f.Fix == "" {
				t.Errorf("no one says %q, or there is no fix: %v", c.says, f)
			}
		})
	}
}

func TestLint_AManifestThatNobodyHasIsNotJudged(t *testing.T) {
	module := sample(t).module(t)
	module.Manifest = nil
	if findings := Lint(module, Options{}); len(findings) > 0 {
		t.Errorf("findings: %v", findings)
	}
	module.Manifest = []byte("# nothing\n")
	if findings := Lint(module, Options{}); len(findings) != 1 || findings[0].Rule != RuleManifest {
		t.Errorf("want that the manifest is empty: %v", findings)
	}
}

func TestObjectsOfAFolderAreFoundInTheirFiles(t *testing.T) {
	f := sample(t).edited(t, []edit{{manifest, "busybox:1.36", "busybox"}, {manifest, "look:1.0.0", "look"}})
	head, tail, _ := strings.Cut(f[manifest], "---\napiVersion: v1\nkind: Pod\n")
	tree := &content.Tree{Files: []content.File{
		{Path: "README.md", Data: []byte("apiVersion: v1")}, {Path: "base/all.yaml", Data: []byte(head)},
		{Path: "pod.yml", Data: []byte("# Alone.\napiVersion: v1\nkind: Pod\n" + tail)}, {Path: "template.yaml", Data: []byte("{{ if }}")},
	}}
	module := f.module(t)
	var err error
	if module.Objects, err = render.Parse(strings.NewReader(f[manifest]+"---\n"+made), render.DefaultLimit); err != nil {
		t.Fatal(err)
	}
	module.Manifest, module.ManifestFile, module.Tree = nil, "chart", tree
	var got []string
	for _, found := range Lint(module, Options{}) {
		got = append(got, fmt.Sprintf("%s %s", found.Place(), found.Rule))
	}
	want := []string{"chart image", "chart/base/all.yaml:57:9 image", "chart/pod.yml:7:38 image"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("places (-want +got):\n%s", diff)
	}
}

// made is an object that is in no file.
const made = "apiVersion: v1\nkind: Pod\nmetadata: {name: made, namespace: a}\nspec: {containers: [{name: a, image: a}]}\n"

func TestRulesAreSelected(t *testing.T) {
	edited := sample(t).edited(t, []edit{{manifest, "busybox:1.36", "busybox"}, {cr, "min: 2", "min: two"}, {manifest, "    subresources: {status: {}}\n", ""}})
	for rules, want := range map[string][]string{
		"":                     {RuleDefaultCR, RuleStateContract, RuleImage},
		RuleImage:              {RuleImage},
		"image,state-contract": {RuleStateContract, RuleImage},
		RuleManager:            nil,
	} {
		t.Run("rules "+rules, func(t *testing.T) {
			options := Options{}
			if rules != "" {
				options.Rules = strings.Split(rules, ",")
			}
			var got []string
			for _, f := range Lint(edited.module(t), options) {
				got = append(got, f.Rule)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("rules (-want +got):\n%s", diff)
			}
		})
	}
	for _, rule := range Rules() {
		if !Known(rule.Name) || rule.Text == "" {
			t.Errorf("rule %q has no text or is not known", rule.Name)
		}
	}
	if Known("nothing") {
		t.Error(`"nothing" is no rule`)
	}
}

func TestLinksAreAskedForOnceEach(t *testing.T) {
	module := sample(t).edited(t, []edit{{config, "https://example.com/docs", "https://example.com/notes"}}).module(t)
	asked := map[string]int{}
	fetch := func(link string) error {
		asked[link]++
		if strings.HasSuffix(link, ".yaml") || strings.HasSuffix(link, ".svg") {
			return errors.New("404 Not Found")
		}
		return nil
	}
	findings := Lint(module, Options{Fetch: fetch})
	want := map[string]int{"https://example.com/notes": 1, "https://example.com/icon.svg": 1, "https://example.com/crds.yaml": 1}
	if diff := cmp.Diff(want, asked); diff != "" {
		t.Errorf("asked (-want +got):\n%s", diff)
	}
	var got []string
	for _, f := range findings {
		got = append(got, fmt.Sprintf("%d %s %s %s", f.Line, f.Field, f.Rule, f.Severity))
	}
	if diff := cmp.Diff([]string{"8 icons[0].link reachable error", "11 resources.crds reachable error"}, got); diff != "" {
		t.Errorf("findings (-want +got):\n%s", diff)
	}
	clear(asked)
	if Lint(module, Options{Fetch: fetch, Rules: []string{RuleImage}}); len(asked) > 0 {
		t.Errorf("asked for %v though the rule is not selected", asked)
	}
}
