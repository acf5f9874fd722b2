package content

import (
	"archive/tar"
	"errors"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// FuzzParseReference holds that whatever is accepted is one blob of one repository of one host: no part can reach into another, and
// parsing it again changes nothing.
func FuzzParseReference(f *testing.F) {
	for _, repo := range []string{
		"example.com/a", "http://localhost:5000/a/", "[::1]:5000/a", "a@b/c", "A.b/c", "https://x", "x:1:2/a", "[::ffff:1.2.3.4]/a",
		"-a/b", "a//b",
	} {
		for _, name := range []string{"", "b", "../b", "b?c", "b@sha256:0", "b:1", "B"} {
			f.Add(repo, name, zeros)
		}
	}
	f.Add("example.com/a", "b", "sha256:"+strings.Repeat("F", 64))
	f.Fuzz(func(t *testing.T, repo, name, ref string) {
		parsed, plainHTTP, err := ParseReference(repo, name, ref)
		if err != nil {
			if ReasonOf(err) != ReasonSourceInvalid || parsed != (Reference{}) {
				t.Fatalf("%s beside error %v", parsed, err)
			}
			return
		}
		if err := parsed.validate(); err != nil {
			t.Fatalf("%s is not in its normal form: %v", parsed, err)
		}
		address, err := url.Parse(blobURL(parsed, plainHTTP))
		if err != nil {
			t.Fatal(err)
		}
		if address.Host != hostOf(parsed) || address.User != nil || address.RawQuery != "" || address.Fragment != "" ||
			address.Path != "/v2/"+parsed.Repository+"/blobs/"+ref || strings.Contains(parsed.Repository, "..") {
			t.Fatalf("%s leads to %s", parsed, address)
		}
		if strings.Contains(parsed.Registry, "://") || plainHTTP != strings.HasPrefix(repo, "http://") {
			t.Fatalf("%q became %s, plain %t", repo, parsed, plainHTTP)
		}
	})
}

// FuzzFirstFile holds that whatever the bytes are, they are refused with a reason or give no more than the cap, and that trouble with
// them is never taken for trouble of this machine.
func FuzzFirstFile(f *testing.F) {
	manifest := entry{name: "manifest.yaml", data: "hello"}
	for _, entries := range [][]entry{
		nil, {manifest}, {{name: "a/", kind: tar.TypeDir}, {name: "a/._b"}, manifest}, {{name: "../m", data: "x"}},
		{manifest, {name: "m", kind: tar.TypeSymlink, link: "n"}}, {{name: strings.Repeat("a/", 200) + "m.yaml", data: "hello"}},
		{{name: "pax_global_header", kind: tar.TypeXGlobalHeader}, manifest}, {{name: "d", kind: tar.TypeChar}},
	} {
		packed := archive(f, entries...)
		f.Add([]byte(packed))
		f.Add([]byte(zip(f, packed)))
	}
	f.Add([]byte("\x1f\x8b\x08"))
	path := filepath.Join(f.TempDir(), "layer")
	limits := Limits{Packed: 1 << 20, Unpacked: 1 << 20, Entries: 10, Ratio: 100}
	f.Fuzz(func(t *testing.T, data []byte) {
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		for _, open := range []func(string, Limits) (io.ReadCloser, error){FirstFile, Plain} {
			reader, err := open(path, limits)
			var got []byte
			if err == nil {
				got, err = io.ReadAll(reader)
				err = errors.Join(err, reader.Close())
			}
			if ReasonOf(err) == ReasonInternal || int64(len(got)) > limits.Unpacked {
				t.Fatalf("%d bytes, error %v", len(got), err)
			}
		}
	})
}

// FuzzHelmIndex holds that an index is refused with a reason or gives versions that can be used.
func FuzzHelmIndex(f *testing.F) {
	f.Add([]byte("entries:\n  sample:\n  - version: 1.0.0\n    urls: [a]\n"))
	f.Add([]byte("entries:\n  a:\n  - version: &v 1\n  sample:\n  - version: *v\n"))
	f.Add([]byte(`{"entries": {"sample": [{"version": 1}]}}`))
	f.Add([]byte("entries:\n  sample: |\n    x\n  sample:\n  - {}\n"))
	f.Add([]byte(laughs()))
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 1<<16 {
			return
		}
		entries, err := decodeIndex(data, "sample")
		if err != nil {
			if reason := ReasonOf(err); reason != ReasonContentInvalid && reason != ReasonContentNotFound {
				t.Fatalf("reason %s, error %v", reason, err)
			}
			return
		}
		for _, each := range entries {
			if each.Version == "" {
				t.Fatalf("entries %v", entries)
			}
		}
		if _, err := pickEntry(entries, ""); err != nil && ReasonOf(err) != ReasonContentNotFound {
			t.Fatal(err)
		}
	})
}
