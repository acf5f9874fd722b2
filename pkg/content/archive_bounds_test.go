//go:build !race

// Archives of many bytes are packed and unpacked, one after the other: the race detector makes that ten times slower and has nothing to
// find.

package content

import (
	"archive/tar"
	"fmt"
	"io"
	"strings"
	"testing"
)

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
		"an unknown type of an entry":   {[]entry{{name: "p", kind: 'Z'}}, ReasonArchiveRefused, "neither file nor directory"},
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

// FirstFile refuses most of them too; what it accepts is the manifest and nothing else.
func TestMaliciousArchivesGiveTheirFirstFileAtMost(t *testing.T) {
	for name, test := range malicious(t) {
		got, err := read(t, FirstFile, test.data, smallLimits)
		if err == nil && len(got) > 5 && !strings.HasPrefix(got, "x") || ReasonOf(err) == ReasonInternal {
			t.Errorf("%s: read %d bytes, error %v", name, len(got), err)
		}
	}
}

// FuzzUnpack holds that whatever the bytes are, they are refused with a reason or give a tree that can be stored and read again.
func FuzzUnpack(f *testing.F) {
	for _, test := range malicious(f) {
		if len(test.data) < 1<<13 {
			f.Add([]byte(test.data))
		}
	}
	f.Add([]byte(archive(f, entry{name: "a/b", data: "1"}, entry{name: "c", data: "2"})))
	f.Add([]byte(zip(f, archive(f, entry{name: "a/.wh.b"}, entry{name: ".wh..wh..opq"}, entry{name: "c", data: "2"}))))
	dir := f.TempDir()
	limits := Limits{Packed: 1 << 16, Unpacked: 1 << 16, Entries: 10, Ratio: 100}
	f.Fuzz(func(t *testing.T, data []byte) {
		path := dir + "/layer"
		write(t, path, string(data))
		layered := &unpacker{limits: limits, layered: true}
		if _, err := layered.next(path); ReasonOf(err) == ReasonInternal {
			t.Fatalf("as a layer: %v", err)
		}
		got, err := Unpack(path, limits)
		if err != nil {
			if ReasonOf(err) == ReasonInternal || got != nil {
				t.Fatalf("error %v", err)
			}
			return
		}
		if err := checkTree(got, DefaultLimits); err != nil {
			t.Fatalf("what was unpacked cannot be stored: %v", err)
		}
		packed := string(Archive(got.Files))
		write(t, path, packed)
		again, err := unpackOne(path, DefaultLimits, &unpacker{canonical: true})
		if err != nil || string(Archive(again.Files)) != packed || len(again.Files) != len(got.Files) {
			t.Fatalf("it reads differently: %v", err)
		}
	})
}
