package content

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"path/filepath"
	"strings"
	"testing"
)

// entry is one entry of an archive for a test; without type it is a file.
type entry struct {
	name string
	kind byte
	data string
	link string
	pax  map[string]string
}

func archive(t testing.TB, entries ...entry) string {
	t.Helper()
	var packed bytes.Buffer
	writer := tar.NewWriter(&packed)
	for _, each := range entries {
		if each.kind == 0 {
			each.kind = tar.TypeReg
		}
		header := &tar.Header{
			Name: each.name, Typeflag: each.kind, Size: int64(len(each.data)), Linkname: each.link, Mode: 0o644, PAXRecords: each.pax,
		}
		if each.kind == tar.TypeXGlobalHeader {
			header = &tar.Header{Name: each.name, Typeflag: each.kind, PAXRecords: map[string]string{"comment": "c"}}
		}
		if err := writer.WriteHeader(header); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(writer, each.data); err != nil {
			t.Fatal(err)
		}
	}
	if err := writer.Close(); err != nil {
		t.Fatal(err)
	}
	return packed.String()
}

func zip(t testing.TB, data string) string {
	t.Helper()
	var packed bytes.Buffer
	writer := gzip.NewWriter(&packed)
	_, err := io.WriteString(writer, data)
	if err := errors.Join(err, writer.Close()); err != nil {
		t.Fatal(err)
	}
	return packed.String()
}

// read writes data to a file and reads it back through open.
func read(t testing.TB, open func(string, Limits) (io.ReadCloser, error), data string, limits Limits) (string, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "layer")
	write(t, path, data)
	reader, err := open(path, limits)
	if err != nil {
		return "", err
	}
	got, err := io.ReadAll(reader)
	return string(got), errors.Join(err, reader.Close())
}

func TestFirstFile(t *testing.T) {
	manifest := entry{name: "manifest.yaml", data: "hello"}
	for name, entries := range map[string][]entry{
		"one file": {manifest},
		"a file in a folder": {
			{name: "./", kind: tar.TypeDir}, {name: "./a/", kind: tar.TypeDir}, {name: "./a/m.yaml", data: "hello"},
		},
		"the first of two files":          {manifest, {name: "a.yaml", data: "other"}},
		"files of macOS do not count":     {{name: "._manifest.yaml", data: "mac"}, {name: "a/._b", data: "mac"}, manifest},
		"a header of git does not count":  {{name: "pax_global_header", kind: tar.TypeXGlobalHeader}, manifest},
		"dots in names are no parents":    {{name: "a..b/..c.yaml", data: "hello"}},
		"a name that is longer than most": {{name: strings.Repeat("a/", 200) + "m.yaml", data: "hello"}},
	} {
		t.Run(name, func(t *testing.T) {
			packed := archive(t, entries...)
			for form, data := range map[string]string{"plain": packed, "gzip": zip(t, packed)} {
				if got, err := read(t, FirstFile, data, Limits{}); err != nil || got != "hello" {
					t.Errorf("%s: read %q, %v", form, got, err)
				}
			}
		})
	}
}

// noise is text that gzip cannot make much smaller.
func noise(size int) string {
	state, text := uint32(1), make([]byte, size)
	for i := range text {
		state = state*1664525 + 1013904223
		text[i] = byte(state >> 24)
	}
	return string(text)
}

// A sparse file claims any size with a few bytes.
func TestFirstFileRefusesSparseFiles(t *testing.T) {
	extents := "1\n0\n5\n"
	data := archive(t, entry{name: "m.yaml", data: extents + strings.Repeat("\x00", 512-len(extents)) + "hello", pax: map[string]string{
		"ABC.sparse.major": "1", "ABC.sparse.minor": "0", "ABC.sparse.name": "m.yaml", "ABC.sparse.realsize": "100000",
	}})
	// The writer makes no sparse files, but the records of one differ from these by their first three letters only.
	_, err := read(t, FirstFile, strings.ReplaceAll(data, "ABC.sparse", "GNU.sparse"), Limits{})
	if ReasonOf(err) != ReasonArchiveRefused || !strings.Contains(err.Error(), "is sparse") {
		t.Errorf("error %v", err)
	}
}

func TestSmallArchivesMayBeMostlyZeros(t *testing.T) {
	data := zip(t, archive(t, entry{name: "m.yaml", data: strings.Repeat("a: b\n", 100_000)}))
	if got, err := read(t, FirstFile, data, Limits{}); err != nil || len(got) != 500_000 {
		t.Errorf("read %d bytes, %v", len(got), err)
	}
}

func TestDamagedLayersAreRefused(t *testing.T) {
	packed := archive(t, entry{name: "m.yaml", data: noise(10_000)})
	zipped := zip(t, packed)
	flipped := zipped[:5000] + strings.Repeat("\xff", 10) + zipped[5010:]
	for name, test := range map[string]struct {
		open func(string, Limits) (io.ReadCloser, error)
		data string
	}{
		"an archive that is text":           {FirstFile, strings.Repeat("apiVersion: v1\n", 100)},
		"an archive that is cut":            {FirstFile, packed[:5000]},
		"an archive without bytes":          {FirstFile, ""},
		"a gzip that is cut":                {FirstFile, zipped[:5000]},
		"a gzip that was altered":           {FirstFile, flipped},
		"a plain gzip that is cut":          {Plain, zipped[:5000]},
		"a plain gzip that was altered":     {Plain, flipped},
		"a gzip that is only its beginning": {Plain, zipped[:4]},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := read(t, test.open, test.data, Limits{})
			if ReasonOf(err) != ReasonContentInvalid || !strings.Contains(err.Error(), "layer") {
				t.Errorf("error %v with reason %q", err, ReasonOf(err))
			}
		})
	}
}

func TestPlain(t *testing.T) {
	for name, data := range map[string]string{"text": "hello", "nothing": "", "one byte": "h", "long text": noise(100_000)} {
		t.Run(name, func(t *testing.T) {
			for form, stored := range map[string]string{"plain": data, "gzip": zip(t, data)} {
				if got, err := read(t, Plain, stored, Limits{}); err != nil || got != data {
					t.Errorf("%s: read %d bytes, %v", form, len(got), err)
				}
			}
		})
	}
	if _, err := read(t, Plain, "hello", Limits{Packed: 4}); ReasonOf(err) != ReasonContentTooLarge {
		t.Errorf("over the packed cap: %v", err)
	}
	if _, err := read(t, Plain, "hello", Limits{Unpacked: 4}); ReasonOf(err) != ReasonContentTooLarge {
		t.Errorf("over the unpacked cap: %v", err)
	}
}

func TestLayersThatCannotBeRead(t *testing.T) {
	for _, open := range []func(string, Limits) (io.ReadCloser, error){Plain, FirstFile} {
		for _, path := range []string{filepath.Join(t.TempDir(), "missing"), t.TempDir()} {
			if _, err := open(path, Limits{}); ReasonOf(err) != ReasonInternal {
				t.Errorf("error %v with reason %q", err, ReasonOf(err))
			}
		}
	}
}
