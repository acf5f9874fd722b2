package git

import (
	"strings"
	"testing"

	"github.com/kyma-project/lifecycle-manager/pkg/content"
)

func TestGitReferences(t *testing.T) {
	hash := strings.Repeat("aB", 20)
	for name, test := range map[string]struct {
		source Source
		want   string // empty: refused
	}{
		"a branch":                   {Source{URL: "https://example.com/a/b.git", Branch: "feature/x"}, "https://example.com/a/b.git branch feature/x"},
		"a tag and a path":           {Source{URL: "https://example.com/a", Tag: "v1.0", Path: "./deploy//base/"}, "https://example.com/a tag v1.0 path deploy/base"},
		"a commit":                   {Source{URL: "ssh://git@example.com:2222/a", Commit: hash}, "ssh://example.com:2222/a commit " + strings.ToLower(hash)},
		"the root by its path":       {Source{URL: "https://example.com/a", Branch: "b", Path: "."}, "https://example.com/a branch b"},
		"a folder of this machine":   {Source{URL: "file:///tmp/a", Branch: "b", AllowFile: true}, "file:///tmp/a branch b"},
		"http where it is allowed":   {Source{URL: "http://localhost:8080/a", Branch: "b", AllowPlain: true}, "http://localhost:8080/a branch b"},
		"http":                       {Source{URL: "http://example.com/a", Branch: "b"}, ""},
		"a file":                     {Source{URL: "file:///tmp/a", Branch: "b"}, ""},
		"a file of a host":           {Source{URL: "file://host/tmp/a", Branch: "b", AllowFile: true}, ""},
		"git's own protocol":         {Source{URL: "git://example.com/a", Branch: "b"}, ""},
		"a helper program":           {Source{URL: "ext::sh -c touch% /tmp/pwned", Branch: "b"}, ""},
		"a path for scp":             {Source{URL: "git@example.com:a/b", Branch: "b"}, ""},
		"a local path":               {Source{URL: "/tmp/a", Branch: "b", AllowFile: true}, ""},
		"a host that is an option":   {Source{URL: "ssh://-oProxyCommand=x/a", Branch: "b"}, ""},
		"a path with a quote":        {Source{URL: "ssh://git@example.com/a'$(x)'", Branch: "b"}, ""},
		"no repository":              {Source{URL: "https://example.com/", Branch: "b"}, ""},
		"no host":                    {Source{URL: "https:///a", Branch: "b"}, ""},
		"a password in the URL":      {Source{URL: "https://me:top-secret@example.com/a", Branch: "b"}, ""},
		"a password in an ssh URL":   {Source{URL: "ssh://me:top-secret@example.com/a", Branch: "b"}, ""},
		"a token in the URL":         {Source{URL: "https://top-secret@example.com/a", Branch: "b"}, ""},
		"a query":                    {Source{URL: "https://example.com/a?ref=top-secret", Branch: "b"}, ""},
		"a fragment":                 {Source{URL: "https://example.com/a#top-secret", Branch: "b"}, ""},
		"a URL that cannot be read":  {Source{URL: "https://me:top-secret@exa mple.com/%zz", Branch: "b"}, ""},
		"nothing wanted":             {Source{URL: "https://example.com/a"}, ""},
		"a branch and a tag":         {Source{URL: "https://example.com/a", Branch: "b", Tag: "c"}, ""},
		"a short commit":             {Source{URL: "https://example.com/a", Commit: "abc123"}, ""},
		"a commit of zeros":          {Source{URL: "https://example.com/a", Commit: strings.Repeat("0", 40)}, ""},
		"a branch that is an option": {Source{URL: "https://example.com/a", Branch: "--upload-pack=x"}, ""},
		"a branch that climbs":       {Source{URL: "https://example.com/a", Branch: "../x"}, ""},
		"a branch with a space":      {Source{URL: "https://example.com/a", Branch: "a path b"}, ""},
		"a path that leads out":      {Source{URL: "https://example.com/a", Branch: "b", Path: "a/../../b"}, ""},
		"a path that is absolute":    {Source{URL: "https://example.com/a", Branch: "b", Path: "/a"}, ""},
		"a path with a line break":   {Source{URL: "https://example.com/a", Branch: "b", Path: "a\nb"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := test.source.parse()
			if test.want == "" {
				if content.ReasonOf(err) != content.ReasonSourceInvalid || strings.Contains(err.Error()+test.source.Reference(), "top-secret") {
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
		source := &Source{URL: address, Branch: branch, Commit: commit, Path: path}
		want, err := source.parse()
		if err != nil {
			if content.ReasonOf(err) != content.ReasonSourceInvalid || source.Reference() != "invalid git repository" {
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
		again := &Source{URL: content.DisplayURL(want.address), Path: want.path}
		if want.kind == kindCommit {
			again.Commit = want.name
		} else {
			again.Branch = want.name
		}
		if again.Reference() != source.Reference() {
			t.Fatalf("%q became %q", source.Reference(), again.Reference())
		}
	})
}

// FuzzGitPack holds that a pack is refused with a reason or read within the limits.
func FuzzGitPack(f *testing.F) {
	f.Add(packed(3, 1, []byte("x")))
	f.Add(packed(7, 2, []byte{1, 1}))
	f.Add(packed(2, 0, nil))
	f.Add([]byte("PACK\x00\x00\x00\x02\xff\xff\xff\xff"))
	limits := content.Limits{Packed: 1 << 20, Unpacked: 1 << 20, Entries: 10}.OrDefault()
	f.Fuzz(func(t *testing.T, data []byte) {
		_, err := parsePack(t.Context(), strings.NewReader(string(data)), limits)
		if err != nil && content.ReasonOf(err) == content.ReasonInternal {
			t.Fatal(err)
		}
	})
}
