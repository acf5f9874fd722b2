package packaging_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-git/go-git/v5"
	gitconfig "github.com/go-git/go-git/v5/config"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/google/go-cmp/cmp"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/client/packaging"
	"github.com/kyma-project/lifecycle-manager/pkg/component/descriptor"
	"github.com/kyma-project/lifecycle-manager/pkg/diagnostics"
	"github.com/kyma-project/lifecycle-manager/pkg/modulelint"
)

func TestScaffold(t *testing.T) {
	for name, c := range map[string]struct {
		draft packaging.Draft
		want  string
	}{
		"a short name gets a domain":                  {packaging.Draft{Name: "notes"}, ""},
		"a full name is kept":                         {packaging.Draft{Name: "kyma-project.io/module/box-factory", Version: "1.2.3"}, ""},
		"digits are not allowed in names":             {packaging.Draft{Name: "notes2"}, "no name for a module"},
		"a word of two letters is too short":          {packaging.Draft{Name: "my-notes"}, "at least 3"},
		"a name that is too long is an error":         {packaging.Draft{Name: strings.Repeat("abc-", 20) + "abc"}, "up to 50"},
		"capitals are not allowed in component names": {packaging.Draft{Name: "Example.com/module"}, "Example.com/module"},
		"a version must be a semantic one":            {packaging.Draft{Name: "notes", Version: "one"}, "one"},
		"a hyphen at the end is not allowed":          {packaging.Draft{Name: "notes-"}, "notes-"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "new")
			_, err := packaging.Scaffold(dir, c.draft)
			if c.want != "" {
				if err == nil || !strings.Contains(err.Error(), c.want) {
					t.Fatalf("got %v, want %q", err, c.want)
				}
				if _, err := os.Stat(dir); err == nil {
					t.Error("something was written all the same")
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			source := load(t, dir)
			found, err := source.Lint(t.Context(), modulelint.Options{})
			if err != nil || len(found) > 0 {
				t.Errorf("%v %v", found, err)
			}
		})
	}
}

func load(t *testing.T, dir string) *packaging.Source {
	t.Helper()
	source, found, err := packaging.Load(t.Context(), dir, &packaging.Fetcher{})
	if err != nil || source == nil {
		t.Fatalf("%v %v", err, found)
	}
	return source
}

func TestSource_WritesRequirementsEverywhere(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "notes")
	if _, err := packaging.Scaffold(dir, packaging.Draft{Name: "notes"}); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, packaging.ConfigFile)
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	text = append(text, "\nrequires:\n- {module: istio, version: \">=1.20 <2\"}\n- kubernetes: \">=1.31\"\nrollbackTo: \">=0.0.1\"\n"...)
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	source := load(t, dir)
	template, err := source.Template(t.Context(), "kcp-system")
	if err != nil {
		t.Fatal(err)
	}
	want := []v1beta2.Requirement{{Module: "istio", Version: ">=1.20 <2"}, {Kubernetes: ">=1.31"}}
	if diff := cmp.Diff(want, template.Spec.Requires); diff != "" {
		t.Errorf("spec.requires (-want +got):\n%s", diff)
	}
	if got := template.Spec.RollbackTo; got != ">=0.0.1" {
		t.Errorf("spec.rollbackTo is %q", got)
	}
	const list = `[{"module":"istio","version":">=1.20 <2"},{"kubernetes":">=1.31"}]`
	if got := template.Annotations[v1beta2.AnnotationRequires]; got != list {
		t.Errorf("the annotation is %s", got)
	}
	version, err := source.ComponentVersion(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	at := slices.IndexFunc(version.MoreLabels, func(l descriptor.Label) bool { return l.Name == v1beta2.AnnotationRequires })
	if at < 0 || string(version.MoreLabels[at].Value) != list || !version.MoreLabels[at].Signing {
		t.Errorf("the labels of the component are %v", version.MoreLabels)
	}
}

func TestScaffoldKeepsWhatIsThere(t *testing.T) {
	dir := t.TempDir()
	put(t, filepath.Join(dir, "manifest.yaml"), "mine")
	put(t, filepath.Join(dir, packaging.ConfigFile), "mine")
	if _, err := packaging.Scaffold(dir, packaging.Draft{Name: "notes"}); !errors.Is(err, packaging.ErrExists) {
		t.Fatalf("got %v", err)
	}
	if files, _ := os.ReadDir(dir); len(files) != 2 {
		t.Errorf("something was written: %v", files)
	}
	done, err := packaging.Scaffold(dir, packaging.Draft{Name: "notes", Overwrite: true})
	if err != nil || len(done.Kept) != 1 || len(done.Written) != 2 {
		t.Fatalf("%+v %v", done, err)
	}
	if text, _ := os.ReadFile(filepath.Join(dir, "manifest.yaml")); string(text) != "mine" {
		t.Error("the manifest was replaced")
	}
}

