package descriptor

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestLayerSaysWhereAResourceLies(t *testing.T) {
	type answer struct {
		Layer, MediaType string
		Dir              bool
		Message          string
	}
	local := func(kind, reference, mediaType string) Resource {
		return Resource{Name: "raw-manifest", Access: Access{Type: kind, LocalReference: reference, MediaType: mediaType}}
	}
	for name, test := range map[string]struct {
		resources []Resource
		want      answer
	}{
		"a plain layer is a file": {
			[]Resource{local("localBlob", ones, "application/yaml")}, answer{Layer: ones, MediaType: "application/yaml"},
		},
		"the type may have a version": {
			[]Resource{local("localBlob/v1", ones, "text/plain")}, answer{Layer: ones, MediaType: "text/plain"},
		},
		"the older type is a layer":  {[]Resource{local("localOciBlob", ones, "")}, answer{Layer: ones}},
		"the older type has one too": {[]Resource{local("localOciBlob/v1", ones, "")}, answer{Layer: ones}},
		"a tar is a directory": {
			[]Resource{local("localBlob", ones, "application/x-tar")}, answer{Layer: ones, MediaType: "application/x-tar", Dir: true},
		},
		"a packed tar is a directory": {
			[]Resource{local("localBlob", ones, "application/x-tar+gzip")}, answer{Layer: ones, MediaType: "application/x-tar+gzip", Dir: true},
		},
		"tar without x is a directory": {
			[]Resource{local("localBlob", ones, "application/tar")}, answer{Layer: ones, MediaType: "application/tar", Dir: true},
		},
		"mere gzip is a file": {
			[]Resource{local("localBlob", ones, "application/gzip")}, answer{Layer: ones, MediaType: "application/gzip"},
		},
		"others are passed by": {
			[]Resource{{Name: "x"}, local("localBlob", ones, "a/b")}, answer{Layer: ones, MediaType: "a/b"},
		},
		"a missing resource is told": {[]Resource{{Name: "x"}}, answer{Message: "has no resource raw-manifest"}},
		"two of a name are refused": {
			[]Resource{local("localBlob", ones, ""), local("localBlob", twos, "")}, answer{Message: "several resources raw-manifest"},
		},
		"an image is no layer": {
			[]Resource{local("ociArtifact", "", "")}, answer{Message: `access type "ociArtifact", which is no layer`},
		},
		"a later version is no layer": {
			[]Resource{local("localBlob/v2", ones, "")}, answer{Message: `access type "localBlob/v2"`},
		},
		"a reference must be a digest": {[]Resource{local("localBlob", "sha256.1111", "")}, answer{Message: "no sha256 digest"}},
		"a digest must be sha256": {
			[]Resource{local("localBlob", "sha512:"+strings.Repeat("1", 128), "")}, answer{Message: "no sha256 digest"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			component := Component{Name: "example.org/m", Version: "1.0.0", Resources: test.resources}
			layer, mediaType, dir, err := component.Layer("raw-manifest")
			got := answer{Layer: layer, MediaType: mediaType, Dir: dir}
			if err != nil {
				if ReasonOf(err) != ReasonInvalid || test.want.Message == "" || !strings.Contains(err.Error(), test.want.Message) {
					t.Fatalf("error %v, want one that says %q", err, test.want.Message)
				}
				got.Message = test.want.Message
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("another answer (-want +got):\n%s", diff)
			}
		})
	}
}

func TestImagesListsArtifactsOfTodaysTypeOnly(t *testing.T) {
	if diff := cmp.Diff([]string{"registry.example.org/harbour/operator:1.4.0"}, harbour(SchemaV2).Images()); diff != "" {
		t.Errorf("images differ (-want +got):\n%s", diff)
	}
	if got := lighthouse().Images(); got != nil {
		t.Errorf("the older access type counts as an image: %v", got)
	}
}

func TestReasonOfSomeOtherErrorIsEmpty(t *testing.T) {
	if got := ReasonOf(ErrTooLarge); got != "" {
		t.Errorf("reason %q of an error without one", got)
	}
}
