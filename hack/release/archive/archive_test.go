package archive

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var (
	at    = time.Date(2026, 11, 28, 7, 11, 3, 500, time.FixedZone("far", 5*3600))
	files = []File{
		{Name: "man/kyma.1", Data: []byte("manual")},
		{Name: "LICENSE", Data: []byte("licence")},
		{Name: "kyma", Data: bytes.Repeat([]byte("program "), 1000), Executable: true},
	}
)

// entry is what a reader finds of a file.
type entry struct {
	Name string
	Mode int64
	Size int
	Time time.Time
}

var want = []entry{
	{"LICENSE", 0o644, 7, time.Date(2026, 11, 28, 2, 11, 3, 0, time.UTC)},
	{"kyma", 0o755, 8000, time.Date(2026, 11, 28, 2, 11, 3, 0, time.UTC)},
	{"man/kyma.1", 0o644, 6, time.Date(2026, 11, 28, 2, 11, 3, 0, time.UTC)},
}

func TestArchive_HoldsTheFilesInOrder(t *testing.T) {
	for name, tc := range map[string]struct {
		pack func([]File, time.Time) ([]byte, error)
		read func(*testing.T, []byte) []entry
	}{
		"tar":            {Tar, func(t *testing.T, data []byte) []entry { return readTar(t, bytes.NewReader(data)) }},
		"compressed tar": {TarGzip, readTarGzip},
		"zip":            {Zip, readZip},
	} {
		t.Run(name, func(t *testing.T) {
			packed, err := tc.pack(files, at)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, tc.read(t, packed)); diff != "" {
				t.Errorf("entries (-want +got):\n%s", diff)
			}
			reversed := []File{files[2], files[1], files[0]}
			again, err := tc.pack(reversed, at.In(time.FixedZone("elsewhere", -3600)))
			if err != nil || !bytes.Equal(packed, again) {
				t.Errorf("the same files in another order gave other bytes (%v)", err)
			}
		})
	}
}

func TestFolder_ReadsFilesBelow(t *testing.T) {
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "blobs", "sha256"), 0o750); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"index.json", "blobs/sha256/abc"} {
		if err := os.WriteFile(filepath.Join(dir, filepath.FromSlash(name)), []byte(name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	got, err := Folder(dir)
	if err != nil {
		t.Fatal(err)
	}
	read := []File{{Name: "blobs/sha256/abc", Data: []byte("blobs/sha256/abc")}, {Name: "index.json", Data: []byte("index.json")}}
	if diff := cmp.Diff(read, got); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	if _, err := Folder(filepath.Join(dir, "none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a folder that is not there gave %v", err)
	}
}

func readTarGzip(t *testing.T, data []byte) []entry {
	t.Helper()
	plain, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	if !plain.ModTime.IsZero() || plain.Name != "" {
		t.Errorf("the compressed data names %q of %s", plain.Name, plain.ModTime)
	}
	return readTar(t, plain)
}

func readTar(t *testing.T, in io.Reader) (found []entry) {
	t.Helper()
	for archive := tar.NewReader(in); ; {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return found
		}
		if err != nil {
			t.Fatal(err)
		}
		if header.Uid != 0 || header.Uname != "" {
			t.Errorf("%s has the owner %d %q", header.Name, header.Uid, header.Uname)
		}
		found = append(found, entry{header.Name, header.Mode, int(header.Size), header.ModTime.UTC()})
	}
}

func readZip(t *testing.T, data []byte) (found []entry) {
	t.Helper()
	archive, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range archive.File {
		found = append(found, entry{file.Name, int64(file.Mode().Perm()), int(file.UncompressedSize64), file.Modified.UTC()})
	}
	return found
}
