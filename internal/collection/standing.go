package collection

import (
	"bytes"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// standing is where something is in a file; zero where nobody knows.
type standing struct{ document, line, column int }

// place is where a field of an object stands, or its nearest parent. It is asked only when there is something to say.
func place(data []byte, kind, name, field string) standing {
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	for number := 1; ; number++ {
		var document yaml.Node
		if err := decoder.Decode(&document); err != nil {
			return standing{} // what is behind has no place
		}
		if len(document.Content) != 1 {
			number--
			continue
		}
		if node := named(document.Content[0], kind, name); node != nil {
			at := within(node, field)
			at.document = number
			return at
		}
	}
}

// named is the object with that kind and name: the node, or one of the list that it is.
func named(node *yaml.Node, kind, name string) *yaml.Node {
	if node.Kind == yaml.SequenceNode {
		for _, one := range node.Content {
			if found := named(one, kind, name); found != nil {
				return found
			}
		}
		return nil
	}
	_, is := child(node, "kind")
	_, metadata := child(node, "metadata")
	if is != nil && is.Value == kind && metadata != nil {
		if _, called := child(metadata, "name"); called != nil && called.Value == name {
			return node
		}
	}
	if _, items := child(node, "items"); items != nil && items.Kind == yaml.SequenceNode {
		return named(items, kind, name)
	}
	return nil
}

// within is where a field such as spec.resources[0].link stands in an object.
func within(node *yaml.Node, field string) standing {
	at := standing{line: node.Line, column: node.Column}
	for _, part := range strings.FieldsFunc(field, func(r rune) bool { return r == '.' || r == '[' || r == ']' }) {
		key, value := child(node, part)
		if value == nil {
			break
		}
		node, at = value, standing{line: key.Line, column: key.Column}
	}
	return at
}

// child is the field of a mapping or the element of a list, with the node that says where it begins.
func child(node *yaml.Node, part string) (key, value *yaml.Node) {
	if node.Kind == yaml.AliasNode && node.Alias != nil {
		node = node.Alias
	}
	switch node.Kind {
	case yaml.MappingNode:
		for i := 0; i+1 < len(node.Content); i += 2 {
			if node.Content[i].Value == part {
				return node.Content[i], node.Content[i+1]
			}
		}
	case yaml.SequenceNode:
		if i, err := strconv.Atoi(part); err == nil && i >= 0 && i < len(node.Content) {
			return node.Content[i], node.Content[i]
		}
	default:
	}
	return nil, nil
}
