package component

import (
	"fmt"
	"strings"

	"github.com/open-component-model/ocm/pkg/contexts/ocm/compdesc"
	"github.com/open-component-model/ocm/pkg/runtime"
)

// The accesses that Push writes and that signing finds digests for. OCM's packages of access types would say the same, and each brings
// OCM's whole context of repositories and its grammars into a program's start: a fifth of what it took.
const (
	accessLocalBlob   = "localBlob"
	accessOCIArtifact = "ociArtifact"

	fieldLocalReference = "localReference"
	fieldImageReference = "imageReference"
)

// localBlob is the access of a layer of the component version's own manifest.
func localBlob(digest, mediaType string) compdesc.AccessSpec {
	made := runtime.NewEmptyUnstructuredVersioned(accessLocalBlob)
	made.Object[fieldLocalReference], made.Object["mediaType"] = digest, mediaType
	return made
}

// ociArtifact is the access of an image.
func ociArtifact(reference string) compdesc.AccessSpec {
	made := runtime.NewEmptyUnstructuredVersioned(accessOCIArtifact)
	made.Object[fieldImageReference] = reference
	return made
}

// located is what an access names: a blob beside the descriptor, an image, or neither.
type located struct{ blob, image *string }

// locate reads accesses of all types that stand for a blob or an image, with and without a version.
func locate(access compdesc.AccessSpec) (found located, err error) {
	read, err := runtime.ToUnstructuredTypedObject(access)
	if err != nil || read == nil {
		return found, err
	}
	switch strings.TrimSuffix(read.GetType(), "/v1") {
	case accessLocalBlob:
		found.blob, err = textOf(read, fieldLocalReference)
	case "localOciBlob":
		found.blob, err = textOf(read, "digest")
	case "localFilesystemBlob":
		found.blob, err = textOf(read, "fileName")
	case accessOCIArtifact, "ociRegistry":
		found.image, err = textOf(read, fieldImageReference)
	}
	return found, err
}

// textOf returns a field that is a text, or an empty one if the field is missing.
func textOf(access *runtime.UnstructuredTypedObject, field string) (*string, error) {
	value := access.Object[field]
	text, ok := value.(string)
	if !ok && value != nil {
		return nil, fmt.Errorf("its access of type %s has a %s that is no text", access.GetType(), field)
	}
	return &text, nil
}
