package diagnostics

import (
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Place returns where a field such as spec.containers[0].image or metadata.labels[a.b/c] of a YAML node begins; or its nearest parent when
// the field is absent.
func Place(node *yaml.Node, field string) (line, column int) {
	line, column = node.Line, node.Column
	for _, part := range parts(field) {
		key, value := Child(node, part)
		if value == nil {
			break
		}
		node, line, column = value, key.Line, key.Column
	}
	return line, column
}

// Child returns the field of a mapping or the element of a list, with the node at which it begins; nil where there is none.
func Child(node *yaml.Node, part string) (key, value *yaml.Node) {
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

// Text returns the value of a field in nested mappings, "" where it is absent.
func Text(node *yaml.Node, fields ...string) string {
	for _, part := range fields {
		if _, node = Child(node, part); node == nil {
			return ""
		}
	}
	return node.Value
}

// parts splits the path of a field.
func parts(field string) []string {
	var all []string
	for field != "" {
		if inside, rest, ok := strings.Cut(strings.TrimPrefix(field, "["), "]"); ok && field[0] == '[' {
			all, field = append(all, strings.Trim(inside, `"'`)), strings.TrimPrefix(rest, ".")
			continue
		}
		end := strings.IndexAny(field, ".[")
		if end <= 0 {
			return append(all, field)
		}
		all = append(all, field[:end])
		field = strings.TrimPrefix(field[end:], ".")
	}
	return all
}
