package installer

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"path"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kyma-project/lifecycle-manager/pkg/content"
	"github.com/kyma-project/lifecycle-manager/pkg/render"
)

// Bundle returns a plain bundle: a folder "manifests" with files of YAML or JSON documents.
func Bundle(name string, from content.Source) Source {
	return Source{Name: name, Content: from, Renderer: render.Bundle{}}
}

// YAML returns a text of YAML or JSON documents.
func YAML(name, text string) Source {
	return Source{Name: name, Content: &inMemory{name: "text", read: func() ([]content.File, error) {
		return []content.File{{Data: []byte(text)}}, nil
	}}}
}

// Objects are objects that the caller has made. They are read when the source is first used, and not changed.
func Objects(name string, objects ...*unstructured.Unstructured) Source {
	return Source{Name: name, Content: &inMemory{name: "objects", read: func() ([]content.File, error) {
		var text bytes.Buffer
		for i, object := range objects {
			data, err := json.Marshal(object)
			if err != nil {
				return nil, invalidContent("object %d cannot be written as JSON: %w", i+1, err)
			}
			text.WriteString("---\n")
			text.Write(data)
			text.WriteByte('\n')
		}
		return []content.File{{Data: text.Bytes()}}, nil
	}}}
}

// Files returns the files below dir of a file system, such as one that is embedded in the program, as a content; "" and "." are its root.
// To embed a chart with its _helpers.tpl, write the directive with "all:", since go:embed leaves out names with a leading "_".
func Files(from fs.FS, dir string) content.Source {
	return &inMemory{name: "files", read: func() ([]content.File, error) { return readFiles(from, path.Clean("./"+dir)) }}
}

// Tree returns files that the program has read as a content. They must not change afterwards.
func Tree(tree *content.Tree) content.Source {
	return &inMemory{name: "files", read: func() ([]content.File, error) { return slices.Clone(tree.Files), nil }}
}

// Directory returns a folder of this machine, or a file such as a packed chart, as a content. It is read again at each call: see
// content.DirectorySource for what is refused.
func Directory(path string) content.Source { return &directory{path: path} }

func invalidContent(format string, args ...any) error {
	return &content.Error{Reason: content.ReasonContentInvalid, Err: fmt.Errorf(format, args...)}
}
