package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"testing"
	"time"
)

// standIn is a toolchain that writes small files in place of programs.
type standIn struct{ source source }

func (s standIn) Compile(_ context.Context, target platform, pkg, output string) error {
	return os.WriteFile(output, fmt.Appendf(nil, "%s for %s of %s", pkg, target, s.source.commit), 0o600)
}

func (s standIn) Document(_ context.Context, man, completions string) error {
	for file, text := range map[string]string{
		filepath.Join(man, "kyma.1"): "manual", filepath.Join(man, "kyma_add.1"): "manual of add", filepath.Join(completions, "_kyma"): "zsh",
	} {
		if err := os.MkdirAll(filepath.Dir(file), 0o750); err != nil {
			return err
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			return err
		}
	}
	return nil
}

func (s standIn) Linked(string) (*debug.BuildInfo, error) {
	return &debug.BuildInfo{GoVersion: "go1.26.8", Deps: []*debug.Module{{Path: "example.com/library", Version: "v1.2.0"}}}, nil
}

const (
	testVersion = "1.2.3"
	testCommit  = "0123456789012345678901234567890123456789"
)

// checkout makes a small tree with what a release reads. The times of its files differ from one call to the next.
func checkout(t *testing.T, at time.Time) string {
	t.Helper()
	root := t.TempDir()
	for name, text := range map[string]string{
		"LICENSE": "licence", "go.mod": "module example.com", "go.sum": "sums",
		"web/package-lock.json":                           `{"lockfileVersion": 3, "packages": {"node_modules/react": {"version": "19.3.1", "license": "MIT"}}}`,
		"certificates.pem":                                "certificates",
		"charts/lifecycle-manager/Chart.yaml":             "apiVersion: v2\nname: lifecycle-manager\nversion: 0.0.0\n",
		"charts/lifecycle-manager/values.yaml":            "replicas: 1\n",
		"charts/lifecycle-manager/values.schema.json":     "{}",
		"charts/lifecycle-manager/templates/manager.yaml": "kind: Deployment\n",
		"charts/lifecycle-manager/templates/_helpers.tpl": "{{/* names */}}\n",
	} {
		path := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, at, at); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// prepared returns a release of such a tree, for further changes.
func prepared(t *testing.T, root string) *release {
	t.Helper()
	out := filepath.Join(t.TempDir(), "dist", "release")
	o, err := parseOptions([]string{
		"-version", testVersion, "-root", root, "-out", out, "-certificates", filepath.Join(root, "certificates.pem"),
		"-platforms", "linux/amd64,linux/arm64,darwin/arm64,windows/amd64",
	})
	if err != nil {
		t.Fatal(err)
	}
	r := &release{options: o, log: &bytes.Buffer{}, source: source{testCommit, time.Date(2026, 11, 28, 7, 11, 3, 0, time.UTC)}}
	if r.targets, err = parsePlatforms(o.platforms); err != nil {
		t.Fatal(err)
	}
	r.tools = standIn{r.source}
	return r
}

// made builds a release and returns its files.
func made(t *testing.T, r *release) map[string][]byte {
	t.Helper()
	if err := r.build(t.Context()); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(r.out)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string][]byte{}
	for _, entry := range entries {
		data, err := os.ReadFile(filepath.Join(r.out, entry.Name()))
		if err != nil {
			t.Fatal(err)
		}
		files[entry.Name()] = data
	}
	return files
}
