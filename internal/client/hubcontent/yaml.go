package hubcontent

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"
)

// File is one file of an export.
type File struct {
	Name string
	Data []byte
}

const separator = "---\n"

// Files returns content as files, one for each wave that has objects. Their names sort in the order of the waves.
func Files(content *Content) ([]File, error) {
	var files []File
	for i, w := range waves {
		var text bytes.Buffer
		for _, o := range content.Objects {
			if at, known := waveOf(o); !known || at != i {
				continue
			}
			if err := encode(&text, o); err != nil {
				return nil, err
			}
		}
		if text.Len() > 0 {
			files = append(files, File{Name: fmt.Sprintf("%d-%s.yaml", i+1, w.name), Data: text.Bytes()})
		}
	}
	return files, nil
}

// IsFile reports whether Files makes files of a name.
func IsFile(name string) bool {
	for i, w := range waves {
		if name == fmt.Sprintf("%d-%s.yaml", i+1, w.name) {
			return true
		}
	}
	return false
}

// Encode returns content as one text.
func Encode(content *Content) ([]byte, error) {
	var text bytes.Buffer
	for _, o := range content.Objects {
		if err := encode(&text, o); err != nil {
			return nil, err
		}
	}
	return text.Bytes(), nil
}

func encode(text *bytes.Buffer, o *unstructured.Unstructured) error {
	document, err := yaml.Marshal(o.Object)
	if err != nil {
		return fmt.Errorf("%s cannot be written as YAML: %w", idOf(o), err)
	}
	text.WriteString(separator)
	text.Write(document)
	return nil
}

// Decode adds the objects of one file to content. A message names the file, the number of the document and never what it holds.
func Decode(content *Content, file string, data []byte) error {
	reader := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(data)))
	for number := 1; ; number++ {
		document, err := reader.Read()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return fmt.Errorf("%s: document %d cannot be read", file, number)
		}
		o := &unstructured.Unstructured{}
		text, err := yaml.YAMLToJSONStrict(document)
		if err == nil && string(text) == "null" {
			continue // comments alone
		}
		if err == nil {
			err = o.UnmarshalJSON(text)
		}
		if err != nil {
			return fmt.Errorf("%s: document %d is no YAML of an object", file, number)
		}
		if err := content.accept(o); err != nil {
			return fmt.Errorf("%s: document %d: %w", file, number, err)
		}
	}
}

// accept adds an object that may be part of a hub's content.
func (c *Content) accept(o *unstructured.Unstructured) error {
	if _, known := waveOf(o); !known {
		return fmt.Errorf("%s %s is no content of a hub: remove it and apply it with kubectl", o.GetAPIVersion(), idOf(o))
	}
	if o.GetName() == "" || (o.GetNamespace() == "") != (o.GetKind() == kindNamespace) {
		return fmt.Errorf("%s has no name, or no namespace", strings.TrimSpace(idOf(o).String()))
	}
	if c.known == nil {
		c.known = map[ID]bool{}
	}
	if c.known[idOf(o)] {
		return fmt.Errorf("%s is there twice", idOf(o))
	}
	c.known[idOf(o)] = true
	keep(o)
	if hub := originOf(o).hub; hub != "" {
		if c.Hub != "" && c.Hub != hub {
			return fmt.Errorf("%s comes from another hub than what is before it: import each export alone", idOf(o))
		}
		c.Hub = hub
	}
	c.Objects = append(c.Objects, o)
	return nil
}
