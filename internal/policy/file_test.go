package policy

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fsnotify/fsnotify"
	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"
	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/kyma-project/lifecycle-manager/pkg/content"
)

var _ manager.LeaderElectionRunnable = &RegistryFile{}

// fixture is a watched file.
type fixture struct {
	*testing.T
	*RegistryFile
	dir    string
	mu     sync.Mutex
	logged []string
	end    func()
}

// follow writes registries.yaml and follows it.
func follow(t *testing.T, text string) *fixture {
	t.Helper()
	f := &fixture{T: t, dir: t.TempDir()}
	f.write("registries.yaml", text)
	f.begin()
	return f
}

func (f *fixture) begin(changes ...func(*RegistryFile)) {
	f.Helper()
	file, err := Registries(filepath.Join(f.dir, "registries.yaml"), funcr.New(f.note, funcr.Options{}))
	if err != nil {
		f.Fatal(err)
	}
	f.RegistryFile = file
	for _, change := range changes {
		change(file)
	}
	ctx, cancel := context.WithCancel(f.Context())
	ended := make(chan error, 1)
	go func() { ended <- file.Start(ctx) }()
	f.end = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			f.Errorf("following ends with %v", err)
		}
	})
	f.Cleanup(f.end)
}

func (f *fixture) note(_, args string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.logged = append(f.logged, args)
}

// errors counts the lines of the log with an error.
func (f *fixture) errors() (n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, line := range f.logged {
		if strings.Contains(line, `"error"`) {
			n++
		}
	}
	return n
}

// write replaces a file at once.
func (f *fixture) write(name, text string) {
	f.Helper()
	path := filepath.Join(f.dir, name)
	if err := errors.Join(os.WriteFile(path+".new", []byte(text), 0o600), os.Rename(path+".new", path)); err != nil {
		f.Fatal(err)
	}
}

func (f *fixture) eventually(what string, done func() bool) {
	f.Helper()
	for deadline := time.Now().Add(15 * time.Second); !done(); <-time.After(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			f.Fatalf("not in time: %s; the file's error is %v", what, f.Err())
		}
	}
}

// plain waits until the policy of a host permits plain HTTP, or no longer does.
func (f *fixture) plain(host string, want bool) {
	f.Helper()
	f.eventually(host+" speaks plain HTTP", func() bool { return f.Host(host).PlainHTTP == want })
}

// mount writes files as the kubelet mounts a ConfigMap: into a new folder, to which a symbolic link is then switched.
func (f *fixture) mount(version string, files map[string]string) {
	f.Helper()
	if err := os.Mkdir(filepath.Join(f.dir, version), 0o700); err != nil {
		f.Fatal(err)
	}
	for name, text := range files {
		f.write(filepath.Join(version, name), text)
		if err := os.Symlink(filepath.Join("..data", name), filepath.Join(f.dir, name)); err != nil && !errors.Is(err, fs.ErrExist) {
			f.Fatal(err)
		}
	}
	before, _ := os.Readlink(filepath.Join(f.dir, "..data"))
	if err := os.Symlink(version, filepath.Join(f.dir, "..data_tmp")); err != nil {
		f.Fatal(err)
	}
	if err := os.Rename(filepath.Join(f.dir, "..data_tmp"), filepath.Join(f.dir, "..data")); err != nil {
		f.Fatal(err)
	}
	if before != "" {
		if err := os.RemoveAll(filepath.Join(f.dir, before)); err != nil {
			f.Fatal(err)
		}
	}
}

func entryOf(host string) string { return "registries: [{host: " + host + ", plainHTTP: true}]" }

func TestHost(t *testing.T) {
	f := follow(t, "registries: [{host: 'a.example.com:5000', plainHTTP: true}, {host: a.example.com, mirrors: [m.example.com]}, {host: '*', mirrors: [all.example.com]}]")
	all := content.HostPolicy{Mirrors: []string{"all.example.com"}}
	for name, test := range map[string]struct {
		host string
		want content.HostPolicy
	}{
		"its own entry":                      {"a.example.com", content.HostPolicy{Mirrors: []string{"m.example.com"}}},
		"its own entry with its port":        {"a.example.com:5000", content.HostPolicy{PlainHTTP: true}},
		"its own entry in other letter case": {"A.Example.Com", content.HostPolicy{Mirrors: []string{"m.example.com"}}},
		"another port is another host":       {"a.example.com:5001", all},
		"a subdomain is another host":        {"x.a.example.com", all},
		"any other host":                     {"b.example.com", all},
		"the star itself":                    {"*", all},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, f.Host(test.host)); diff != "" {
				t.Errorf("its policy (-want +got):\n%s", diff)
			}
		})
	}
	if got := follow(t, "registries: []").Host("a.example.com"); !cmp.Equal(got, content.HostPolicy{}) {
		t.Errorf("without any entry: %+v", got)
	}
}

