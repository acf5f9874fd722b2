package wire

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"sigs.k8s.io/yaml"
)

// gatherRoutes reads the paths of the dashboard's API, with their methods, parameters, bodies and answers.
func gatherRoutes(root string) ([]string, error) { return gatherAPI(root, "paths") }

// gatherSchemas reads the JSON of the dashboard's API. A test of the dashboard compares the document with its types.
func gatherSchemas(root string) ([]string, error) { return gatherAPI(root, "components") }

func gatherAPI(root, part string) ([]string, error) {
	file := ""
	err := filepath.WalkDir(filepath.Join(root, "internal"), func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.Name() == "openapi.yaml" {
			file = path
		}
		return err
	})
	if err != nil || file == "" {
		return nil, fmt.Errorf("there is no openapi.yaml below internal: %w", err)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var document map[string]any
	if err := yaml.Unmarshal(text, &document); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	var facts []string
	flatten(&facts, part, document[part])
	return facts, nil
}

// prose are keys whose text is for users and may be reworded.
var prose = map[string]bool{"summary": true, "description": true, "title": true, "example": true, "examples": true}

// flatten lists every leaf below a value with the path to it. Text for users is left out, unless a property has such a name.
func flatten(facts *[]string, path string, value any) {
	switch value := value.(type) {
	case map[string]any:
		if len(value) == 0 {
			*facts = append(*facts, path+" {}")
		}
		for key, below := range value {
			if _, isText := below.(string); isText && prose[key] {
				continue
			}
			flatten(facts, path+" "+key, below)
		}
	case []any:
		for _, item := range value {
			flatten(facts, path+" -", item)
		}
	default:
		*facts = append(*facts, fmt.Sprintf("%s = %v", path, value))
	}
}
