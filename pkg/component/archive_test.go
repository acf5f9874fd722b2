package component_test

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/opencontainers/go-digest"
	"golang.org/x/sync/errgroup"

	"github.com/kyma-project/lifecycle-manager/pkg/component"
	"github.com/kyma-project/lifecycle-manager/pkg/component/descriptor"
)

var forms = []string{"a.ctf", "a.tar", "a.tgz", "a.tar.gz", "a"}

func build(t *testing.T, path string, version component.Version, options ...component.Option) string {
	t.Helper()
	made, err := component.Build(t.Context(), path, version, options...)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// snapshot returns everything about an archive that could differ: names, modes and bytes.
func snapshot(t *testing.T, path string) string {
	t.Helper()
	var text strings.Builder
	err := filepath.WalkDir(path, func(file string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		var content digest.Digest
		if entry.Type().IsRegular() {
			data, err := os.ReadFile(file)
			if err != nil {
				return err
			}
			content = digest.FromBytes(data)
		}
		name, err := filepath.Rel(path, file)
		fmt.Fprintln(&text, name, info.Mode(), content)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return text.String()
}

func blob(t *testing.T, ref component.Ref, resource string) string {
	t.Helper()
	opened, err := component.Open(t.Context(), ref)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = opened.Close() }()
	content, _, err := opened.Blob(t.Context(), resource)
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(content)
	if err := errors.Join(err, content.Close()); err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestArchive_TheSameVersionsGiveTheSameArchiveEverywhere(t *testing.T) {
	for _, file := range forms {
		t.Run(file, func(t *testing.T) {
			first := filepath.Join(t.TempDir(), file)
			build(t, first, full("1.0.0", ""))
			build(t, first, harbour("2.0.0"))

			old := syscall.Umask(0o077)
			defer syscall.Umask(old)
			t.Chdir(t.TempDir())
			t.Setenv("TZ", "Asia/Tokyo")
			t.Setenv("LC_ALL", "tr_TR.UTF-8")
			second := filepath.Join("deeper", "other-"+file)
			build(t, second, harbour("2.0.0"))
			build(t, second, full("1.0.0", ""))

			third := filepath.Join(t.TempDir(), file)
			build(t, third, harbour("1.0.0"))
			build(t, third, full("1.0.0", ""), component.Overwrite)
			build(t, third, harbour("2.0.0"))
			one := snapshot(t, first)
			for _, other := range []string{second, third} {
				if two := snapshot(t, other); one != two {
					t.Errorf("the archives differ:\n%s\n%s", one, two)
				}
			}
			if got := blob(t, component.Ref{Path: second, Name: name, Version: "2.0.0"}, "raw-manifest"); got != manifest {
				t.Errorf("raw-manifest is %q", got)
			}
			left, err := filepath.Glob(filepath.Join(filepath.Dir(third), ".*"))
			if err != nil || len(left) > 0 {
				t.Errorf("left behind: %v, error %v", left, err)
			}
		})
	}
}

func TestArchive_ATarTellsNothingOfWhereItWasMade(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.tar")
	build(t, path, full("1.0.0", ""))
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for archive := tar.NewReader(bytes.NewReader(data)); ; {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if header.Uid+header.Gid != 0 || header.Uname+header.Gname != "" || header.ModTime.Year() != 2022 || header.FileInfo().Mode().Perm()&0o22 != 0 {
			t.Errorf("%+v", header)
		}
	}
}

func TestBuildAgain(t *testing.T) {
	for _, file := range []string{"a.ctf", "a.tgz"} {
		t.Run(file, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), file)
			first := build(t, path, harbour("1.0.0"))
			before, err := os.Stat(path)
			if err != nil {
				t.Fatal(err)
			}
			one := snapshot(t, path)
			if again := build(t, path, harbour("1.0.0")); again != first || snapshot(t, path) != one {
				t.Errorf("the same again is %s after %s", again, first)
			}
			if after, err := os.Stat(path); err != nil || !after.ModTime().Equal(before.ModTime()) || !os.SameFile(before, after) {
				t.Errorf("it was written again, error %v", err)
			}
			other := harbour("1.0.0")
			other.Resources[0].Data = []byte("other")
			_, err = component.Build(t.Context(), path, other)
			var conflict *component.ConflictError
			if !errors.As(err, &conflict) || conflict.Digest != first || !strings.Contains(err.Error(), first) || !strings.Contains(err.Error(), conflict.OfferedDigest) {
				t.Fatalf("error %v, want a conflict with both digests", err)
			}
			if got := build(t, path, other, component.Overwrite); got != conflict.OfferedDigest {
				t.Errorf("overwritten, it is %s, and %s was offered", got, conflict.OfferedDigest)
			}
			if got := blob(t, component.Ref{Path: path}, "raw-manifest"); got != "other" {
				t.Errorf("raw-manifest is %q", got)
			}
		})
	}
}