func TestFile_AnEditTakesEffect(t *testing.T) {
	f := follow(t, entryOf("a"))
	f.plain("a", true)
	f.write("registries.yaml", entryOf("b"))
	f.plain("b", true)
	f.plain("a", false)
	path := filepath.Join(f.dir, "registries.yaml")
	if err := os.WriteFile(path, []byte(entryOf("c")), 0o600); err != nil { // in place
		t.Fatal(err)
	}
	f.plain("c", true)
	f.eventually("all is well", func() bool { return f.Err() == nil })
}

func TestHalfAnEditIsReadOnceMore(t *testing.T) {
	f := &fixture{T: t, dir: t.TempDir()}
	f.RegistryFile = newRegistryFile(filepath.Join(f.dir, "registries.yaml"), funcr.New(f.note, funcr.Options{}))
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		watcher := &fsnotify.Watcher{Events: make(chan fsnotify.Event), Errors: make(chan error)}
		go f.follow(ctx, watcher)
		later := func() { <-time.After(settle); synctest.Wait() }

		f.write("registries.yaml", "") // an editor empties the file and then writes it
		later()
		if f.Err() != nil {
			t.Errorf("half an edit is told: %v", f.Err())
		}
		f.write("registries.yaml", entryOf("a"))
		later()
		if !f.Host("a").PlainHTTP || f.Err() != nil || f.errors() != 0 {
			t.Errorf("after the edit: error %v, log %q", f.Err(), f.logged)
		}

		f.write("registries.yaml", "")
		watcher.Errors <- fsnotify.ErrEventOverflow
		later()
		later()
		if f.Err() == nil || f.errors() != 1 {
			t.Errorf("an edit that stays broken: error %v, log %q", f.Err(), f.logged)
		}
	})
}

func TestFile_AMountedConfigMapTakesEffect(t *testing.T) {
	f := &fixture{T: t, dir: t.TempDir()}
	first, _ := newCertificate(t)
	second, _ := newCertificate(t)
	text := "registries: [{host: a, caFile: corp.pem}]"
	f.mount("..2026_1", map[string]string{"registries.yaml": text, "corp.pem": first})
	f.begin()
	if string(f.Host("a").CA) != first {
		t.Fatalf("the certificates are %q", f.Host("a").CA)
	}
	f.mount("..2026_2", map[string]string{"registries.yaml": text, "corp.pem": second})
	f.eventually("the new certificate counts", func() bool { return string(f.Host("a").CA) == second })
	f.mount("..2026_3", map[string]string{"registries.yaml": entryOf("b"), "corp.pem": second})
	f.plain("b", true)
	if f.Err() != nil || f.errors() != 0 {
		t.Errorf("error %v, log %q", f.Err(), f.logged)
	}
}

func TestFile_ABrokenEditChangesNothing(t *testing.T) {
	for name, breakIt := range map[string]func(*fixture){
		"text that is no YAML":     func(f *fixture) { f.write("registries.yaml", "registries: [") },
		"an unknown field":         func(f *fixture) { f.write("registries.yaml", "registries: [{host: b, tls: no}]") },
		"an empty file":            func(f *fixture) { f.write("registries.yaml", "") },
		"a file that is too large": func(f *fixture) { f.write("registries.yaml", entryOf("b")+strings.Repeat("#", maxFile)) },
		"no file":                  func(f *fixture) { _ = os.Remove(filepath.Join(f.dir, "registries.yaml")) },
		"a folder": func(f *fixture) {
			link := filepath.Join(f.dir, "link")
			_ = errors.Join(os.Symlink(f.dir, link), os.Rename(link, filepath.Join(f.dir, "registries.yaml")))
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := follow(t, entryOf("a"))
			breakIt(f)
			f.eventually("it is told", func() bool { return f.Err() != nil })
			if !f.Host("a").PlainHTTP || f.Host("b").PlainHTTP {
				t.Error("what was in force is not any more")
			}
			if text := f.Err().Error(); !strings.Contains(text, f.dir) || !strings.Contains(text, "stays in force") || strings.Contains(text, "\n") {
				t.Errorf("the error is %q", text)
			}
			// Whatever else happens in the folder, the same problem is reported once.
			for range 3 {
				f.write("unrelated", time.Now().String())
				<-time.After(3 * settle)
			}
			if n := f.errors(); n != 1 {
				t.Errorf("%d lines about one trouble: %q", n, f.logged)
			}
			_ = os.Remove(filepath.Join(f.dir, "registries.yaml"))
			f.write("registries.yaml", entryOf("c"))
			f.plain("c", true)
			f.eventually("all is well", func() bool { return f.Err() == nil })
		})
	}
}

