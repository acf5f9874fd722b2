package git

import (
	"bytes"
	"compress/zlib"
	"crypto/sha1"
	"encoding/binary"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/google/go-cmp/cmp"

	"github.com/kyma-project/lifecycle-manager/pkg/content"
)

// serveGit serves handler with TLS and gives a source of it that trusts the server.
func serveGit(t *testing.T, handler http.Handler) *Source {
	t.Helper()
	server := httptest.NewTLSServer(handler)
	t.Cleanup(server.Close)
	return &Source{Store: newStore(t), URL: server.URL + "/team/repository.git", Branch: "main", CA: certificateOf(server)}
}

var gitFiles = map[string]string{"README.md": "read me", "deploy/base/a.yaml": "a: 1", "deploy/base/b.yaml": "b: 1", "deploy/kustomization.yaml": "k"}

func TestGitGivesWhatIsWanted(t *testing.T) {
	repository := newRepository(t, gitFiles)
	first := repository.head(t)
	if _, err := repository.CreateTag("light", plumbing.NewHash(first), nil); err != nil {
		t.Fatal(err)
	}
	if _, err := repository.CreateTag("v1", plumbing.NewHash(first), &git.CreateTagOptions{Tagger: &author, Message: "v1"}); err != nil {
		t.Fatal(err)
	}
	second := repository.commit(t, map[string]string{"README.md": "read me again", "deploy/base/a.yaml": "a: 2"})
	third := repository.commit(t, map[string]string{"README.md": "third"})
	base := func(a string) map[string]string { return map[string]string{"a.yaml": a, "b.yaml": "b: 1"} }
	for name, test := range map[string]struct {
		branch, tag, commit, path string
		full, anyCommit           bool
		version                   string
		files                     map[string]string
		requests                  string
	}{
		"a branch": {branch: "main", path: "deploy/base", version: third, files: base("a: 2"), requests: "refs, pack depth 1"},
		"a branch of a server that always sends the history": {
			branch: "main", path: "deploy/base", full: true, version: third, files: base("a: 2"), requests: "refs, pack depth 0",
		},
		"a tag without an object": {tag: "light", path: "deploy/base/", version: first, files: base("a: 1"), requests: "refs, pack depth 1"},
		"a tag with an object":    {tag: "v1", path: "./deploy/base", version: first, files: base("a: 1"), requests: "refs, pack depth 1"},
		"the commit of a branch":  {commit: third, path: "deploy/base", version: third, files: base("a: 2"), requests: "refs, pack depth 1"},
		"the commit of a tag":     {commit: first, path: "deploy/base", version: first, files: base("a: 1"), requests: "refs, pack depth 1"},
		"a commit in upper case":  {commit: strings.ToUpper(first), path: "deploy/base", version: first, files: base("a: 1"), requests: "refs, pack depth 1"},
		"an older commit, which is found in the history": {
			commit: second, path: "deploy/base", version: second, files: base("a: 2"), requests: "refs, pack depth 0",
		},
		"an older commit of a server that gives any": {
			commit: second, path: "deploy/base", anyCommit: true, version: second, files: base("a: 2"), requests: "refs, pack depth 1",
		},
		"everything": {
			branch: "main", version: third, requests: "refs, pack depth 1",
			files: map[string]string{"README.md": "third", "deploy/base/a.yaml": "a: 2", "deploy/base/b.yaml": "b: 1", "deploy/kustomization.yaml": "k"},
		},
		"one file": {branch: "main", path: "deploy/base/b.yaml", version: third, files: map[string]string{"b.yaml": "b: 1"}, requests: "refs, pack depth 1"},
	} {
		t.Run(name, func(t *testing.T) {
			server := &gitServer{repository: repository, full: test.full, anyCommit: test.anyCommit}
			source := serveGit(t, server)
			source.Branch, source.Tag, source.Commit, source.Path = test.branch, test.tag, test.commit, test.path
			resolved, files := get(t, source)
			if resolved.Version != test.version {
				t.Errorf("version %s, want %s", resolved.Version, test.version)
			}
			if diff := cmp.Diff(test.files, files); diff != "" {
				t.Error(diff)
			}
			if got := server.requestLog(); got != test.requests {
				t.Errorf("requests %q, want %q", got, test.requests)
			}
			local := &Source{Store: newStore(t), URL: "file://" + repository.dir, AllowFile: true, Branch: test.branch, Tag: test.tag, Commit: test.commit, Path: test.path}
			if again, _ := get(t, local); again != resolved {
				t.Errorf("%v from the folder, %v from the server", again, resolved)
			}
		})
	}
}

