package kustomize

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"sigs.k8s.io/kustomize/api/krusty"

	"github.com/kyma-project/lifecycle-manager/pkg/content"
	"github.com/kyma-project/lifecycle-manager/pkg/render"
	"github.com/kyma-project/lifecycle-manager/pkg/render/internal/rendertest"
)

// trap notes every request and every program that kustomize makes.
type trap struct {
	requests atomic.Int64
	programs string
}

func (t *trap) RoundTrip(*http.Request) (*http.Response, error) {
	t.requests.Add(1)
	return nil, errors.New("no requests here")
}

// setTrap puts programs into the path that leave a note, and a transport in place of the default one.
func setTrap(tb testing.TB) *trap {
	tb.Helper()
	folder := tb.TempDir()
	set := &trap{programs: filepath.Join(folder, "programs")}
	for _, name := range []string{"git", "helm", "docker"} {
		script := fmt.Sprintf("#!/bin/sh\necho %s >>%s\nexit 1\n", name, set.programs)
		if err := os.WriteFile(filepath.Join(folder, name), []byte(script), 0o700); err != nil {
			tb.Fatal(err)
		}
	}
	tb.Setenv("PATH", folder)
	// Kustomize uses the default transport and has no setting for another.
	former := http.DefaultTransport
	http.DefaultTransport = set
	tb.Cleanup(func() { http.DefaultTransport = former })
	return set
}

func (t *trap) sprung() string {
	ran, _ := os.ReadFile(t.programs)
	if t.requests.Load() == 0 && len(ran) == 0 {
		return ""
	}
	return fmt.Sprintf("%d requests, programs %q", t.requests.Load(), ran)
}

// remotes are entries that name something outside of the content.
var remotes = []string{
	"https://example.com/a.yaml", "http://example.com/a.yaml", "HTTPS://example.com/a.yaml", "https:a.yaml", "http:/a.yaml",
	"https://github.com/org/repo", "https://github.com/org/repo//base?ref=v1", "github.com/org/repo", "GitHub.com/org/repo/base",
	"github.com:org/repo.git", "git@github.com:org/repo.git", "git@example.com:org/repo", "me@example.com:org/repo.git//base",
	"org-1@example.com/org/repo", "git::https://example.com/repo.git", "git::github.com/org/repo", "GIT::ssh://git@example.com/repo",
	"ssh://git@example.com/org/repo.git", "file:///etc/repo.git", "file://tmp/repo", "https://dev.azure.com/org/project/_git/repo",
	"oci://example.com/org/base", "ftp://example.com/a.yaml",
	"/etc/passwd", "/", "/a.yaml", "//a.yaml", "..", "../a.yaml", "base/../../a.yaml", "./../a.yaml",
}

// places are the ways to refer to a file or folder; %s is the entry, quoted. The kustomization that holds it is in the folder "in" or
// above.
var places = map[string]string{
	"resources": "resources: [%s]", "bases": "bases: [%s]", "components": "components: [%s]", "crds": "crds: [%s]",
	"configurations": "configurations: [%s]", "generators": "generators: [%s]", "transformers": "transformers: [%s]", "validators": "validators: [%s]",
	"patches": "patches: [{path: %s}]", "patchesStrategicMerge": "patchesStrategicMerge: [%s]", "openapi.path": "openapi: {path: %s}",
	"patchesJson6902": "patchesJson6902: [{path: %s, target: {kind: A, name: a}}]", "replacements": "replacements: [{path: %s}]",
	"configMapGenerator.files": "configMapGenerator: [{name: a, files: [%s]}]", "configMapGenerator.envs": "configMapGenerator: [{name: a, envs: [%s]}]",
	"configMapGenerator.env": "CONFIGMAPGENERATOR: [{name: a, Env: %s}]", "secretGenerator.files": "secretGenerator: [{name: a, files: [%s]}]",
	"secretGenerator.envs": "secretGenerator: [{name: a, envs: [%s]}]", "secretGenerator.env": "secretGenerator: [{name: a, env: %s}]",
	"transformers, PatchTransformer":               pluginPlace("transformers", "PatchTransformer", "path: %s"),
	"validators, PatchJson6902Transformer":         pluginPlace("validators", "PatchJson6902Transformer", "Path: %s"),
	"transformers, PatchStrategicMergeTransformer": pluginPlace("transformers", "PatchStrategicMergeTransformer", "paths: [%s]"),
	"transformers, ReplacementTransformer":         pluginPlace("transformers", "ReplacementTransformer", "replacements: [{path: %s}]"),
	"transformers, ValueAddTransformer":            pluginPlace("transformers", "ValueAddTransformer", "targetFilePath: %s"),
	"generators, ConfigMapGenerator.files":         pluginPlace("generators", "ConfigMapGenerator", "files: [%s]"),
	"generators, SecretGenerator.envs":             pluginPlace("generators", "SecretGenerator", "envs: [%s]"),
}

