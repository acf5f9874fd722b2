package git

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/format/packfile"
	"github.com/go-git/go-git/v5/plumbing/format/pktline"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp/capability"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp/sideband"
	"github.com/go-git/go-git/v5/plumbing/revlist"
	"github.com/go-git/go-git/v5/plumbing/storer"
)

var author = object.Signature{Name: "test", Email: "test@example.com", When: time.Unix(1_700_000_000, 0)}

// gitRepository is a real repository in a folder.
type gitRepository struct {
	*git.Repository

	dir string
}

// newRepository makes one whose branch main has these files in one commit.
func newRepository(t testing.TB, files map[string]string) *gitRepository {
	t.Helper()
	dir := t.TempDir()
	opened, err := git.PlainInitWithOptions(dir, &git.PlainInitOptions{InitOptions: git.InitOptions{DefaultBranch: "refs/heads/main"}})
	if err != nil {
		t.Fatal(err)
	}
	repository := &gitRepository{opened, dir}
	repository.commit(t, files)
	return repository
}

// commit writes files and commits them to the branch that is checked out.
func (r *gitRepository) commit(t testing.TB, files map[string]string) string {
	t.Helper()
	tree, err := r.Worktree()
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range files {
		path := filepath.Join(r.dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(data), 0o600)); err != nil {
			t.Fatal(err)
		}
		if _, err := tree.Add(name); err != nil {
			t.Fatal(err)
		}
	}
	hash, err := tree.Commit("test", &git.CommitOptions{Author: &author, AllowEmptyCommits: true})
	if err != nil {
		t.Fatal(err)
	}
	return hash.String()
}

// head returns the commit of branch main.
func (r *gitRepository) head(t testing.TB) string {
	t.Helper()
	reference, err := r.Reference("refs/heads/main", true)
	if err != nil {
		t.Fatal(err)
	}
	return reference.Hash().String()
}

// put writes an object as it is, however wrong it may be.
func (r *gitRepository) put(t testing.TB, kind plumbing.ObjectType, data string) plumbing.Hash {
	t.Helper()
	made := r.Storer.NewEncodedObject()
	made.SetType(kind)
	writer, err := made.Writer()
	if err == nil {
		_, err = io.WriteString(writer, data)
		err = errors.Join(err, writer.Close())
	}
	hash, putErr := r.Storer.SetEncodedObject(made)
	if err := errors.Join(err, putErr); err != nil {
		t.Fatal(err)
	}
	return hash
}

// folder writes a tree object.
func (r *gitRepository) folder(t testing.TB, entries ...object.TreeEntry) plumbing.Hash {
	t.Helper()
	var data strings.Builder
	for _, entry := range entries {
		fmt.Fprintf(&data, "%o %s\x00%s", uint32(entry.Mode), entry.Name, entry.Hash[:])
	}
	return r.put(t, plumbing.TreeObject, data.String())
}

func (r *gitRepository) blob(t testing.TB, name, data string) object.TreeEntry {
	t.Helper()
	return object.TreeEntry{Mode: filemode.Regular, Name: name, Hash: r.put(t, plumbing.BlobObject, data)}
}

// point makes main a commit of that root folder.
func (r *gitRepository) point(t testing.TB, root plumbing.Hash) string {
	t.Helper()
	hash := r.put(t, plumbing.CommitObject,
		fmt.Sprintf("tree %s\nauthor a <a@b> 1700000000 +0000\ncommitter a <a@b> 1700000000 +0000\n\ntest\n", root))
	if err := r.Storer.SetReference(plumbing.NewHashReference("refs/heads/main", hash)); err != nil {
		t.Fatal(err)
	}
	return hash.String()
}

// gitServer speaks the server's side of git, over what it is called by.
type gitServer struct {
	repository *gitRepository
	// full: the server cannot leave out the history. anyCommit: it gives out commits that no branch leads to.
	full, anyCommit bool
	// pack, if it is set, is sent instead of what was requested.
	pack []byte

	mu       sync.Mutex
	requests []string
	sent     int
}

func (s *gitServer) note(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, text)
}

// requestLog returns the requests so far, which it forgets.
func (s *gitServer) requestLog() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := strings.Join(s.requests, ", ")
	s.requests = nil
	return list
}