func TestGitClonesOnlyWhatChanged(t *testing.T) {
	repository := newRepository(t, gitFiles)
	server := &gitServer{repository: repository}
	source := serveGit(t, server)
	source.Path = "deploy"
	resolved, _ := get(t, source)
	server.requestLog()

	source.Known = resolved
	if again, _ := get(t, source); again != resolved || server.requestLog() != "refs" {
		t.Errorf("%v, want %v by one request for the references", again, resolved)
	}
	pinned := *source
	pinned.Branch, pinned.Commit = "", resolved.Version
	if again, _ := get(t, &pinned); again != resolved || server.requestLog() != "" {
		t.Errorf("%v, want %v without a request", again, resolved)
	}
	// Another folder changes: another commit, the same content.
	repository.commit(t, map[string]string{"README.md": "changed"})
	if moved, _ := get(t, source); moved.Digest != resolved.Digest || moved.Version == resolved.Version {
		t.Errorf("%v after %v", moved, resolved)
	}
	repository.commit(t, map[string]string{"deploy/new.yaml": "n"})
	if moved, files := get(t, source); moved.Digest == resolved.Digest || files["new.yaml"] != "n" {
		t.Errorf("%v after %v: %v", moved, resolved, files)
	}
	// A Known that was cut off is no answer.
	source.Known = content.Resolved{Version: repository.head(t), Digest: "sha256:"}
	if again, _ := get(t, source); again.Digest == source.Known.Digest {
		t.Error("half an answer was given again")
	}
}

func TestGitFetchesAgainWhatTheStoreHasLost(t *testing.T) {
	repository := newRepository(t, gitFiles)
	server := &gitServer{repository: repository, anyCommit: true}
	source := serveGit(t, server)
	resolved, files := get(t, source)
	repository.commit(t, map[string]string{"README.md": "changed"})
	server.requestLog()

	source.Store = newStore(t)
	tree, err := source.Fetch(t.Context(), resolved)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(files, byPath(tree)); diff != "" || server.requestLog() != "refs, pack depth 1" {
		t.Error(diff)
	}
	source.Store, source.Path = newStore(t), "deploy"
	if _, err := source.Fetch(t.Context(), resolved); content.ReasonOf(err) != content.ReasonDigestMismatch {
		t.Errorf("another path: %v", err)
	}
	if _, err := source.Fetch(t.Context(), content.Resolved{Digest: digestOf("x")}); content.ReasonOf(err) != content.ReasonSourceInvalid {
		t.Errorf("no commit: %v", err)
	}
}