func pluginPlace(field, kind, setting string) string {
	return fmt.Sprintf("%s:\n- |-\n  apiVersion: builtin\n  kind: %s\n  metadata: {name: a}\n  %s", field, kind, setting)
}

// TestKustomizeRefusesWhatIsRemote holds it for every entry at every place, also where the content has a file of that very name.
func TestKustomizeRefusesWhatIsRemote(t *testing.T) {
	set := setTrap(t)
	for place, format := range places {
		for _, entry := range remotes {
			tree := rendertest.Content("kustomization.yaml", fmt.Sprintf(format, fmt.Sprintf("%q", entry))+"\n", strings.TrimLeft(filepath.Clean(entry), "/."), "not: [yaml")
			_, err := Renderer{}.Render(t.Context(), tree, render.Input{})
			want := fmt.Sprintf("kustomization.yaml: %s refers to %q, which is not part of the content: "+
				"copy it into the content and refer to it by a relative path", place, entry)
			if content.ReasonOf(err) != content.ReasonRemoteBaseRefused || err.Error() != want {
				t.Errorf("%s: %q: %s: %v", place, entry, content.ReasonOf(err), err)
			}
		}
	}
	if sprung := set.sprung(); sprung != "" {
		t.Errorf("kustomize was let out: %s", sprung)
	}
}

// TestKustomizeRefuse_TheTrapWorks holds that kustomize would have sprung it.
func TestKustomizeRefuse_TheTrapWorks(t *testing.T) {
	for entry, want := range map[string]string{
		"https://example.com/a.yaml":  "1 requests, programs \"\"",
		"git@example.com:org/repo":    "0 requests, programs \"git\\n\"",
		"https://github.com/org/repo": "1 requests, programs \"git\\n\"",
	} {
		set := setTrap(t)
		files := newReadOnlyFS(map[string][]byte{"kustomization.yaml": []byte("resources: [" + entry + "]\n")})
		if _, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(files, "/"); err == nil {
			t.Errorf("%s is built", entry)
		}
		if got := set.sprung(); got != want {
			t.Errorf("%s: %s, want %s", entry, got, want)
		}
	}
}

