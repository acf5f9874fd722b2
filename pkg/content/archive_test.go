package content

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
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

func TestFirstFileRefuses(t *testing.T) {
	manifest := entry{name: "manifest.yaml", data: "hello"}
	limits := Limits{Entries: 3, Unpacked: 8 << 20, Ratio: 50}
	for name, test := range map[string]struct {
		entries []entry
		reason  string
		want    string
	}{
		"a parent":                  {[]entry{{name: "../m.yaml", data: "x"}}, ReasonArchiveRefused, `"../m.yaml" leads out`},
		"a parent further in":       {[]entry{{name: "a/../../m.yaml", data: "x"}}, ReasonArchiveRefused, "leads out"},
		"a parent that is a folder": {[]entry{{name: "../", kind: tar.TypeDir}, manifest}, ReasonArchiveRefused, "leads out"},
		"an absolute name":          {[]entry{{name: "/etc/m.yaml", data: "x"}}, ReasonArchiveRefused, "is absolute"},
		"a name as on Windows":      {[]entry{{name: `..\m.yaml`, data: "x"}}, ReasonArchiveRefused, "is not accepted"},
		"a name that is empty":      {[]entry{{name: "", data: "x"}}, ReasonArchiveRefused, "is not accepted"},
		"a symbolic link": {
			[]entry{{name: "m", kind: tar.TypeSymlink, link: "/etc/passwd"}}, ReasonArchiveRefused, `"m" is a link to "/etc/passwd"`,
		},
		"a hard link":                   {[]entry{{name: "m", kind: tar.TypeLink, link: "n"}}, ReasonArchiveRefused, `"m" is a link to "n"`},
		"a link behind the manifest":    {[]entry{manifest, {name: "m", kind: tar.TypeSymlink, link: "n"}}, ReasonArchiveRefused, "is a link"},
		"a character device":            {[]entry{{name: "d", kind: tar.TypeChar}}, ReasonArchiveRefused, "neither file nor directory"},
		"a block device":                {[]entry{{name: "d", kind: tar.TypeBlock}}, ReasonArchiveRefused, "neither file nor directory"},
		"a pipe":                        {[]entry{{name: "p", kind: tar.TypeFifo}}, ReasonArchiveRefused, "neither file nor directory"},
		"a type that nobody knows":      {[]entry{{name: "p", kind: 'Z'}}, ReasonArchiveRefused, "neither file nor directory"},
		"too many entries":              {[]entry{manifest, {name: "b"}, {name: "c"}, {name: "d"}}, ReasonArchiveRefused, "more than 3 entries"},
		"no entry":                      {nil, ReasonContentInvalid, "no regular file"},
		"only folders and macOS' files": {[]entry{{name: "a/", kind: tar.TypeDir}, {name: "a/._b"}}, ReasonContentInvalid, "no regular file"},
		"a file over the cap":           {[]entry{{name: "m", data: strings.Repeat("x", 8<<20+1)}}, ReasonContentTooLarge, "8388609 bytes"},
		"files that are over it in all": {
			[]entry{manifest, {name: "a", data: noise(5 << 20)}, {name: "b", data: noise(5 << 20)}}, ReasonContentTooLarge,
			"more than 8388608 bytes",
		},
	} {
		t.Run(name, func(t *testing.T) {
			packed := archive(t, test.entries...)
			for form, data := range map[string]string{"plain": packed, "gzip": zip(t, packed)} {
				got, err := read(t, FirstFile, data, limits)
				if ReasonOf(err) != test.reason || !strings.Contains(fmt.Sprint(err), test.want) || got != "" {
					t.Errorf("%s: read %d bytes, error %v with reason %q", form, len(got), err, ReasonOf(err))
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

func TestBombsAreRefused(t *testing.T) {
	zeros := strings.Repeat("\x00", 16<<20)
	inside := archive(t, entry{name: "m.yaml", data: "hello"}, entry{name: "zeros", data: zeros})
	for name, test := range map[string]struct {
		open func(string, Limits) (io.ReadCloser, error)
		data string
	}{
		"a layer of zeros":                   {Plain, zip(t, zeros)},
		"an archive with a file of zeros":    {FirstFile, zip(t, inside)},
		"an archive whose manifest is zeros": {FirstFile, zip(t, archive(t, entry{name: "m.yaml", data: zeros}))},
		"several streams after each other":   {Plain, strings.Repeat(zip(t, zeros[:1<<20]), 16)},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := read(t, test.open, test.data, Limits{}); ReasonOf(err) != ReasonArchiveRefused {
				t.Errorf("by its ratio: error %v with reason %q", err, ReasonOf(err))
			}
			if _, err := read(t, test.open, test.data, Limits{Unpacked: 1 << 20}); ReasonOf(err) != ReasonContentTooLarge {
				t.Errorf("by its size: error %v with reason %q", err, ReasonOf(err))
			}
		})
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
