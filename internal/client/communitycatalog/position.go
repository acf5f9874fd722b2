package communitycatalog

import (
	"bytes"

	"go.yaml.in/yaml/v3"

	"github.com/kyma-project/lifecycle-manager/pkg/diagnostics"
)

// position is a position in a file; zero if it is unknown.
type position struct{ document, line, column int }

// place returns the position of a field of an object, or of its nearest parent. It is called only for findings and errors.
func place(data []byte, kind, name, field string) position {
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	for number := 1; ; number++ {
		var document yaml.Node
		if err := decoder.Decode(&document); err != nil {
			return position{} // the rest of the file has no position
		}
		if len(document.Content) != 1 {
			number--
			continue
		}
		if node := named(document.Content[0], kind, name); node != nil {
			line, column := diagnostics.Place(node, field)
			return position{number, line, column}
		}
	}
}

// named returns the object with that kind and name: the node itself, or one in its list.
func named(node *yaml.Node, kind, name string) *yaml.Node {
	if node.Kind == yaml.SequenceNode {
		for _, one := range node.Content {
			if found := named(one, kind, name); found != nil {
				return found
			}
		}
		return nil
	}
	if kind != "" && diagnostics.Text(node, "kind") == kind && diagnostics.Text(node, "metadata", "name") == name {
		return node
	}
	if _, items := diagnostics.Child(node, "items"); items != nil && items.Kind == yaml.SequenceNode {
		return named(items, kind, name)
	}
	return nil
}