func TestKustomizeRefuses(t *testing.T) {
	const invalid, remote, large = content.ReasonContentInvalid, content.ReasonRemoteBaseRefused, content.ReasonContentTooLarge
	refersTo := "kustomization.yaml: resources refers to "
	for name, test := range map[string]struct {
		tree         *content.Tree
		reason, text string
	}{
		"content without kustomization": {
			rendertest.Content("a.yaml", ""), invalid,
			"the root of the content has 0 files of the names kustomization.yaml, kustomization.yml, Kustomization and needs one",
		},
		"one file without a name": {
			rendertest.Content("", "resources: []\n"), invalid,
			"the root of the content has 0 files of the names kustomization.yaml, kustomization.yml, Kustomization and needs one",
		},
		"two kustomization files": {
			rendertest.Content("kustomization.yaml", "", "Kustomization", ""), invalid,
			"the root of the content has 2 files of the names kustomization.yaml, kustomization.yml, Kustomization and needs one",
		},
		"a field that kustomize does not have": {
			rendertest.Content("kustomization.yaml", "resource: [a]\n"), invalid,
			`kustomization.yaml: kustomize cannot build the root of the content: invalid Kustomization: json: unknown field "resource"`,
		},
		"what the content does not have": {
			rendertest.Content("kustomization.yaml", "resources: [b.yaml]\n", "a.yaml", ""), invalid,
			refersTo + `"b.yaml", and the content has neither a file nor a folder of that name`,
		},
		"a host without a scheme, which kustomize takes for a folder": {
			rendertest.Content("kustomization.yaml", "resources: [example.com/org/repo]\n"), invalid,
			refersTo + `"example.com/org/repo", and the content has neither a file nor a folder of that name`,
		},
		"an empty entry": {rendertest.Content("kustomization.yaml", "resources: ['']\n"), invalid, "kustomization.yaml: resources has an empty entry: remove it"},
		"a folder where a file is wanted": {
			rendertest.Content("kustomization.yaml", "patches: [{path: a}]\n", "a/b.yaml", ""), invalid,
			`kustomization.yaml: patches refers to "a", which must be a file`,
		},
		"a file where a folder is wanted": {
			rendertest.Content("kustomization.yaml", "components: [a]\n", "a", ""), invalid,
			`kustomization.yaml: components refers to "a", which must be a folder`,
		},
		"what is remote in a base of a base": {
			rendertest.Content("kustomization.yaml", "resources: [a]\n", "a/kustomization.yaml", "resources: [../b]\n", "b/kustomization.yaml", "resources: [../../c]\n"), remote,
			`b/kustomization.yaml: resources refers to "../../c", which is not part of the content: copy it into the content and refer to it by a relative path`,
		},
		"a file with a key that is remote": {
			rendertest.Content("kustomization.yaml", "configMapGenerator: [{name: a, files: ['k=https://example.com']}]\n"), remote,
			`kustomization.yaml: configMapGenerator.files refers to "k=https://example.com", which is not part of the content: ` +
				"copy it into the content and refer to it by a relative path",
		},
		"a plugin in a file that is remote": {
			rendertest.Content("kustomization.yaml", "generators: [g/p.yaml]\n", "g/p.yaml", "apiVersion: builtin\nkind: ConfigMapGenerator\nmetadata: {name: a}\nfiles: [ssh://a/b]\n"),
			remote, `kustomization.yaml: generators, ConfigMapGenerator.files refers to "ssh://a/b", which is not part of the content: ` +
				"copy it into the content and refer to it by a relative path",
		},
		"settings set twice, which kustomize takes for a name that is remote": {
			rendertest.Content("kustomization.yaml", "transformers:\n- |-\n  git::https://github.com/org/repo: 1\n  apiVersion: builtin\n  kind: LabelTransformer\n  metadata: {name: a}\n  ---\n"+
				"  apiVersion: builtin\n  kind: LabelTransformer\n  metadata: {name: a}\n"), remote,
			`kustomization.yaml: transformers refers to "git::https://github.com/org/repo: 1\napiVersion: builtin\nkind: LabelTransformer\n` +
				`metadata: {name: a}\n---\napiVersion: builtin\nkind: LabelTransformer\nmetadata: {name: a}", which is not part of the content: ` +
				"copy it into the content and refer to it by a relative path",
		},
		"a chart": {
			rendertest.Content("kustomization.yaml", "helmCharts: [{name: minio, repo: 'https://charts.min.io'}]\n"), invalid,
			`kustomization.yaml: helmCharts holds chart "minio", for which a helm program would have to run: ` +
				"install the chart by its own source (type helm-chart), or put what it renders into the content",
		},
		"a chart as it was once written": {
			rendertest.Content("kustomization.yaml", "helmChartInflationGenerator: [{chartName: minio}]\n"), invalid,
			`kustomization.yaml: helmCharts holds chart "minio", for which a helm program would have to run: ` +
				"install the chart by its own source (type helm-chart), or put what it renders into the content",
		},
		"a chart as a plugin": {
			rendertest.Content("kustomization.yaml", pluginPlace("generators", "HelmChartInflationGenerator", "releaseName: a")), invalid,
			`kustomization.yaml: generators names HelmChartInflationGenerator "a", which is not built into kustomize: ` +
				"programs and charts of the content are not run, put what it makes into the content",
		},
		"a program": {
			rendertest.Content("kustomization.yaml", "transformers: [t.yaml]\n", "t.yaml", "apiVersion: me.io/v1\nkind: Sed\nmetadata: {name: s, "+
				"annotations: {config.kubernetes.io/function: 'exec: {path: ./sed}'}}\n"), invalid,
			`kustomization.yaml: transformers names Sed "s", which is not built into kustomize: ` +
				"programs and charts of the content are not run, put what it makes into the content",
		},
		"a built-in plugin of another group": {
			rendertest.Content("kustomization.yaml", "transformers: ['{apiVersion: x/builtin, kind: PatchTransformer, metadata: {name: s}}']\n"), invalid,
			`kustomization.yaml: transformers names PatchTransformer "s", which is not built into kustomize: ` +
				"programs and charts of the content are not run, put what it makes into the content",
		},
		"a folder of plugins, whose result could be anything": {
			rendertest.Content("kustomization.yaml", "generators: [g]\n", "g/kustomization.yaml", "resources: [p.yaml]\n", "g/p.yaml", ""), invalid,
			`kustomization.yaml: generators refers to folder "g": name the files with the settings one by one`,
		},
		"a cycle": {
			rendertest.Content("kustomization.yaml", "resources: [a]\n", "a/kustomization.yaml", "resources: [../b]\n", "b/kustomization.yaml", "resources: [../a]\n"), invalid,
			`the kustomization refers to itself: root of the content, then folder "a", then folder "b", then folder "a"`,
		},
		"itself": {
			rendertest.Content("kustomization.yaml", "resources: [.]\n"), invalid,
			"the kustomization refers to itself: root of the content, then root of the content",
		},
		"too many above each other": {
			chain(40), large, `folder "32": the kustomization has more than 1000 others below it, or more than 32 above each other: make it simpler`,
		},
		"bases that multiply": {
			doubling(16), large, `folder "13b": the kustomization has more than 1000 others below it, or more than 32 above each other: make it simpler`,
		},
		"too many entries": {
			rendertest.Content("kustomization.yaml", "resources: ["+strings.Repeat("a,", 20_001)+"]\n", "a", ""), large,
			"kustomization.yaml: resources: the kustomization has more than 20000 entries: make it simpler",
		},
		"more objects than kustomize can compare": {
			rendertest.Content("kustomization.yaml", "resources: [a.yaml]\n", "a.yaml", rendertest.ManyConfigs("a", 4001)), large,
			"kustomization.yaml: kustomize would take minutes for 4001 objects and 0 changes, because its time grows with the square of their number: " +
				"split the content, or run \"kustomize build\" beforehand and use the result as a bundle",
		},
		"more generators than kustomize can compare": {
			rendertest.Content("a/kustomization.yaml", "configMapGenerator: ["+strings.Repeat("{name: a},", 2500)+"]\n",
				"kustomization.yaml", "resources: [a]\nsecretGenerator: ["+strings.Repeat("{name: a},", 1000)+"]\nimages: [{name: a}]\n"), large,
			"kustomization.yaml: kustomize would take minutes for 3500 objects and 1 changes, because its time grows with the square of their number: " +
				"split the content, or run \"kustomize build\" beforehand and use the result as a bundle",
		},
		"more plugins in one text than can be compared": {
			rendertest.Content("kustomization.yaml", "generators: [a.yaml]\n", "a.yaml", rendertest.ManyConfigs("a", 1001)), large,
			"kustomization.yaml: generators has 1001 plugins in one text and 1000 are accepted: make it simpler",
		},
		"a file that is used until it is too much": {
			rendertest.Content("kustomization.yaml", "configMapGenerator: [{name: a, files: ["+strings.Repeat("a,", 17)+"]}]\n", "a", strings.Repeat("x", 1<<20)), large,
			"kustomization.yaml: configMapGenerator.files: kustomize would read more than 16777216 bytes, each file as often as it is used and " +
				"with its aliases written out: make the content smaller",
		},
		"aliases that multiply in an object": {
			rendertest.Content("kustomization.yaml", "resources: [a.yaml]\n", "a.yaml", rendertest.Config("a")+"a: &a [x,x,x,x,x,x,x,x,x]\n"+rendertest.Growing('a', 'j')), large,
			"kustomization.yaml: resources: kustomize would read more than 16777216 bytes, each file as often as it is used and " +
				"with its aliases written out: make the content smaller",
		},
		"aliases that multiply in the second document of a patch in the kustomization": {
			rendertest.Content("kustomization.yaml", "patchesStrategicMerge:\n- |\n  "+
				strings.ReplaceAll(rendertest.Config("a")+"---\n"+rendertest.Config("b")+"a: &a [x,x,x,x,x,x,x,x,x]\n"+rendertest.Growing('a', 'j'), "\n", "\n  ")), large,
			"kustomization.yaml: patchesStrategicMerge: kustomize would read more than 16777216 bytes, each file as often as it is used and " +
				"with its aliases written out: make the content smaller",
		},
		"an alias inside of what it stands for, which would end the process": {
			rendertest.Content("kustomization.yaml", "resources: [a.yaml]\n", "a.yaml", rendertest.Config("a")+"a: &a [*a]\n"), invalid,
			`kustomization.yaml: resources is malformed: anchor "a" contains itself`,
		},
		"the same in the text of a transformer": {
			rendertest.Content("kustomization.yaml", "transformers: ['{a: &a [*a]}']\n"), invalid,
			`kustomization.yaml: transformers is malformed: anchor "a" contains itself`,
		},
		"definitions that refer to themselves, which would end the process": {
			rendertest.Content("kustomization.yaml", "crds: [a.yaml]\n", "a.yaml", "a: {schema: {properties: {kind: {}, apiVersion: {}, metadata: {}, x: {$ref: a}}}}\n"), invalid,
			`kustomization.yaml: crds refers to "a.yaml", whose definitions refer to themselves or too often to each other`,
		},
		"the same behind another way to write the name": {
			rendertest.Content("kustomization.yaml", "crds: [a.json]\n", "a.json", `{"HTTP://A//": {"Schema": {"properties": {"x": {"$ref": "HTTP://A//"}}}}}`), invalid,
			`kustomization.yaml: crds refers to "a.json", whose reference "HTTP://A//" is not the name of a definition`,
		},
		"definitions without a byte, at which kustomize breaks down": {
			rendertest.Content("kustomization.yaml", "crds: [a.yaml]\n", "a.yaml", ""), invalid,
			"kustomize cannot build the root of the content: it breaks down: runtime error: index out of range [0] with length 0",
		},
		"an object without a name": {
			rendertest.Content("kustomization.yaml", "resources: [a.yaml]\n", "a.yaml", "apiVersion: v1\nkind: A\n"), invalid,
			"kustomize cannot build the root of the content: accumulating resources: accumulation err='accumulating resources from 'a.yaml': " +
				`missing metadata.name in object {{v1 A} {{ } map[] map[]}}': must build at directory: '/a.yaml': file is not directory`,
		},
		"what JSON has no word for": {
			rendertest.Content("kustomization.yaml", "resources: [a.yaml]\n", "a.yaml", rendertest.Config("a")+"spec: .inf\n"), invalid,
			"kustomize cannot build the root of the content: map[string]interface {}{\"apiVersion\":\"v1\", \"kind\":\"ConfigMap\", " +
				"\"metadata\":map[string]interface {}{\"name\":\"a\"}, \"spec\":+Inf}: json: unsupported value: +Inf",
		},
		"a label that is a number, of which kustomize does not say a word": {
			rendertest.Content("kustomization.yaml", "resources: [a.yaml]\n", "a.yaml", rendertest.Config("a")+"  labels: {a: 1}\n"), invalid,
			`the result of kustomize: document 1 (line 1): ConfigMap: metadata.labels: the value of "a" is a number: put it in quotes`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Renderer{}.Render(t.Context(), test.tree, render.Input{})
			rendertest.WantRefusal(t, err, test.reason, test.text)
		})
	}
}