func TestTenBuildsAtOnce(t *testing.T) {
	for _, file := range []string{"one.ctf", "one.tar", "one.tgz"} {
		t.Run(file, func(t *testing.T) {
			dir := t.TempDir()
			var builds errgroup.Group
			for i := range 10 {
				builds.Go(func() error { // all versions into one archive
					_, err := component.Build(t.Context(), filepath.Join(dir, file), harbour(fmt.Sprintf("1.%d.0+build.1", i)))
					return err
				})
				builds.Go(func() error { // and each into its own, in the same directory
					_, err := component.Build(t.Context(), filepath.Join(dir, fmt.Sprintf("%d-%s", i, file)), harbour("1.0.0"))
					return err
				})
			}
			if err := builds.Wait(); err != nil {
				t.Fatal(err)
			}
			for i := range 10 {
				ref := component.Ref{Path: filepath.Join(dir, file), Name: name, Version: fmt.Sprintf("1.%d.0+build.1", i)}
				if got := blob(t, ref, "raw-manifest"); got != manifest {
					t.Errorf("%s has %q", ref, got)
				}
			}
			if entries, err := os.ReadDir(dir); err != nil || len(entries) != 11 {
				t.Errorf("%v, error %v", entries, err)
			}
		})
	}
}

func TestArchive_WhatIsNoArchiveIsLeftAlone(t *testing.T) {
	for title, test := range map[string]struct {
		make    func(path string) error
		message string
	}{
		"a directory of another user": {func(path string) error {
			return errors.Join(os.Mkdir(path, 0o755), os.WriteFile(filepath.Join(path, "main.go"), nil, 0o644))
		}, "no archive of components"},
		"a file of another user": {func(path string) error { return os.WriteFile(path, []byte("x"), 0o644) }, "too short"},
		"a tar of another user":  {func(path string) error { return os.WriteFile(path, component.Tar("a", []byte("b")), 0o644) }, "has no artifact-index.json"},
		"a text":                 {func(path string) error { return os.WriteFile(path, bytes.Repeat([]byte("text "), 300), 0o644) }, "no readable tar"},
		"an index of another kind": {func(path string) error {
			return os.WriteFile(path, component.Tar("artifact-index.json", []byte(`{"schemaVersion":2}`)), 0o644)
		}, "schema version 2"},
		"an index that points out": {func(path string) error {
			return os.WriteFile(path, component.Tar("artifact-index.json", []byte(`{"schemaVersion":1,"artifacts":[{"repository":"a","digest":"../x"}]}`)), 0o644)
		}, "no sha256 digest"},
	} {
		t.Run(title, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "a")
			if err := test.make(path); err != nil {
				t.Fatal(err)
			}
			before := snapshot(t, path)
			_, err := component.Build(t.Context(), path, harbour("1.0.0"), component.Overwrite)
			if err == nil || !strings.Contains(err.Error(), test.message) {
				t.Errorf("error %v, want one that says %q", err, test.message)
			}
			if _, opening := component.Open(t.Context(), component.Ref{Path: path}); descriptor.ReasonOf(opening) != descriptor.ReasonInvalid {
				t.Errorf("error %v", opening)
			}
			if after := snapshot(t, path); after != before {
				t.Errorf("it was changed:\n%s", after)
			}
		})
	}
	if _, err := component.Open(t.Context(), component.Ref{Path: filepath.Join(t.TempDir(), "none")}); descriptor.ReasonOf(err) != descriptor.ReasonNotFound {
		t.Errorf("error %v", err)
	}
}

func TestArchive_AnEmptyDirectoryBecomesAnArchive(t *testing.T) {
	dir := t.TempDir()
	want := build(t, filepath.Join(t.TempDir(), "a"), harbour("1.0.0"))
	if got := build(t, dir, harbour("1.0.0")); got != want {
		t.Errorf("digest %s, want %s", got, want)
	}
}

func TestArchive_ADamagedArchiveIsHealedByTheSameContent(t *testing.T) {
	for title, damage := range map[string]func(string) error{
		"content that was changed": func(file string) error { return os.WriteFile(file, []byte("x"), 0o644) },
		"content that is gone":     os.Remove,
	} {
		t.Run(title, func(t *testing.T) {
			path, version := filepath.Join(t.TempDir(), "a"), harbour("1.0.0")
			version.Signer = &component.Signer{Key: keys()[0]}
			want := build(t, path, version)
			before := snapshot(t, path)
			if err := damage(filepath.Join(path, "blobs", "sha256."+sha(manifest))); err != nil {
				t.Fatal(err)
			}
			if got := build(t, path, harbour("1.0.0")); got != want || snapshot(t, path) != before {
				t.Errorf("it is %s after %s:\n%s\n%s", got, want, before, snapshot(t, path))
			}
		})
	}
}

func TestArchive_AnInterruptedBuildLeavesTheArchiveAsItWas(t *testing.T) {
	for _, file := range []string{"a", "a.tgz"} {
		path := filepath.Join(t.TempDir(), file)
		build(t, path, harbour("1.0.0"))
		before := snapshot(t, filepath.Dir(path))
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		held, err := os.Open(filepath.Dir(path))
		if err == nil {
			err = syscall.Flock(int(held.Fd()), syscall.LOCK_EX)
		}
		if err != nil {
			t.Fatal(err)
		}
		if _, err := component.Build(ctx, path, harbour("2.0.0")); !errors.Is(err, context.Canceled) {
			t.Errorf("error %v", err)
		}
		if err := held.Close(); err != nil || snapshot(t, filepath.Dir(path)) != before {
			t.Errorf("something was left, error %v", err)
		}
	}
}
