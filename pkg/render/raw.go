package render

import (
	"bytes"
	"context"
	"path"
	"strings"

	"github.com/kyma-project/lifecycle-manager/pkg/content"
)

// Raw is content that is one file of YAML or JSON documents.
type Raw struct{}

// Render reads the one file that the content is.
func (Raw) Render(ctx context.Context, tree *content.Tree, _ Input) (Rendered, error) {
	if len(tree.Files) != 1 {
		return Rendered{}, content.Errorf(content.ReasonContentInvalid,
			"the content has %d files and must be one: use a format that takes a folder, such as bundle",
			len(tree.Files))
	}
	return oneFile(ctx, tree.Files[0])
}

// ClusterIndependent implements ClusterIndependent.
func (Raw) ClusterIndependent() {}

// FirstFile is content whose first regular file holds YAML or JSON documents. The other files do not count.
type FirstFile struct{}

// Render reads the first file in the order of the content. Files that macOS adds to archives ("._*") are ignored.
func (FirstFile) Render(ctx context.Context, tree *content.Tree, _ Input) (Rendered, error) {
	for _, file := range tree.Files {
		if strings.HasPrefix(path.Base(file.Path), "._") {
			continue
		}
		return oneFile(ctx, file)
	}
	return Rendered{}, content.Errorf(content.ReasonContentInvalid, "the content has no file: put the manifest into it")
}

// ClusterIndependent implements ClusterIndependent.
func (FirstFile) ClusterIndependent() {}

func oneFile(ctx context.Context, file content.File) (Rendered, error) {
	if err := Interrupted(ctx); err != nil {
		return Rendered{}, err
	}
	objects, err := Parse(bytes.NewReader(file.Data), DefaultLimit)
	if err != nil {
		return Rendered{}, InFile(file.Path, err)
	}
	return Rendered{Steps: OneStep(objects)}, nil
}
