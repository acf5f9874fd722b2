package content

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestGivenFilesAreKept(t *testing.T) {
	store := newStore(t)
	source := StaticSource(store, "ConfigMap a", []File{{Path: "manifests/b", Data: []byte("2")}, {Path: "manifests/a", Data: []byte("1")}})
	resolved, got := get(t, source)
	if diff := cmp.Diff(map[string]string{"manifests/a": "1", "manifests/b": "2"}, got); diff != "" || source.Reference() != "ConfigMap a" {
		t.Error(diff)
	}
	turned := StaticSource(newStore(t), "ConfigMap b", []File{{Path: "manifests/a", Data: []byte("1")}, {Path: "manifests/b", Data: []byte("2")}})
	if again, _ := get(t, turned); again != resolved {
		t.Errorf("%v in another order, want %v", again, resolved)
	}
	changed := StaticSource(newStore(t), "ConfigMap a", []File{{Path: "manifests/a", Data: []byte("2")}})
	if _, err := changed.Fetch(t.Context(), resolved); ReasonOf(err) != ReasonDigestMismatch {
		t.Errorf("changed files: %v", err)
	}
	// What the store has is given, whatever the files have become.
	if tree, err := StaticSource(store, "ConfigMap a", nil).Fetch(t.Context(), resolved); err != nil || len(tree.Files) != 2 {
		t.Errorf("%v, %v", tree, err)
	}
	single := StaticSource(store, "one", []File{{Data: []byte("a: 1")}})
	if _, got := get(t, single); got[""] != "a: 1" {
		t.Errorf("%v", got)
	}
}

func TestGivenFilesThatAreRefused(t *testing.T) {
	for name, test := range map[string]struct {
		files  []File
		reason string
	}{
		"none":               {nil, ReasonContentInvalid},
		"one twice":          {[]File{{Path: "a"}, {Path: "a"}}, ReasonArchiveRefused},
		"one that leads out": {[]File{{Path: "../a"}}, ReasonArchiveRefused},
		"an absolute one":    {[]File{{Path: "/a"}}, ReasonArchiveRefused},
		"one below a file":   {[]File{{Path: "a"}, {Path: "a/b"}}, ReasonArchiveRefused},
		"too large":          {[]File{{Path: "a", Data: make([]byte, 4096)}}, ReasonContentTooLarge},
		"too many":           {[]File{{Path: "a"}, {Path: "b"}, {Path: "c"}}, ReasonArchiveRefused},
	} {
		t.Run(name, func(t *testing.T) {
			store := newStore(t)
			store.Limits = Limits{Unpacked: 2048, Entries: 2}
			if _, err := StaticSource(store, "x", test.files).Resolve(t.Context()); ReasonOf(err) != test.reason {
				t.Errorf("reason %s, error %v", ReasonOf(err), err)
			}
			if left := files(t, store); len(left) > 0 {
				t.Errorf("left behind: %v", left)
			}
		})
	}
}

// folder makes a folder with these files; a value "-> x" makes a link to x.
func folder(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, data := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if to, ok := strings.CutPrefix(data, "-> "); ok {
			if err := os.Symlink(to, path); err != nil {
				t.Fatal(err)
			}
			continue
		}
		write(t, path, data)
	}
	return dir
}

func TestDirectoryIsRead(t *testing.T) {
	packed := zip(t, archive(t, entry{name: "chart/Chart.yaml", data: "c"}))
	for name, test := range map[string]struct {
		files map[string]string
		at    string
		want  map[string]string
	}{
		"with folders":             {map[string]string{"a": "1", "b/c/d": "2"}, "", map[string]string{"a": "1", "b/c/d": "2"}},
		"without git's own":        {map[string]string{"a": "1", ".git/config": "x", "b/.git": "x", ".gitignore": "y"}, "", map[string]string{"a": "1", ".gitignore": "y"}},
		"with links inside":        {map[string]string{"a": "1", "b/link": "-> ../a"}, "", map[string]string{"a": "1", "b/link": "1"}},
		"as Kubernetes mounts one": {map[string]string{"..2024/a": "1", "..data": "-> ..2024", "a": "-> ..data/a"}, "", map[string]string{"a": "1"}},
		"as one packed chart":      {map[string]string{"c.tgz": packed}, "c.tgz", map[string]string{"chart/Chart.yaml": "c"}},
		"as one manifest":          {map[string]string{"a.yaml": "a: 1"}, "a.yaml", map[string]string{"": "a: 1"}},
		"as a link to a folder":    {map[string]string{"real/a": "1", "link": "-> real"}, "link", map[string]string{"a": "1"}},
	} {
		t.Run(name, func(t *testing.T) {
			source := &DirectorySource{Store: newStore(t), Dir: filepath.Join(folder(t, test.files), test.at)}
			resolved, got := get(t, source)
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
			source.Store = newStore(t)
			if _, err := source.Fetch(t.Context(), resolved); err != nil {
				t.Errorf("a lost store: %v", err)
			}
			if !strings.HasPrefix(source.Reference(), "file:///") {
				t.Errorf("reference %s", source.Reference())
			}
		})
	}
}