func TestGitRefuses(t *testing.T) {
	target := func(mode filemode.FileMode, name string) func(*testing.T, *gitRepository) {
		return func(t *testing.T, r *gitRepository) {
			r.point(t, r.folder(t, object.TreeEntry{Mode: mode, Name: name, Hash: r.put(t, plumbing.BlobObject, "/etc/passwd")}))
		}
	}
	for name, test := range map[string]struct {
		make   func(*testing.T, *gitRepository)
		path   string
		branch string
		limits content.Limits
		reason string
		says   string
	}{
		"a branch that does not exist": {branch: "other", reason: content.ReasonContentNotFound, says: "no branch of that name"},
		"a path that does not exist":   {path: "nowhere", reason: content.ReasonContentNotFound, says: `path "nowhere" is not in it`},
		"a path below a file":          {path: "README.md/a", reason: content.ReasonContentNotFound},
		"a link":                       {make: target(filemode.Symlink, "link"), reason: content.ReasonArchiveRefused, says: `"link" is a link`},
		"a path that is a link":        {make: target(filemode.Symlink, "link"), path: "link", reason: content.ReasonArchiveRefused},
		"a submodule": {make: func(t *testing.T, r *gitRepository) {
			r.point(t, r.folder(t, object.TreeEntry{Mode: filemode.Submodule, Name: "sub", Hash: plumbing.NewHash(strings.Repeat("1", 40))}))
		}, reason: content.ReasonArchiveRefused, says: "submodule"},
		"a file of git LFS": {make: func(t *testing.T, r *gitRepository) {
			r.point(t, r.folder(t, r.blob(t, "big", "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n")))
		}, reason: content.ReasonContentInvalid, says: "git LFS"},
		"a name that leads out":    {make: target(filemode.Regular, ".."), reason: content.ReasonArchiveRefused},
		"a name with a slash":      {make: target(filemode.Regular, "a/b"), reason: content.ReasonArchiveRefused},
		"a name with a backslash":  {make: target(filemode.Regular, `a\b`), reason: content.ReasonArchiveRefused},
		"a name with a line break": {make: target(filemode.Regular, "a\nb"), reason: content.ReasonArchiveRefused},
		"a folder without files":   {make: func(t *testing.T, r *gitRepository) { r.point(t, r.folder(t)) }, reason: content.ReasonContentInvalid},
		"a root that is no folder": {make: func(t *testing.T, r *gitRepository) { r.point(t, r.put(t, plumbing.BlobObject, "x")) }, reason: content.ReasonContentInvalid},
		"a commit that is none":    {make: func(t *testing.T, r *gitRepository) { pointAt(t, r, r.put(t, plumbing.BlobObject, "x")) }, reason: content.ReasonContentInvalid},
		"a folder that cannot be read": {
			make: func(t *testing.T, r *gitRepository) { r.point(t, r.put(t, plumbing.TreeObject, "nonsense")) }, reason: content.ReasonContentInvalid,
		},
		"a name that is there twice": {make: func(t *testing.T, r *gitRepository) {
			r.point(t, r.folder(t, r.blob(t, "a", "1"), r.blob(t, "a", "2")))
		}, reason: content.ReasonArchiveRefused},
		"too many files":           {limits: content.Limits{Entries: 3}, reason: content.ReasonArchiveRefused},
		"too many objects":         {limits: content.Limits{Entries: 1}, path: "deploy/base/a.yaml", make: manyFiles, reason: content.ReasonArchiveRefused, says: "git objects"},
		"too much to receive":      {limits: content.Limits{Packed: 100}, reason: content.ReasonContentTooLarge},
		"too much when unpacked":   {limits: content.Limits{Unpacked: 100}, reason: content.ReasonContentTooLarge},
		"files named by few trees": {make: gitBomb, reason: content.ReasonArchiveRefused, says: "files and folders"},
		"bytes named by one blob": {make: func(t *testing.T, r *gitRepository) {
			big := r.blob(t, "", strings.Repeat("x", 1<<20))
			var entries []object.TreeEntry
			for name := range strings.SplitSeq("abcdefghij", "") {
				entries = append(entries, object.TreeEntry{Mode: filemode.Regular, Name: name, Hash: big.Hash})
			}
			r.point(t, r.folder(t, entries...))
		}, limits: content.Limits{Unpacked: 4 << 20}, reason: content.ReasonContentTooLarge},
	} {
		t.Run(name, func(t *testing.T) {
			repository := newRepository(t, gitFiles)
			if test.make != nil {
				test.make(t, repository)
			}
			source := serveGit(t, &gitServer{repository: repository})
			source.Path, source.Store.Limits = test.path, test.limits
			if test.branch != "" {
				source.Branch = test.branch
			}
			for range 2 {
				_, err := source.Resolve(t.Context())
				if content.ReasonOf(err) != test.reason || !strings.Contains(err.Error(), test.says) {
					t.Errorf("reason %s, error %v", content.ReasonOf(err), err)
				}
				if left := files(t, source.Store); len(left) > 0 {
					t.Errorf("left behind: %v", left)
				}
			}
		})
	}
}

