package kustomize

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"

	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/kyma-project/lifecycle-manager/pkg/render"
)

// separator is where kustomize divides documents.
var separator = regexp.MustCompile(`\n---.*\n`)

// writtenOut returns how many bytes the text takes about once its aliases are written out, which kustomize does before anything else. An
// alias inside of what it stands for, which would never end, is an error.
func writtenOut(text []byte) (int64, error) {
	size := int64(len(text))
	if !bytes.ContainsRune(text, '&') || !bytes.ContainsRune(text, '*') {
		return size, nil
	}
	text = bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n"))
	for i, part := range separator.Split(string(text), -1) {
		decoder := yaml.NewDecoder(strings.NewReader(part + "\n"))
		for {
			var document yaml.Node
			err := decoder.Decode(&document)
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				return 0, fmt.Errorf("document %d: %w", i+1, err)
			}
			expanded, err := nodeSizes{}.of(&document)
			if err != nil {
				return 0, err
			}
			size += expanded
		}
	}
	return size, nil
}

// nodeSizes are the sizes of nodes with an anchor; -1 while one is under way.
type nodeSizes map[*yaml.Node]int64

func (s nodeSizes) of(node *yaml.Node) (int64, error) {
	if node.Kind == yaml.AliasNode {
		switch size, known := s[node.Alias]; {
		case size < 0:
			return 0, fmt.Errorf("anchor %q contains itself", node.Value)
		case known:
			return size, nil
		default:
			return s.of(node.Alias)
		}
	}
	if node.Anchor != "" {
		s[node] = -1
	}
	size := int64(1 + len(node.Value))
	for _, inner := range node.Content {
		innerSize, err := s.of(inner)
		if err != nil {
			return 0, err
		}
		// No sum overflows, and one above the limit stays above.
		size = min(size+innerSize, 4*render.DefaultLimit)
	}
	if node.Anchor != "" {
		s[node] = size
	}
	return size, nil
}