func put(t *testing.T, file, text string) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(text), 0o644)); err != nil {
		t.Fatal(err)
	}
}

// config returns a module configuration with the given manifest.
func config(manifest, more string) string {
	return `name: example.com/module/notes
version: 0.1.0
manifest: ` + manifest + `
repository: https://example.com/notes
documentation: https://example.com/notes/docs
team: notes
icons: {module-icon: https://example.com/icon.svg}
` + more
}

const configMap = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: notes, namespace: kyma-system}\n"

func TestManifestOfEveryFormat(t *testing.T) {
	for name, c := range map[string]struct {
		config   string
		files    map[string]string
		resource string // type, media type and renderer
	}{
		"a file is plain YAML": {
			config("manifest.yaml", ""), map[string]string{"manifest.yaml": configMap}, "  ",
		},
		"a folder with a Chart.yaml is a chart": {
			config("chart", ""), map[string]string{"chart/Chart.yaml": "apiVersion: v2\nname: notes\nversion: 0.1.0\n", "chart/templates/a.yaml": configMap},
			"helmChart application/vnd.cncf.helm.chart.content.v1.tar+gzip ",
		},
		"a folder with a kustomization.yaml is a kustomization": {
			config("all", ""), map[string]string{"all/kustomization.yaml": "resources: [a.yaml]\n", "all/a.yaml": configMap},
			" application/x-tar kustomize",
		},
		"a folder with manifests is a bundle": {
			config("all", ""), map[string]string{"all/manifests/a.yaml": configMap}, " application/x-tar bundle",
		},
		"a folder has the format of the configuration's renderer": {
			config("all", "renderer: bundle\n"), map[string]string{"all/manifests/a.yaml": configMap}, " application/x-tar bundle",
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			put(t, filepath.Join(dir, packaging.ConfigFile), c.config)
			for file, text := range c.files {
				put(t, filepath.Join(dir, file), text)
			}
			source := load(t, dir)
			objects, err := source.Objects(t.Context())
			if err != nil || len(objects) != 1 || objects[0].GetName() != "notes" {
				t.Fatalf("objects: %v %v", objects, err)
			}
			version, err := source.ComponentVersion(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			r := version.Resources[0]
			if got := r.Type + " " + r.MediaType + " " + r.Labels[v1beta2.LabelRenderer]; got != c.resource {
				t.Errorf("got %q, want %q", got, c.resource)
			}
			again, err := load(t, dir).ComponentVersion(t.Context(), nil)
			if diff := cmp.Diff(version, again, cmp.Comparer(func(a, b packaging.Source) bool { return true }),
				cmp.FilterPath(func(p cmp.Path) bool { return p.String() == "Access" }, cmp.Ignore())); diff != "" || err != nil {
				t.Errorf("the second time: %v\n%s", err, diff)
			}
		})
	}
}

func TestPackaging_WhatCannotBeRead(t *testing.T) {
	for name, c := range map[string]struct {
		config string
		field  string
		line   int
	}{
		"a missing manifest":             {config("nowhere.yaml", ""), "manifest", 3},
		"a default CR that is not there": {config("manifest.yaml", "defaultCR: nowhere.yaml\n"), "defaultCR", 8},
		"a folder of unknown format":     {config("empty", ""), "manifest", 3},
		"an archive behind a link":       {config("https://example.invalid/x.tgz", "renderer: helm-chart\n"), "manifest", 3},
		"a link to an unknown host":      {config("https://example.invalid/x.yaml", ""), "manifest", 3},
		"an invalid configuration":       {"version: 1\n", "", 0},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			put(t, filepath.Join(dir, packaging.ConfigFile), c.config)
			put(t, filepath.Join(dir, "manifest.yaml"), configMap)
			put(t, filepath.Join(dir, "empty/readme.md"), "nothing")
			source, found, err := packaging.Load(t.Context(), dir, &packaging.Fetcher{})
			if err != nil || source != nil || !diagnostics.Failed(found) {
				t.Fatalf("%v %v %v", source, found, err)
			}
			if c.field != "" && (len(found) != 1 || found[0].Field != c.field || found[0].Line != c.line) {
				t.Errorf("got %v, want field %s in line %d", found, c.field, c.line)
			}
		})
	}
}