func TestFile_AFolderThatIsNeverQuietIsReadAllTheSame(t *testing.T) {
	f := follow(t, entryOf("a"))
	f.write("registries.yaml", entryOf("b"))
	f.eventually("the edit counts", func() bool {
		f.write("noise", time.Now().String())
		return f.Host("b").PlainHTTP
	})
}

func TestFile_AFolderThatGoesIsTold(t *testing.T) {
	f := follow(t, entryOf("b"))
	f.write("registries.yaml", entryOf("a"))
	f.plain("a", true)
	if err := os.RemoveAll(f.dir); err != nil {
		t.Fatal(err)
	}
	f.eventually("it is told", func() bool { return f.Err() != nil })
	if !f.Host("a").PlainHTTP {
		t.Error("what was in force is not any more")
	}
}

// inotify instances and watches are few, and shared by all programs of a machine.
func TestFile_AFileThatCannotBeWatchedIsReadAtIntervals(t *testing.T) {
	for name, watch := range map[string]func(string) (*fsnotify.Watcher, error){
		"no watch is available": func(string) (*fsnotify.Watcher, error) { return nil, syscall.EMFILE },
		"its folder was deleted and recreated": func(folder string) (*fsnotify.Watcher, error) {
			watcher, err := watchFolder(folder)
			if err == nil {
				err = errors.Join(os.Rename(folder, folder+"~"), os.Mkdir(folder, 0o700))
			}
			return watcher, errors.Join(err, os.RemoveAll(folder+"~"))
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := &fixture{T: t, dir: filepath.Join(t.TempDir(), "policies")}
			if err := os.Mkdir(f.dir, 0o700); err != nil {
				t.Fatal(err)
			}
			f.write("registries.yaml", entryOf("a"))
			f.begin(func(file *RegistryFile) { file.watch, file.every = watch, 10*time.Millisecond })
			f.eventually("it is told", func() bool { return f.errors() > 0 })
			f.write("registries.yaml", entryOf("b"))
			f.plain("b", true)
			f.eventually("all is well", func() bool { return f.Err() == nil })
			f.write("registries.yaml", "registries: [")
			f.eventually("a mistake is told", func() bool { return f.Err() != nil })
			if !f.Host("b").PlainHTTP {
				t.Error("what was in force is not any more")
			}
			f.end() // fails if it returns an error
		})
	}
}

func TestFile_WhatChangesBeforeTheWatchIsSeen(t *testing.T) {
	path := filepath.Join(t.TempDir(), "registries.yaml")
	if err := os.WriteFile(path, []byte(entryOf("a")), 0o600); err != nil {
		t.Fatal(err)
	}
	file, err := Registries(path, logr.Discard())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(entryOf("b")), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- file.Start(ctx) }()
	f := &fixture{T: t, RegistryFile: file}
	f.plain("b", true)
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

func TestFile_AFileThatCannotBeReadAtTheStart(t *testing.T) {
	path := filepath.Join(t.TempDir(), "registries.yaml")
	if _, err := Registries(path, logr.Discard()); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), path) {
		t.Errorf("the error is %v", err)
	}
	if err := os.WriteFile(path, []byte("registries: [{host: a/b}, {host: c/d}]"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := Registries(path, logr.Discard())
	if err == nil || strings.Contains(err.Error(), "\n") || !strings.Contains(err.Error(), "registries[1]") {
		t.Errorf("the error is %v", err)
	}
}

func TestFile_WithoutAFileNothingIsSpecial(t *testing.T) {
	file, err := Registries("", logr.Discard())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- file.Start(ctx) }()
	if got := file.Host("a.example.com"); !cmp.Equal(got, content.HostPolicy{}) || file.Err() != nil || file.NeedLeaderElection() {
		t.Errorf("policy %+v, error %v", got, file.Err())
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
