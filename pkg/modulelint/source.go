package modulelint

import (
	"bytes"
	"path"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/kyma-project/lifecycle-manager/pkg/content"
	"github.com/kyma-project/lifecycle-manager/pkg/diagnostics"
	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

// source is the origin of objects: one text, or a folder. Positions are indexed on the first request, because most modules have no
// findings.
type source struct {
	// file is the name of the text or of the folder.
	file string
	data []byte
	// tree is the content of the folder.
	tree    *content.Tree
	objects map[inventory.ID]objectPosition
}

// objectPosition is the position of an object.
type objectPosition struct {
	file string
	node *yaml.Node
}

// place returns the file, line and column of a field of an object, or of its nearest parent when the field is absent; the name of the whole
// and 0 and 0 when unknown, as with objects that a template renders.
func (s *source) place(id inventory.ID, field string) (file string, line, column int) {
	if s.objects == nil {
		s.index()
	}
	at, ok := s.objects[id]
	if !ok {
		return s.file, 0, 0
	}
	line, column = diagnostics.Place(at.node, field)
	return at.file, line, column
}

func (s *source) index() {
	s.objects = map[inventory.ID]objectPosition{}
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

// read indexes the objects of a text. It stops where this library cannot parse the text: objects after that have no position.
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

// add indexes an object, or those of a list. The first one of an identity counts.
func (s *source) add(file string, node *yaml.Node) {
	group, _, grouped := strings.Cut(diagnostics.Text(node, "apiVersion"), "/")
	if !grouped {
		group = ""
	}
	id := inventory.ID{
		Group: group, Kind: diagnostics.Text(node, "kind"),
		Namespace: diagnostics.Text(node, "metadata", "namespace"), Name: diagnostics.Text(node, "metadata", "name"),
	}
	if _, items := diagnostics.Child(node, "items"); items != nil && strings.HasSuffix(id.Kind, "List") {
		for _, item := range items.Content {
			s.add(file, item)
		}
		return
	}
	if _, known := s.objects[id]; !known && id.Kind != "" {
		s.objects[id] = objectPosition{file, node}
	}
}