func TestManifestBehindALink(t *testing.T) {
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/manifest.yaml":
			_, _ = w.Write([]byte(configMap))
		case "/plain":
			http.Redirect(w, r, "http://"+r.Host+"/manifest.yaml", http.StatusFound)
		case "/round":
			http.Redirect(w, r, "/round", http.StatusFound)
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(server.Close)
	fetcher := &packaging.Fetcher{Client: server.Client()}
	dir := t.TempDir()
	put(t, filepath.Join(dir, packaging.ConfigFile), config(server.URL+"/manifest.yaml", ""))
	source, found, err := packaging.Load(t.Context(), dir, fetcher)
	if err != nil || source == nil {
		t.Fatalf("%v %v", err, found)
	}
	template, err := source.Template(t.Context(), "")
	if err != nil || len(template.Spec.Resources) != 1 || template.Spec.Resources[0].Link != server.URL+"/manifest.yaml" {
		t.Errorf("the ModuleTemplate does not link the manifest: %+v %v", template.Spec.Resources, err)
	}
	for name, c := range map[string]struct{ path, want string }{
		"a missing page is no manifest":       {"/nothing", "404"},
		"a redirect to http is not followed":  {"/plain", "without https"},
		"an endless redirect is not followed": {"/round", "too many redirects"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := fetcher.Get(t.Context(), server.URL+c.path); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
	if err := fetcher.Check(t.Context(), server.URL+"/manifest.yaml"); err != nil {
		t.Error(err)
	}
}

func TestGit(t *testing.T) {
	dir := t.TempDir()
	if _, err := packaging.ReadGit(dir, ""); !errors.Is(err, packaging.ErrNoGit) {
		t.Errorf("no repository: %v", err)
	}
	repository, err := git.PlainInit(dir, false)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := packaging.ReadGit(dir, ""); err == nil || !strings.Contains(err.Error(), "no commit yet") {
		t.Errorf("no commit: %v", err)
	}
	put(t, filepath.Join(dir, "notes/module-config.yaml"), "x")
	tree, err := repository.Worktree()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tree.Add("notes"); err != nil {
		t.Fatal(err)
	}
	commit, err := tree.Commit("first", &git.CommitOptions{Author: &object.Signature{Name: "x", Email: "x@example.com"}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := packaging.ReadGit(dir, ""); err == nil || !strings.Contains(err.Error(), `no remote "origin"`) {
		t.Errorf("no remote: %v", err)
	}
	for remote, want := range map[string]string{
		"git@github.com:kyma-project/notes.git":               "https://github.com/kyma-project/notes.git",
		"https://me:secret@github.com/kyma-project/notes":     "https://github.com/kyma-project/notes",
		"ssh://git@github.com:2222/kyma-project/notes.git":    "https://github.com/kyma-project/notes.git",
		"https://git.example.com:8443/notes?token=secret#top": "https://git.example.com:8443/notes",
		"/srv/git/notes.git":                                  "",
		"file:///srv/git/notes.git":                           "",
	} {
		_ = repository.DeleteRemote("origin")
		if _, err := repository.CreateRemote(&gitconfig.RemoteConfig{Name: "origin", URLs: []string{remote}}); err != nil {
			t.Fatal(err)
		}
		found, err := packaging.ReadGit(filepath.Join(dir, "notes"), "")
		switch {
		case want == "" && (err == nil || strings.Contains(err.Error(), "secret")):
			t.Errorf("%s: %v %v", remote, found, err)
		case want != "" && (err != nil || found.RepoURL != want || found.Commit != commit.String() || found.Ref != "refs/heads/master"):
			t.Errorf("%s: %+v %v", remote, found, err)
		}
	}
	program, err := exec.LookPath("git")
	if err != nil {
		return // only the git program can add a linked worktree
	}
	linked := filepath.Join(t.TempDir(), "linked")
	if out, err := exec.CommandContext(t.Context(), program, "-C", dir, "worktree", "add", linked, "-b", "other").CombinedOutput(); err != nil {
		t.Fatalf("%v %s", err, out)
	}
	_ = repository.DeleteRemote("origin")
	if _, err := repository.CreateRemote(&gitconfig.RemoteConfig{Name: "origin", URLs: []string{"https://example.com/notes"}}); err != nil {
		t.Fatal(err)
	}
	found, err := packaging.ReadGit(linked, "")
	if err != nil || found.Ref != "refs/heads/other" || found.Commit != commit.String() {
		t.Errorf("a linked worktree: %+v %v", found, err)
	}
}