func (s *gitServer) advertise(w io.Writer) error {
	s.note("refs")
	refs := packp.NewAdvRefs()
	able := map[capability.Capability]bool{
		capability.Shallow: !s.full, capability.AllowReachableSHA1InWant: s.anyCommit, capability.Sideband64k: !s.full, capability.OFSDelta: true,
	}
	for each, is := range able {
		if is {
			_ = refs.Capabilities.Set(each)
		}
	}
	iterator, err := s.repository.References()
	if err != nil {
		return err
	}
	err = iterator.ForEach(func(reference *plumbing.Reference) error {
		if reference.Type() == plumbing.HashReference {
			refs.References[reference.Name().String()] = reference.Hash()
			if tag, err := object.GetTag(s.repository.Storer, reference.Hash()); err == nil {
				refs.Peeled[reference.Name().String()] = tag.Target
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return refs.Encode(w)
}

func (s *gitServer) upload(r io.Reader, w io.Writer) error {
	request := packp.NewUploadRequest()
	if err := request.Decode(r); err != nil {
		return err
	}
	s.note(fmt.Sprintf("pack depth %d", request.Depth))
	if !s.anyCommit && !s.offered(request.Wants) {
		return pktline.NewEncoder(w).Encodef("ERR upload-pack: not our ref %s\n", request.Wants[0])
	}
	data := s.pack
	if data == nil {
		var err error
		if data, err = packOf(s.repository.Storer, request.Wants, request.Depth == packp.DepthCommits(1)); err != nil {
			data = packOfAll(s.repository.Storer)
		}
	}
	s.mu.Lock()
	s.sent = len(data)
	s.mu.Unlock()
	if request.Depth == packp.DepthCommits(1) {
		if err := (&packp.ShallowUpdate{Shallows: request.Wants}).Encode(w); err != nil {
			return err
		}
	}
	if err := pktline.NewEncoder(w).EncodeString("NAK\n"); err != nil {
		return err
	}
	if !request.Capabilities.Supports(capability.Sideband64k) {
		_, err := w.Write(data)
		return err
	}
	muxer := sideband.NewMuxer(sideband.Sideband64k, w)
	if _, err := muxer.WriteChannel(sideband.ProgressMessage, []byte("counting\n")); err != nil {
		return err
	}
	if _, err := muxer.Write(data); err != nil {
		return err
	}
	return pktline.NewEncoder(w).Flush()
}

// offered reports whether a reference leads to every one of these.
func (s *gitServer) offered(wants []plumbing.Hash) bool {
	iterator, err := s.repository.References()
	known := map[plumbing.Hash]bool{}
	if err == nil {
		err = iterator.ForEach(func(reference *plumbing.Reference) error {
			known[reference.Hash()] = true
			return nil
		})
	}
	for _, want := range wants {
		if !known[want] {
			return false
		}
	}
	return err == nil
}

// packOf encodes what these hashes lead to, with or without the history of commits.
func packOf(from storer.EncodedObjectStorer, wants []plumbing.Hash, shallow bool) ([]byte, error) {
	all := wants
	if shallow {
		all = nil
		for _, hash := range wants {
			commit, root, err := commitOf(from, hash)
			if err != nil {
				return nil, err
			}
			all = append(all, root)
			wants = append(wants, commit)
		}
	}
	hashes, err := revlist.Objects(from, all, nil)
	if err != nil {
		return nil, err
	}
	if shallow {
		hashes = append(hashes, wants...)
	}
	seen := map[plumbing.Hash]bool{}
	unique := hashes[:0]
	for _, hash := range hashes {
		if !seen[hash] {
			unique = append(unique, hash)
		}
		seen[hash] = true
	}
	var data bytes.Buffer
	_, err = packfile.NewEncoder(&data, struct{ storer.EncodedObjectStorer }{from}, false).Encode(unique, 10)
	return data.Bytes(), err
}

// packOfAll encodes everything, for objects that lead to what they should not.
func packOfAll(from storer.EncodedObjectStorer) []byte {
	var hashes []plumbing.Hash
	var data bytes.Buffer
	iterator, err := from.IterEncodedObjects(plumbing.AnyObject)
	if err == nil {
		err = iterator.ForEach(func(each plumbing.EncodedObject) error {
			hashes = append(hashes, each.Hash())
			return nil
		})
	}
	if err == nil {
		_, err = packfile.NewEncoder(&data, struct{ storer.EncodedObjectStorer }{from}, false).Encode(hashes, 10)
	}
	if err != nil {
		panic(err)
	}
	return data.Bytes()
}

// ServeHTTP serves the repository at /team/repository.git.
func (s *gitServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch r.Method + " " + r.URL.Path {
	case "GET /team/repository.git/info/refs":
		_ = pktline.NewEncoder(w).EncodeString("# service=git-upload-pack\n")
		_ = pktline.NewEncoder(w).Flush()
		_ = s.advertise(w)
	case "POST /team/repository.git/git-upload-pack":
		w.Header().Set("Content-Type", "application/x-git-upload-pack-result")
		_ = s.upload(r.Body, w)
	default:
		s.note(cmp.Or(r.URL.Path, "/"))
		http.NotFound(w, r)
	}
}
