package component

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/open-component-model/ocm/pkg/contexts/ocm"
	"github.com/open-component-model/ocm/pkg/contexts/ocm/accessmethods/localblob"
	"github.com/open-component-model/ocm/pkg/contexts/ocm/accessmethods/ociartifact"
	"github.com/open-component-model/ocm/pkg/runtime"
)

// TestAccessesAreTheLibrarys compares what locate reads, and what is written, with OCM's own packages of access types.
func TestAccessesAreTheLibrarys(t *testing.T) {
	for text, readable := range map[string]bool{
		`{"type": "localBlob", "localReference": "sha256:1", "mediaType": "text/plain"}`: true,
		`{"type": "localBlob/v1", "localReference": "sha256:2"}`:                         true,
		`{"type": "localBlob/v2", "localReference": "sha256:3"}`:                         true, // another type
		`{"type": "localBlob"}`:                                     true,
		`{"type": "localBlob", "localReference": null}`:             true,
		`{"type": "localBlob", "localReference": 4}`:                false,
		`{"type": "localOciBlob", "digest": "sha256:5"}`:            true,
		`{"type": "localOciBlob/v1", "digest": "sha256:6"}`:         true,
		`{"type": "localFilesystemBlob", "fileName": "blob"}`:       true,
		`{"type": "localFilesystemBlob/v1", "fileName": "blob"}`:    true,
		`{"type": "ociArtifact", "imageReference": "a.example/b"}`:  true,
		`{"type": "ociArtifact/v1", "imageReference": "a.b/c@d"}`:   true,
		`{"type": "ociRegistry", "imageReference": "a.example/d"}`:  true,
		`{"type": "ociRegistry/v1", "imageReference": "a.b/e:1"}`:   true,
		`{"type": "ociArtifact", "imageReference": {}}`:             false,
		`{"type": "ociBlob", "digest": "sha256:7", "ref": "a.b/c"}`: true,
		`{"type": "example.org/own", "localReference": "sha256:8"}`: true,
	} {
		var read runtime.UnstructuredVersionedTypedObject
		if err := json.Unmarshal([]byte(text), &read); err != nil {
			t.Fatal(err)
		}
		got, gotErr := locate(&read)
		theirs, theirErr := ocm.DefaultContext().AccessSpecForSpec(&read)
		var want located
		switch theirs := theirs.(type) {
		case *localblob.AccessSpec:
			want.blob = &theirs.LocalReference
		case *ociartifact.AccessSpec:
			want.image = &theirs.ImageReference
		}
		if (gotErr == nil) != readable || (theirErr == nil) != readable {
			t.Errorf("%s: error %v, the library's %v", text, gotErr, theirErr)
		}
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(located{})); diff != "" && readable {
			t.Errorf("%s: (-library +locate)\n%s", text, diff)
		}
	}
	for _, pair := range [][2]any{
		{localblob.New("sha256:1", "", "text/<plain>", nil), localBlob("sha256:1", "text/<plain>")},
		{ociartifact.New("a.example/b:1"), ociArtifact("a.example/b:1")},
	} {
		want, err := runtime.ToUnstructuredTypedObject(pair[0])
		if err != nil {
			t.Fatal(err)
		}
		got, err := runtime.ToUnstructuredTypedObject(pair[1])
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want.Object, got.Object); diff != "" {
			t.Errorf("(-library +written)\n%s", diff)
		}
	}
}
