package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"
)

// value is a value of the chart.
type value struct{ path, preset, text string }

// tableOf returns the values of a values.yaml as a table in Markdown.
func tableOf(file []byte) ([]byte, error) {
	var document yaml.Node
	if err := yaml.Unmarshal(file, &document); err != nil {
		return nil, err
	}
	if len(document.Content) != 1 {
		return nil, fmt.Errorf("has %d documents, want 1", len(document.Content))
	}
	values, err := describe(document.Content[0], "")
	if err != nil {
		return nil, err
	}
	var table bytes.Buffer
	table.WriteString("| value | default | what it says |\n|---|---|---|\n")
	for _, v := range values {
		fmt.Fprintf(&table, "| `%s` | `%s` | %s |\n", v.path, v.preset, v.text)
	}
	return table.Bytes(), nil
}

// describe lists the values of a mapping. A key with a comment above it is a value, with all that is below it; the others hold values.
func describe(mapping *yaml.Node, path string) ([]value, error) {
	var values []value
	for i := 0; i+1 < len(mapping.Content); i += 2 {
		key, content := mapping.Content[i], mapping.Content[i+1]
		name := strings.TrimPrefix(path+"."+key.Value, ".")
		text := textOf(key.HeadComment)
		if text == "" && content.Kind == yaml.MappingNode && len(content.Content) > 0 {
			below, err := describe(content, name)
			if err != nil {
				return nil, err
			}
			values = append(values, below...)
			continue
		}
		if text == "" {
			return nil, fmt.Errorf("line %d: value %s is not described: say in a comment above it what it does", key.Line, name)
		}
		preset, err := presetOf(content)
		if err != nil {
			return nil, err
		}
		values = append(values, value{path: name, preset: preset, text: text})
	}
	return values, nil
}

// textOf returns a comment as one line.
func textOf(comment string) string {
	var words []string
	for line := range strings.Lines(comment) {
		words = append(words, strings.Fields(strings.TrimPrefix(strings.TrimSpace(line), "#"))...)
	}
	return strings.Join(words, " ")
}

// presetOf returns a default as JSON.
func presetOf(node *yaml.Node) (string, error) {
	var content any
	if err := node.Decode(&content); err != nil {
		return "", err
	}
	text, err := json.Marshal(content)
	return string(text), err
}
