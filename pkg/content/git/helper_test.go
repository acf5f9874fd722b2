package git

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"io/fs"
	"net/http/httptest"
	"path/filepath"
	"testing"

	"github.com/kyma-project/lifecycle-manager/pkg/content"
)

// endless is a reader without an end.
type endless struct{}

func (endless) Read(p []byte) (int, error) { return len(p), nil }

func newStore(t *testing.T) *content.Store {
	t.Helper()
	return &content.Store{Dir: filepath.Join(t.TempDir(), "store")}
}

func digestOf(data string) string {
	sum := sha256.Sum256([]byte(data))
	return "sha256:" + hex.EncodeToString(sum[:])
}

// files returns the paths of all files of a store.
func files(t *testing.T, store *content.Store) []string {
	t.Helper()
	var all []string
	err := filepath.WalkDir(store.Dir, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			all = append(all, path)
		}
		return err
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return all
}

// certificateOf returns the certificate of a server, in PEM.
func certificateOf(server *httptest.Server) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
}

// get resolves and fetches, and gives the files by path.
func get(t *testing.T, source content.Source) (content.Resolved, map[string]string) {
	t.Helper()
	resolved, err := source.Resolve(t.Context())
	if err != nil {
		t.Fatalf("Resolve: %v", err)
	}
	tree, err := source.Fetch(t.Context(), resolved)
	if err != nil {
		t.Fatalf("Fetch: %v", err)
	}
	return resolved, byPath(tree)
}

func byPath(tree *content.Tree) map[string]string {
	all := map[string]string{}
	for _, file := range tree.Files {
		all[file.Path] = string(file.Data)
	}
	return all
}