// chain are kustomizations of which each has the next one.
func chain(length int) *content.Tree {
	files := []string{"kustomization.yaml", "resources: ['1']\n"}
	for i := range length {
		files = append(files, fmt.Sprintf("%d/kustomization.yaml", i+1), fmt.Sprintf("resources: [../%d]\n", i+2))
	}
	return rendertest.Content(files...)
}

// doubling are kustomizations of which each has two that have the same two.
func doubling(length int) *content.Tree {
	files := []string{"kustomization.yaml", "resources: [1a, 1b]\n"}
	for i := range length {
		text := fmt.Sprintf("namePrefix: %%s\nresources: [../%da, ../%db]\n", i+2, i+2)
		files = append(files, fmt.Sprintf("%da/kustomization.yaml", i+1), fmt.Sprintf(text, "a"), fmt.Sprintf("%db/kustomization.yaml", i+1), fmt.Sprintf(text, "b"))
	}
	text := "resources: [x.yaml]\n"
	files = append(files, fmt.Sprintf("%da/kustomization.yaml", length+1), text, fmt.Sprintf("%db/kustomization.yaml", length+1), text,
		fmt.Sprintf("%da/x.yaml", length+1), rendertest.Config("a"), fmt.Sprintf("%db/x.yaml", length+1), rendertest.Config("b"))
	return rendertest.Content(files...)
}

