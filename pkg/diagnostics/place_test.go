package diagnostics

import (
	"testing"

	"go.yaml.in/yaml/v3"
)

const placed = `metadata:
  labels:
    a.b/c: x
spec: &spec
  containers:
  - name: one
  - image: two
again: *spec
`

func TestPlace(t *testing.T) {
	var document yaml.Node
	if err := yaml.Unmarshal([]byte(placed), &document); err != nil {
		t.Fatal(err)
	}
	root := document.Content[0]
	for name, c := range map[string]struct {
		field        string
		line, column int
	}{
		"the whole document":                     {"", 1, 1},
		"a field begins at its name":             {"spec.containers", 5, 3},
		"an element of a list":                   {"spec.containers[1].image", 7, 5},
		"a name with dots in it":                 {"metadata.labels[a.b/c]", 3, 5},
		"a name in quotes":                       {`metadata.labels["a.b/c"]`, 3, 5},
		"a missing field has its parent's place": {"spec.containers[0].image", 6, 5},
		"a missing element":                      {"spec.containers[7]", 5, 3},
		"a bracket without an end is a name":     {"metadata[labels", 1, 1},
		"the target of an alias":                 {"again.containers[0]", 6, 5},
		"a field of a string is missing":         {"metadata.labels[a.b/c].deeper", 3, 5},
		"a negative index":                       {"spec.containers[-1]", 5, 3},
	} {
		t.Run(name, func(t *testing.T) {
			if line, column := Place(root, c.field); line != c.line || column != c.column {
				t.Errorf("got %d:%d, want %d:%d", line, column, c.line, c.column)
			}
		})
	}
	if got := Text(root, "metadata", "labels", "a.b/c"); got != "x" {
		t.Errorf("got %q", got)
	}
	if got := Text(root, "metadata", "name"); got != "" {
		t.Errorf("what is not there says %q", got)
	}
}
