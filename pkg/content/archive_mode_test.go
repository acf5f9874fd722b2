package content

import (
	"archive/tar"
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// What an archive says of modes, owners and times reaches neither what is read of it nor a file on disk.
func TestModesAndOwnersInAnArchiveDoNotCount(t *testing.T) {
	pack := func(mode int64, owner int) string {
		t.Helper()
		var packed bytes.Buffer
		writer := tar.NewWriter(&packed)
		for _, header := range []*tar.Header{
			{Name: "d/", Typeflag: tar.TypeDir, Mode: mode, Uid: owner},
			{Name: "d/a.yaml", Typeflag: tar.TypeReg, Mode: mode, Uid: owner, Gid: owner, Size: 5},
		} {
			if err := writer.WriteHeader(header); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := writer.Write([]byte("hello")); err != nil {
			t.Fatal(err)
		}
		if err := writer.Close(); err != nil {
			t.Fatal(err)
		}
		return packed.String()
	}
	want := tree("d/a.yaml", "hello")
	digests := map[string]bool{}
	for name, mode := range map[string]int64{"usual": 0o644, "no one may read it": 0, "a set-user-ID program": 0o6777, "sticky": 0o1666} {
		t.Run(name, func(t *testing.T) {
			store := newStore(t)
			path := put(t, store, pack(mode, 12345))
			got, err := Unpack(path, Limits{})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("differs (-want +got):\n%s", diff)
			}
			digest, err := store.PutTree(got)
			if err != nil {
				t.Fatal(err)
			}
			digests[digest] = true
			err = filepath.WalkDir(store.Dir, func(name string, entry fs.DirEntry, err error) error {
				if err != nil || entry.IsDir() {
					return err
				}
				info, err := os.Lstat(name)
				if err == nil && info.Mode()&^fs.FileMode(0o644) != 0 {
					t.Errorf("%s has mode %s", name, info.Mode())
				}
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
		})
	}
	if len(digests) != 1 {
		t.Errorf("one content has the digests %v", digests)
	}
}
