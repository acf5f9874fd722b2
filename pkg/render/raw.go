package render

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path"
	"strings"

	"github.com/kyma-project/lifecycle-manager/pkg/content"
)

// Raw is content that is one file of YAML or JSON documents.
type Raw struct{}

// Render reads the one file that the content is.
func (Raw) Render(ctx context.Context, tree *content.Tree, _ Input) (Rendered, error) {
	if len(tree.Files) != 1 {
		return Rendered{}, contentInvalid("the content has %d files and must be one: use a format that takes a folder, such as bundle",
			len(tree.Files))
	}
	return oneFile(ctx, tree.Files[0])
}

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
	return Rendered{}, contentInvalid("the content has no file: put the manifest into it")
}

func oneFile(ctx context.Context, file content.File) (Rendered, error) {
	if err := ended(ctx); err != nil {
		return Rendered{}, err
	}
	objects, err := Parse(bytes.NewReader(file.Data), DefaultLimit)
	if err != nil {
		return Rendered{}, inFile(file.Path, err)
	}
	return Rendered{Steps: oneStep(objects)}, nil
}

// contentInvalid returns what is wrong with the content itself.
func contentInvalid(format string, args ...any) error {
	return &content.Error{Reason: content.ReasonContentInvalid, Err: fmt.Errorf(format, args...)}
}

// inFile says in which file an error is and keeps its reason.
func inFile(name string, err error) error {
	if name == "" {
		return err
	}
	return &content.Error{Reason: content.ReasonOf(err), Err: fmt.Errorf("%s: %w", name, err)}
}

// ended returns an error when the caller's context has ended, which says nothing about the content.
func ended(ctx context.Context) error {
	if ctx.Err() == nil {
		return nil
	}
	return &content.Error{Reason: content.ReasonInternal, Err: fmt.Errorf("rendering was given up: %w", context.Cause(ctx))}
}

// refuseValues is for formats that have nowhere to put values: leaving them out silently would look as if they counted.
func refuseValues(input Input) error {
	if len(input.Values) == 0 {
		return nil
	}
	return &content.Error{
		Reason: content.ReasonValuesInvalid,
		Err:    errors.New("this format takes no values: remove them, or use a Helm chart"),
	}
}