func TestKustomizeRefusesPathsAndValues(t *testing.T) {
	tree := rendertest.Content("a/kustomization.yaml", "resources: [x.yaml]\n", "a/x.yaml", rendertest.Config("a"))
	for path, want := range map[string]string{
		"..":      `the path ".." of the kustomization leads out of the content: name a folder below its root`,
		"a/../..": `the path "a/../.." of the kustomization leads out of the content: name a folder below its root`,
		"/a":      `the path "/a" of the kustomization leads out of the content: name a folder below its root`,
	} {
		_, err := Renderer{Path: path}.Render(t.Context(), tree, render.Input{})
		rendertest.WantRefusal(t, err, content.ReasonSourceInvalid, want)
	}
	for _, path := range []string{"a", "./a/", "b/../a"} {
		if _, err := (Renderer{Path: path}).Render(t.Context(), tree, render.Input{}); err != nil {
			t.Errorf("%s: %v", path, err)
		}
	}
	_, err := Renderer{Path: "a"}.Render(t.Context(), tree, render.Input{Values: map[string]any{"a": 1}})
	rendertest.WantRefusal(t, err, content.ReasonValuesInvalid, "this format takes no values: remove them, or use a Helm chart")
}

// TestErrorsOfKustomizeHoldNoSecrets walks through what kustomize repeats of what it reads.
func TestErrorsOfKustomizeHoldNoSecrets(t *testing.T) {
	secret := "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\nstringData: {a: geheim}\n"
	for name, tree := range map[string]*content.Tree{
		"a literal without key": rendertest.Content("kustomization.yaml", "secretGenerator: [{name: s, literals: [geheim]}]\n"),
		"a line without UTF-8":  rendertest.Content("kustomization.yaml", "secretGenerator: [{name: s, envs: [e]}]\n", "e", "a=geheim\xff\n"),
		"a patch that is none": rendertest.Content("kustomization.yaml", "resources: [s.yaml]\npatches: [{target: {name: s}, patch: 'geheim'}]\n",
			"s.yaml", secret),
		"an object":          rendertest.Content("kustomization.yaml", "resources: [s.yaml]\n", "s.yaml", secret+"x: .inf\n"),
		"a plugin":           rendertest.Content("kustomization.yaml", pluginPlace("generators", "SecretGenerator", "literals: [geheim]")),
		"settings of no use": rendertest.Content("kustomization.yaml", pluginPlace("generators", "SecretGenerator", "files: geheim")),
		"a JSON patch":       rendertest.Content("kustomization.yaml", "resources: [s.yaml]\npatchesJson6902: [{target: {kind: Secret, name: s, version: v1}, patch: '[geheim'}]\n", "s.yaml", secret),
	} {
		_, err := Renderer{}.Render(t.Context(), tree, render.Input{})
		if content.ReasonOf(err) != content.ReasonContentInvalid || strings.Contains(err.Error(), "geheim") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// FuzzKustomize holds that whatever the kustomization and a file of it are, nothing is fetched or run, and there are objects or a reason.
func FuzzKustomize(f *testing.F) {
	for _, tree := range shapes {
		f.Add(tree.Files[0].Data, tree.Files[1].Data)
	}
	for _, format := range places {
		f.Add([]byte(fmt.Sprintf(format, "a.yaml")), []byte(rendertest.Config("a")))
		f.Add([]byte(fmt.Sprintf(format, "github.com/a/b")), []byte(pluginPlace("a", "ConfigMapGenerator", "files: [https://a]")))
	}
	set := setTrap(f)
	f.Fuzz(func(t *testing.T, kustomization, file []byte) {
		tree := rendertest.Content("kustomization.yaml", string(kustomization), "a.yaml", string(file), "b/kustomization.yaml", "resources: [../a.yaml]")
		rendered, err := Renderer{}.Render(t.Context(), tree, render.Input{})
		if sprung := set.sprung(); sprung != "" {
			t.Fatalf("kustomize was let out: %s", sprung)
		}
		if err != nil && content.ReasonOf(err) == content.ReasonInternal {
			t.Fatalf("no reason: %v", err)
		}
		if err != nil && len(rendered.Steps) > 0 {
			t.Fatal("objects beside an error")
		}
	})
}
