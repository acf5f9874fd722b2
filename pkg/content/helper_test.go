package content

import (
	"encoding/pem"
	"net/http/httptest"
	"testing"
)

// certificateOf returns the certificate of a server, in PEM.
func certificateOf(server *httptest.Server) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
}

// get resolves and fetches, and gives the files by path.
func get(t *testing.T, source Source) (Resolved, map[string]string) {
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

func byPath(tree *Tree) map[string]string {
	all := map[string]string{}
	for _, file := range tree.Files {
		all[file.Path] = string(file.Data)
	}
	return all
}
