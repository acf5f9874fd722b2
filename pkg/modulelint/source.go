package modulelint

import (
	"bytes"
	"path"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/kyma-project/lifecycle-manager/pkg/content"
	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

// source is where objects come from: one text, or a folder. Where they stand is found when the first one is asked for: most modules
// have no findings.
type source struct {
	// file is the name of the text or of the folder.
	file string
	data []byte
	// tree is what the folder holds.
	tree    *content.Tree
	objects map[inventory.ID]standing
}

// standing is where an object stands.
type standing struct {
	file string
	node *yaml.Node
}

// place is the file, line and column of a field of an object; of its nearest parent, when it is not there; the name of the whole and 0 and
// 0 when nobody knows, as with objects that a template makes.
func (s *source) place(id inventory.ID, field string) (file string, line, column int) {
	if s.objects == nil {
		s.index()
	}
	at, ok := s.objects[id]
	if !ok {
		return s.file, 0, 0
	}
	node := at.node
	line, column = node.Line, node.Column
	for _, part := range split(field) {
		key, value := child(node, part)
		if value == nil {
			break
		}
		node, line, column = value, key.Line, key.Column
	}
	return at.file, line, column
}

func (s *source) index() {
	s.objects = map[inventory.ID]standing{}
	if s.tree == nil {
		s.read(s.file, s.data)
		return
	}
	for _, file := range s.tree.Files {
		if extension := path.Ext(file.Path); extension == ".yaml" || extension == ".yml" || extension == ".json" {
			s.read(strings.TrimSuffix(s.file, "/")+"/"+file.Path, file.Data)
		}
	}
}

// read finds the objects of a text. It stops where the text is no YAML to this library: what is behind has no place then.
func (s *source) read(file string, data []byte) {
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	for {
		var document yaml.Node
		if err := decoder.Decode(&document); err != nil {
			return
		}
		if len(document.Content) == 1 {
			s.add(file, document.Content[0])
		}
	}
}

// add takes in an object, or those of a list. The first one of an identity counts.
func (s *source) add(file string, node *yaml.Node) {
	group, _, grouped := strings.Cut(textAt(node, "apiVersion"), "/")
	if !grouped {
		group = ""
	}
	id := inventory.ID{
		Group: group, Kind: textAt(node, "kind"), Namespace: textAt(node, "metadata", "namespace"), Name: textAt(node, "metadata", "name"),
	}
	if _, items := child(node, "items"); items != nil && strings.HasSuffix(id.Kind, "List") {
		for _, item := range items.Content {
			s.add(file, item)
		}
		return
	}
	if _, known := s.objects[id]; !known && id.Kind != "" {
		s.objects[id] = standing{file, node}
	}
}

func textAt(node *yaml.Node, fields ...string) string {
	for _, part := range fields {
		if _, node = child(node, part); node == nil {
			return ""
		}
	}
	return node.Value
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

// split cuts a path such as spec.containers[0].image or metadata.labels[a.b/c] into its parts.
func split(field string) []string {
	var parts []string
	for field != "" {
		if inside, rest, ok := strings.Cut(strings.TrimPrefix(field, "["), "]"); ok && field[0] == '[' {
			parts, field = append(parts, strings.Trim(inside, `"'`)), strings.TrimPrefix(rest, ".")
			continue
		}
		end := strings.IndexAny(field, ".[")
		if end <= 0 {
			return append(parts, field)
		}
		parts = append(parts, field[:end])
		field = strings.TrimPrefix(field[end:], ".")
	}
	return parts
}
