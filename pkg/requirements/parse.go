package requirements

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"go.yaml.in/yaml/v3"
	kjson "sigs.k8s.io/json"
)

// Bounds of a list.
const (
	// MaxCount is the number of requirements that a list may have.
	MaxCount = 32
	// MaxBytes is the size that the text of a list may have.
	MaxBytes = 32 << 10
)

// ParseList returns the requirements of a text, which is a list in JSON or YAML; none for a blank one. It refuses unknown and repeated
// fields, values that are no texts, and lists that are too long. What the requirements mean is checked by Validate.
func ParseList(data string) ([]Requirement, error) {
	if len(data) > MaxBytes {
		return nil, fmt.Errorf("the list of requirements has %d bytes, and may have %d", len(data), MaxBytes)
	}
	if strings.TrimSpace(data) == "" {
		return nil, nil
	}
	list, err := decode([]byte(data))
	switch {
	case err != nil:
		return nil, fmt.Errorf("the requirements cannot be read: %w", err)
	case list == nil:
		return nil, errors.New(`the requirements are no list, such as [{"module": "istio", "version": ">=1.20"}]`)
	case len(list) > MaxCount:
		return nil, fmt.Errorf("the list has %d requirements, and may have %d", len(list), MaxCount)
	}
	return list, nil
}

// FormatList returns a list in the form that annotations and labels have: JSON in one line, without spaces.
func FormatList(list []Requirement) string {
	if len(list) == 0 {
		return ""
	}
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false) // ranges have < and >
	if err := encoder.Encode(list); err != nil {
		panic(err) // a list of structs of texts: every value of it can be encoded
	}
	return strings.TrimSpace(text.String())
}

func decode(data []byte) ([]Requirement, error) {
	if json.Valid(data) {
		return decodeJSON(data)
	}
	return decodeYAML(data)
}

func decodeJSON(data []byte) ([]Requirement, error) {
	var list []Requirement
	strict, err := kjson.UnmarshalStrict(data, &list)
	return list, errors.Join(append(strict, err)...)
}

// decodeYAML decodes into nodes first: a number such as 1.30 is no text, and would lose its last digit as a number.
func decodeYAML(data []byte) ([]Requirement, error) {
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	var root yaml.Node
	if err := decoder.Decode(&root); err != nil {
		return nil, err
	}
	if err := decoder.Decode(new(yaml.Node)); !errors.Is(err, io.EOF) {
		return nil, errors.New("there is more than one document")
	}
	if len(root.Content) != 1 || root.Content[0].Kind != yaml.SequenceNode {
		return nil, nil
	}
	list := []Requirement{}
	for at, node := range root.Content[0].Content {
		one, err := decodeEntry(node)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", position(at), err)
		}
		list = append(list, one)
	}
	return list, nil
}

func decodeEntry(node *yaml.Node) (Requirement, error) {
	one := Requirement{}
	if node.Kind != yaml.MappingNode {
		return one, errors.New("it is not a mapping with one of module, definition and kubernetes")
	}
	fields := map[string]*string{
		"module": &one.Module, "version": &one.Version, "definition": &one.Definition, "served": &one.Served, "kubernetes": &one.Kubernetes,
	}
	for i := 0; i+1 < len(node.Content); i += 2 {
		key, value := node.Content[i], node.Content[i+1]
		field := fields[key.Value]
		switch {
		case field == nil:
			return one, fmt.Errorf("field %q is unknown or repeated", key.Value)
		case value.Kind != yaml.ScalarNode || value.Tag != "!!str":
			return one, fmt.Errorf("%s must be a text in quotes", key.Value)
		}
		*field = value.Value
		delete(fields, key.Value)
	}
	return one, nil
}