func TestDirectoryRefuses(t *testing.T) {
	for name, test := range map[string]struct {
		files  map[string]string
		at     string
		limits Limits
		reason string
	}{
		"one that is not there":          {nil, "x", Limits{}, ReasonContentNotFound},
		"one without files":              {nil, "", Limits{}, ReasonContentInvalid},
		"a link that leads out":          {map[string]string{"a": "-> /etc/passwd"}, "", Limits{}, ReasonArchiveRefused},
		"a link that climbs out":         {map[string]string{"a": "-> ../../../../../../../etc/passwd"}, "", Limits{}, ReasonArchiveRefused},
		"a link that leads nowhere":      {map[string]string{"a": "-> b"}, "", Limits{}, ReasonArchiveRefused},
		"a link that leads to itself":    {map[string]string{"a": "-> a"}, "", Limits{}, ReasonArchiveRefused},
		"a link to a folder":             {map[string]string{"a/b": "1", "c": "-> a"}, "", Limits{}, ReasonArchiveRefused},
		"a folder below a linked folder": {map[string]string{"a/b": "1", "c": "-> ."}, "", Limits{}, ReasonArchiveRefused},
		"too many files":                 {map[string]string{"a": "1", "b": "2", "c": "3"}, "", Limits{Entries: 2}, ReasonArchiveRefused},
		"too many bytes":                 {map[string]string{"a": "12345", "b": "12345"}, "", Limits{Unpacked: 9}, ReasonContentTooLarge},
		"a file with too many bytes":     {map[string]string{"a": "12345"}, "a", Limits{Packed: 4}, ReasonContentTooLarge},
	} {
		t.Run(name, func(t *testing.T) {
			source := &DirectorySource{Store: newStore(t), Dir: filepath.Join(folder(t, test.files), test.at), Limits: test.limits}
			if _, err := source.Resolve(t.Context()); ReasonOf(err) != test.reason {
				t.Errorf("reason %s, error %v", ReasonOf(err), err)
			}
			if left := files(t, source.Store); len(left) > 0 {
				t.Errorf("left behind: %v", left)
			}
		})
	}
}

// Opening a pipe would wait for the one who writes into it.
func TestDirectoryDoesNotOpenPipes(t *testing.T) {
	dir := folder(t, map[string]string{"a": "1"})
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, at := range []string{dir, filepath.Join(dir, "pipe")} {
		done := make(chan error, 1)
		go func() {
			_, err := (&DirectorySource{Store: newStore(t), Dir: at}).Resolve(t.Context())
			done <- err
		}()
		select {
		case err := <-done:
			if reason := ReasonOf(err); reason != ReasonArchiveRefused && reason != ReasonSourceInvalid {
				t.Errorf("error %v", err)
			}
		case <-time.After(10 * time.Second):
			t.Fatal("it waits")
		}
	}
}

func TestDirectoryThatChanged(t *testing.T) {
	dir := folder(t, map[string]string{"a": "1"})
	source := &DirectorySource{Store: newStore(t), Dir: dir}
	resolved, _ := get(t, source)
	write(t, filepath.Join(dir, "b"), "2")
	if tree, err := source.Fetch(t.Context(), resolved); err != nil || fmt.Sprint(byPath(tree)) != "map[a:1]" {
		t.Errorf("%v, %v", tree, err)
	}
	source.Store = newStore(t)
	if _, err := source.Fetch(t.Context(), resolved); ReasonOf(err) != ReasonDigestMismatch {
		t.Errorf("error %v", err)
	}
}
