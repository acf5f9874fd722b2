package authorcmd_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-git/go-git/v5"
	gitconfig "github.com/go-git/go-git/v5/config"
	"github.com/go-git/go-git/v5/plumbing/object"
	"sigs.k8s.io/yaml"
)

// described is the part of a constructor that these tests read.
type described struct {
	Components []struct {
		Name, Version string
		Resources     []struct {
			Name, Type, Version, Relation string
			Labels                        []map[string]any
			Input                         *struct {
				Type, Path, MediaType string
				Compress              *bool
				IncludeFiles          []string
			}
			Access map[string]string
		}
		Sources []struct {
			Name, Type string
			Access     map[string]string
		}
	}
}

// constructor reads a constructor, and checks that every file that it names is there.
func constructor(t *testing.T, file string) described {
	t.Helper()
	var found described
	if err := yaml.UnmarshalStrict([]byte(read(t, file)), &struct{ Components any }{}); err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal([]byte(read(t, file)), &found); err != nil || len(found.Components) != 1 {
		t.Fatalf("%v in\n%s", err, read(t, file))
	}
	for _, resource := range found.Components[0].Resources {
		if resource.Input == nil {
			continue
		}
		if filepath.IsAbs(resource.Input.Path) {
			t.Errorf("%s is at an absolute path: %s", resource.Name, resource.Input.Path)
		}
		for _, name := range append([]string{"."}, resource.Input.IncludeFiles...) {
			if _, err := os.Stat(filepath.Join(filepath.Dir(file), resource.Input.Path, name)); err != nil {
				t.Errorf("%s: %v", resource.Name, err)
			}
		}
	}
	return found
}

func TestConstructorForTheOCMTool(t *testing.T) {
	s := open(t)
	s.ok("module", "init", "notes")
	create := []string{"module", "create", "-c", "notes", "--no-git", "-o", "out/template.yaml", "--output-constructor-file", "out/component-constructor.yaml"}
	if err := os.Mkdir("out", 0o755); err != nil {
		t.Fatal(err)
	}
	_, said := s.ok(create...)
	s.golden("constructor.err", "", said)
	first := read(t, "out/component-constructor.yaml")
	s.golden("component-constructor.yaml", "", first)
	constructor(t, "out/component-constructor.yaml")
	if _, said := s.ok(create...); said != "" || read(t, "out/component-constructor.yaml") != first {
		t.Errorf("the second time: %q", said)
	}

	// From another folder, by absolute paths, it is the same.
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	s.ok("module", "create", "-c", filepath.Join(here, "notes"), "--no-git", "-o", filepath.Join(here, "out/template.yaml"),
		"--output-constructor-file", filepath.Join(here, "out/component-constructor.yaml"))
	if read(t, filepath.Join(here, "out/component-constructor.yaml")) != first {
		t.Error("it depends on the folder that the command runs in")
	}
	s.ok("module", "create", "-c", filepath.Join(here, "notes"), "--no-git", "--dry-run", "--output-constructor-file", "none.yaml")
	if _, err := os.Stat("none.yaml"); err == nil {
		t.Error("a dry run wrote a constructor")
	}
}

func TestConstructorOfOtherContent(t *testing.T) {
	s := open(t)
	s.ok("module", "init", "notes")
	write(t, "extra.txt", "hello\n")
	write(t, "notes/chart/Chart.yaml", "apiVersion: v2\nname: notes\nversion: 0.1.0\n")
	write(t, "notes/chart/templates/all.yaml", strings.ReplaceAll(read(t, "notes/manifest.yaml"), "{{", "{"))
	write(t, "notes/bundle/manifests/all.yaml", read(t, "notes/manifest.yaml"))
	inputs := func(manifest string) map[string]string {
		edit(t, "notes/module-config.yaml", "manifest: ", "manifest: "+manifest+" # ")
		s.ok("module", "create", "notes", "--no-git", "--skip-validation", "-o", "-", "--resource", "extra=extra.txt",
			"--output-constructor-file", "made/constructor.yaml")
		found := map[string]string{}
		for _, r := range constructor(t, "made/constructor.yaml").Components[0].Resources {
			if r.Input != nil {
				found[r.Name] = r.Type + " " + r.Input.Type + " " + r.Input.Path
			}
		}
		return found
	}
	if err := os.Mkdir("made", 0o755); err != nil {
		t.Fatal(err)
	}
	for manifest, want := range map[string]string{
		"manifest.yaml": "directoryTree dir ../notes", "chart": "helmChart helm ../notes/chart", "bundle": "directoryTree dir ../notes/bundle",
	} {
		found := inputs(manifest)
		if found["raw-manifest"] != want || found["default-cr"] != "directoryTree dir ../notes" || found["extra"] != " file ../extra.txt" && found["extra"] != "PlainText file ../extra.txt" {
			t.Errorf("%s: %v", manifest, found)
		}
		// The ModuleTemplate is not written to a file of its own: it is beside the constructor.
		if found["moduletemplate"] != "PlainText file constructor-files/moduletemplate.yaml" {
			t.Errorf("the ModuleTemplate is %s", found["moduletemplate"])
		}
	}
}

