package content

import (
	"strings"
	"testing"
)

func TestGitReferences(t *testing.T) {
	hash := strings.Repeat("aB", 20)
	for name, test := range map[string]struct {
		source GitSource
		want   string // empty: refused
	}{
		"a branch":                   {GitSource{URL: "https://example.com/a/b.git", Branch: "feature/x"}, "https://example.com/a/b.git branch feature/x"},
		"a tag and a path":           {GitSource{URL: "https://example.com/a", Tag: "v1.0", Path: "./deploy//base/"}, "https://example.com/a tag v1.0 path deploy/base"},
		"a commit":                   {GitSource{URL: "ssh://git@example.com:2222/a", Commit: hash}, "ssh://example.com:2222/a commit " + strings.ToLower(hash)},
		"the root by its path":       {GitSource{URL: "https://example.com/a", Branch: "b", Path: "."}, "https://example.com/a branch b"},
		"a folder of this machine":   {GitSource{URL: "file:///tmp/a", Branch: "b", AllowFile: true}, "file:///tmp/a branch b"},
		"http where it is allowed":   {GitSource{URL: "http://localhost:8080/a", Branch: "b", AllowPlain: true}, "http://localhost:8080/a branch b"},
		"http":                       {GitSource{URL: "http://example.com/a", Branch: "b"}, ""},
		"a file":                     {GitSource{URL: "file:///tmp/a", Branch: "b"}, ""},
		"a file of a host":           {GitSource{URL: "file://host/tmp/a", Branch: "b", AllowFile: true}, ""},
		"git's own protocol":         {GitSource{URL: "git://example.com/a", Branch: "b"}, ""},
		"a helper program":           {GitSource{URL: "ext::sh -c touch% /tmp/pwned", Branch: "b"}, ""},
		"a path for scp":             {GitSource{URL: "git@example.com:a/b", Branch: "b"}, ""},
		"a local path":               {GitSource{URL: "/tmp/a", Branch: "b", AllowFile: true}, ""},
		"a host that is an option":   {GitSource{URL: "ssh://-oProxyCommand=x/a", Branch: "b"}, ""},
		"a path with a quote":        {GitSource{URL: "ssh://git@example.com/a'$(x)'", Branch: "b"}, ""},
		"no repository":              {GitSource{URL: "https://example.com/", Branch: "b"}, ""},
		"no host":                    {GitSource{URL: "https:///a", Branch: "b"}, ""},
		"a password in the URL":      {GitSource{URL: "https://me:top-secret@example.com/a", Branch: "b"}, ""},
		"a password in an ssh URL":   {GitSource{URL: "ssh://me:top-secret@example.com/a", Branch: "b"}, ""},
		"a token in the URL":         {GitSource{URL: "https://top-secret@example.com/a", Branch: "b"}, ""},
		"a query":                    {GitSource{URL: "https://example.com/a?ref=top-secret", Branch: "b"}, ""},
		"a fragment":                 {GitSource{URL: "https://example.com/a#top-secret", Branch: "b"}, ""},
		"a URL that cannot be read":  {GitSource{URL: "https://me:top-secret@exa mple.com/%zz", Branch: "b"}, ""},
		"nothing wanted":             {GitSource{URL: "https://example.com/a"}, ""},
		"a branch and a tag":         {GitSource{URL: "https://example.com/a", Branch: "b", Tag: "c"}, ""},
		"a short commit":             {GitSource{URL: "https://example.com/a", Commit: "abc123"}, ""},
		"a commit of zeros":          {GitSource{URL: "https://example.com/a", Commit: strings.Repeat("0", 40)}, ""},
		"a branch that is an option": {GitSource{URL: "https://example.com/a", Branch: "--upload-pack=x"}, ""},
		"a branch that climbs":       {GitSource{URL: "https://example.com/a", Branch: "../x"}, ""},
		"a branch with a space":      {GitSource{URL: "https://example.com/a", Branch: "a path b"}, ""},
		"a path that leads out":      {GitSource{URL: "https://example.com/a", Branch: "b", Path: "a/../../b"}, ""},
		"a path that is absolute":    {GitSource{URL: "https://example.com/a", Branch: "b", Path: "/a"}, ""},
		"a path with a line break":   {GitSource{URL: "https://example.com/a", Branch: "b", Path: "a\nb"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := test.source.parse()
			if test.want == "" {
				if ReasonOf(err) != ReasonSourceInvalid || strings.Contains(err.Error()+test.source.Reference(), "top-secret") {
					t.Errorf("error %v", err)
				}
				return
			}
			if got := test.source.Reference(); err != nil || got != test.want {
				t.Errorf("%q, %v, want %q", got, err, test.want)
			}
		})
	}
}

// FuzzGitReference holds that what is accepted is one repository of one host, and one folder in it, and shows no credentials.
func FuzzGitReference(f *testing.F) {
	for _, address := range []string{"https://example.com/a.git", "ssh://git@[::1]:22/a", "https://me:pw@h/a", "git@h:a", "file:///a", "ssh://h/~u/a'", "x"} {
		f.Add(address, "main", "", "")
		f.Add(address, "", strings.Repeat("a", 40), "a/b")
		f.Add(address, "a..b", "", "../a")
	}
	f.Fuzz(func(t *testing.T, address, branch, commit, path string) {
		source := &GitSource{URL: address, Branch: branch, Commit: commit, Path: path}
		want, err := source.parse()
		if err != nil {
			if ReasonOf(err) != ReasonSourceInvalid || source.Reference() != "invalid git repository" {
				t.Fatalf("error %v", err)
			}
			return
		}
		if scheme := want.address.Scheme; (scheme != "https" && scheme != "ssh") || want.address.Host == "" || want.address.RawQuery != "" {
			t.Fatalf("%q was accepted", address)
		}
		if _, has := want.address.User.Password(); has || strings.ContainsAny(want.address.Path, "'\n\x00") {
			t.Fatalf("%q was accepted", address)
		}
		if strings.HasPrefix(want.path, "/") || strings.HasPrefix(want.path+"/", "../") || strings.Contains(want.path, "/../") {
			t.Fatalf("path %q became %q", path, want.path)
		}
		again := &GitSource{URL: place(want.address), Path: want.path}
		if want.kind == gitCommit {
			again.Commit = want.name
		} else {
			again.Branch = want.name
		}
		if again.Reference() != source.Reference() {
			t.Fatalf("%q became %q", source.Reference(), again.Reference())
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

// FuzzGitPack holds that a pack is refused with a reason or read within the limits.
func FuzzGitPack(f *testing.F) {
	f.Add(packed(3, 1, []byte("x")))
	f.Add(packed(7, 2, []byte{1, 1}))
	f.Add(packed(2, 0, nil))
	f.Add([]byte("PACK\x00\x00\x00\x02\xff\xff\xff\xff"))
	limits := Limits{Packed: 1 << 20, Unpacked: 1 << 20, Entries: 10}.orDefault()
	f.Fuzz(func(t *testing.T, data []byte) {
		_, err := parsePack(t.Context(), strings.NewReader(string(data)), limits)
		if err != nil && ReasonOf(err) == ReasonInternal {
			t.Fatal(err)
		}
	})
}