func pointAt(t *testing.T, r *gitRepository, hash plumbing.Hash) {
	t.Helper()
	if err := r.Storer.SetReference(plumbing.NewHashReference("refs/heads/main", hash)); err != nil {
		t.Fatal(err)
	}
}

func manyFiles(t *testing.T, r *gitRepository) {
	t.Helper()
	all := map[string]string{}
	for name := range strings.SplitSeq("abcdefghijklmnopqrstuvwxyz", "") {
		all["many/"+name] = name
	}
	r.commit(t, all)
}

// gitBomb has ten folders in each other, each with the next one ten times: ten thousand million files of a dozen objects.
func gitBomb(t *testing.T, r *gitRepository) {
	t.Helper()
	inner := r.blob(t, "f", "boom")
	for range 10 {
		var entries []object.TreeEntry
		for name := range strings.SplitSeq("abcdefghij", "") {
			entries = append(entries, object.TreeEntry{Mode: inner.Mode, Name: name, Hash: inner.Hash})
		}
		inner = object.TreeEntry{Mode: filemode.Dir, Hash: r.folder(t, entries...)}
	}
	r.point(t, inner.Hash)
}

// packed makes a pack of one object with the length that it says.
func packed(kind byte, length uint64, data []byte) []byte {
	var pack bytes.Buffer
	pack.WriteString("PACK\x00\x00\x00\x02\x00\x00\x00\x01")
	head := kind<<4 | byte(length&15)
	for length >>= 4; length > 0; length >>= 7 {
		pack.WriteByte(head | 0x80)
		head = byte(length & 0x7f)
	}
	pack.WriteByte(head)
	if kind == 7 {
		pack.Write(make([]byte, 20))
	}
	writer := zlib.NewWriter(&pack)
	_, _ = writer.Write(data)
	_ = writer.Close()
	sum := sha1.Sum(pack.Bytes())
	return append(pack.Bytes(), sum[:]...)
}

func TestGitRefusesPacks(t *testing.T) {
	delta := binary.AppendUvarint(binary.AppendUvarint(nil, 1), 1<<40)
	good := packed(3, 1, []byte("x"))
	for name, test := range map[string]struct {
		pack   []byte
		reason string
	}{
		"that are none":                              {[]byte("<html>"), content.ReasonContentInvalid},
		"that are empty":                             {[]byte{}, content.ReasonContentInvalid},
		"that are cut off":                           {good[:20], content.ReasonContentInvalid},
		"with a wrong sum":                           {append(good[:len(good)-1:len(good)-1], 0), content.ReasonContentInvalid},
		"without the commit":                         {good, content.ReasonContentNotFound},
		"with an object that says it is huge":        {packed(3, 1<<40, []byte("x")), content.ReasonContentTooLarge},
		"with a length that has no end":              {append([]byte("PACK\x00\x00\x00\x02\x00\x00\x00\x01"), bytes.Repeat([]byte{0xff}, 50)...), content.ReasonContentInvalid},
		"with an object that is longer than it says": {packed(3, 1, make([]byte, 1<<20)), content.ReasonContentInvalid},
		"with a delta that makes something huge":     {packed(7, uint64(len(delta)), delta), content.ReasonContentTooLarge},
		"with a delta of nothing":                    {packed(7, 2, []byte{1, 1}), content.ReasonContentInvalid},
		"with more objects than are accepted":        {[]byte("PACK\x00\x00\x00\x02\xff\xff\xff\xff"), content.ReasonArchiveRefused},
	} {
		t.Run(name, func(t *testing.T) {
			source := serveGit(t, &gitServer{repository: newRepository(t, gitFiles), pack: test.pack})
			if _, err := source.Resolve(t.Context()); content.ReasonOf(err) != test.reason {
				t.Errorf("reason %s, error %v", content.ReasonOf(err), err)
			}
		})
	}
}