// Command lines and configurations of scripts for earlier tools still work.
func TestOldCommandLinesAndConfigurations(t *testing.T) {
	s := open(t)
	host, address := registry(t)
	keys(t, "")
	s.ok("module", "init", "scratch", "--name", "kyma-project.io/module/sample")
	write(t, "m.yaml", read(t, "scratch/manifest.yaml"))
	write(t, "cr.yaml", read(t, "scratch/default-cr.yaml"))
	write(t, "old.yaml", `name: kyma-project.io/module/sample
version: 1.0.0
channel: fast
manifest: m.yaml
defaultCR: cr.yaml
resourceName: sample-fast
security: sec.yaml
beta: true
customStateCheck:
- {jsonPath: status.health, value: green, mappedState: Ready}
- {jsonPath: status.health, value: red, mappedState: Error}
`)
	out, _ := s.ok("module", "validate", "-c", "old.yaml")
	s.golden("validate-old.out", "", out)

	repository, err := git.PlainInit(".", false)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := repository.CreateRemote(&gitconfig.RemoteConfig{Name: "upstream", URLs: []string{"git@github.com:kyma-project/sample.git"}}); err != nil {
		t.Fatal(err)
	}
	tree, err := repository.Worktree()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tree.Commit("empty", &git.CommitOptions{AllowEmptyCommits: true, Author: &object.Signature{Name: "ada"}}); err != nil {
		t.Fatal(err)
	}

	_, said := s.ok("create", "module", "--module-config-file", "old.yaml", "--registry", host, "--insecure", "--name-mapping", "sha256-digest",
		"-o", "t.yaml", "--ci", "--non-interactive", "--module-archive-path", "mod", "--module-archive-persistence", "--git-remote", "upstream",
		"--descriptor-version", "v2", "--registry-cred-selector", "a=b", "--sec-scanners-config", "sec.yaml", "--key", "private.pem",
		"--output-constructor-file", "c.yaml", "--module-archive-version-overwrite", "--credentials", "", "--token", "")
	s.golden("create-old.err", host, said)
	if text := read(t, "t.yaml"); !strings.Contains(text, "customStateCheck:") || !strings.Contains(text, "name: sample-1.0.0") {
		t.Errorf("the ModuleTemplate is\n%s", text)
	}
	if !strings.Contains(read(t, "release.yaml"), "channel: fast") {
		t.Errorf("the ModuleReleaseMeta is\n%s", read(t, "release.yaml"))
	}
	ref := address + "//kyma-project.io/module/sample:1.0.0"
	s.ok("module", "verify", ref, "--name-mapping", "sha256-digest", "--key", "public.pem", "--offline")
	sources := constructor(t, "c.yaml").Components[0].Sources
	if len(sources) != 1 || sources[0].Name != "module-sources" || sources[0].Type != "Github" || sources[0].Access["type"] != "gitHub" ||
		sources[0].Access["repoUrl"] != "https://github.com/kyma-project/sample.git" || len(sources[0].Access["commit"]) != 40 {
		t.Errorf("sources %v", sources)
	}

	write(t, "new/module-config.yaml", `name: kyma-project.io/module/sample
version: 1.0.0
manifest: m.yaml
repository: https://github.com/kyma-project/sample
documentation: https://github.com/kyma-project/sample/docs
team: goat
icons: {module-icon: https://example.com/x.svg}
manager: {name: sample, namespace: sample-system, group: apps, version: v1, kind: Deployment}
`)
	write(t, "new/m.yaml", read(t, "m.yaml"))
	modulectl := []string{"module", "create", "-c", "new/module-config.yaml", "-o", "new/template.yaml", "--output-constructor-file", "new/c.yaml",
		"--module-sources-git-directory", ".", "--git-remote", "upstream"}
	s.refused(1, "the module has 1 error", modulectl...)
	s.ok(append(modulectl, "--skip-version-validation", "--disable-ocm-registry-push", "-r", host)...)
	constructor(t, "new/c.yaml")
	s.refused(4, "", "module", "inspect", ref)
}
