package collection

import (
	"bytes"

	"go.yaml.in/yaml/v3"

	"github.com/kyma-project/lifecycle-manager/pkg/finding"
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
			line, column := finding.Place(node, field)
			return standing{number, line, column}
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
	if kind != "" && finding.Text(node, "kind") == kind && finding.Text(node, "metadata", "name") == name {
		return node
	}
	if _, items := finding.Child(node, "items"); items != nil && items.Kind == yaml.SequenceNode {
		return named(items, kind, name)
	}
	return nil
}
