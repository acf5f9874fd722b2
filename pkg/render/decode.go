package render

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	yaml "go.yaml.in/yaml/v2"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	strictjson "sigs.k8s.io/json"

	"github.com/kyma-project/lifecycle-manager/pkg/content"
)

// jsonBlank are the characters that JSON allows between values.
const jsonBlank = " \t\r\n"

// decoded is one value of a document, and where it begins.
type decoded struct {
	fields map[string]any
	at     place
}

// Decode reads raw, one YAML document or JSON values, as plain data of at most limit bytes with its aliases written out. It returns an
// object for each value, and none for an empty document.
func Decode(raw []byte, limit int64) ([]map[string]any, error) {
	p := parser{budget: 2 * limit}
	values, err := p.decode(bytes.TrimPrefix(raw, byteOrderMark), place{document: 1, line: 1})
	if err != nil {
		return nil, err
	}
	fields := make([]map[string]any, 0, len(values))
	for _, value := range values {
		fields = append(fields, value.fields)
	}
	return fields, nil
}

// decode reads one document: JSON values one after the other, or YAML.
func (p *parser) decode(text []byte, at place) ([]decoded, error) {
	if utilyaml.IsJSONBuffer(text) {
		values, isJSON, err := decodeJSON(text, at)
		if isJSON {
			return values, err
		}
	}
	return p.decodeYAML(text, at)
}

// decodeJSON reads JSON values that follow each other. What begins like JSON may be YAML in flow style: isJSON is false when not even
// the first value can be read.
func decodeJSON(text []byte, at place) (values []decoded, isJSON bool, err error) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	for {
		// What is between two values is blank; its lines are counted here and those of the values below, each once.
		rest := text[decoder.InputOffset():]
		at = at.down(rest[:len(rest)-len(bytes.TrimLeft(rest, jsonBlank))])
		var raw json.RawMessage
		if err := decoder.Decode(&raw); err != nil {
			if errors.Is(err, io.EOF) {
				return values, true, nil
			}
			return nil, len(values) > 0, at.malformed(err)
		}
		fields, err := jsonObject(raw, at)
		if err != nil {
			return nil, true, err
		}
		values = append(values, decoded{fields, at})
		at = at.down(raw)
	}
}

func jsonObject(raw []byte, at place) (map[string]any, error) {
	var value any
	repeated, err := strictjson.UnmarshalStrict(raw, &value)
	if err := errors.Join(append(repeated, err)...); err != nil {
		return nil, at.malformed(err)
	}
	fields, ok := value.(map[string]any)
	if !ok {
		return nil, at.invalid(fmt.Errorf("is %s and not an object", TypeName(value)))
	}
	return fields, nil
}

// decodeYAML reads a YAML document. It parses twice: the library that gives Kubernetes its YAML stops silently where it takes a document
// for finished, which would lose objects, and writes out aliases, which would let a small document fill the memory.
func (p *parser) decodeYAML(text []byte, at place) ([]decoded, error) {
	value, err := onlyDocument(text)
	if err != nil {
		return nil, at.malformed(err)
	}
	switch value.(type) {
	case nil:
		return nil, nil
	case map[any]any:
	default:
		return nil, at.invalid(fmt.Errorf("is %s and not an object", TypeName(value)))
	}
	if p.budget -= expandedSize(value); p.budget < 0 {
		return nil, content.Errorf(content.ReasonContentTooLarge, "%s: the content is too large once its aliases are written out", at)
	}
	var fields map[string]any
	err = utilyaml.UnmarshalStrict(text, &fields)
	if err != nil && bytes.Contains(text, []byte("<<")) {
		// The strict parser takes a key that overrides a merged one for a repeated one.
		err = utilyaml.Unmarshal(text, &fields)
	}
	if err != nil {
		return nil, at.malformed(err)
	}
	return []decoded{{fields, at}}, nil
}

// onlyDocument returns the value of the document in text; nil when there is none. More than one is an error.
func onlyDocument(text []byte) (any, error) {
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	var value, rest any
	if err := decoder.Decode(&value); err != nil {
		if errors.Is(err, io.EOF) {
			return nil, nil
		}
		return nil, err
	}
	switch err := decoder.Decode(&rest); {
	case errors.Is(err, io.EOF):
		return value, nil
	case err != nil:
		return nil, fmt.Errorf("continues after its end: begin a new document with a line \"---\": %w", err)
	default:
		return nil, errors.New("continues after its end: begin a new document with a line \"---\"")
	}
}

// expandedSize is about what the value takes when it is written out; without aliases that is about what the text had.
func expandedSize(value any) int64 {
	switch value := value.(type) {
	case map[any]any:
		size := int64(1)
		for key, field := range value {
			size += expandedSize(key) + expandedSize(field)
		}
		return size
	case []any:
		size := int64(1)
		for _, item := range value {
			size += expandedSize(item)
		}
		return size
	case string:
		return int64(len(value))
	default:
		return 1
	}
}

// TypeName returns what a decoded value is, for messages: "a list", "text", "null".
func TypeName(value any) string {
	switch value.(type) {
	case nil:
		return "null"
	case []any:
		return "a list"
	case string:
		return "text"
	case bool:
		return "true or false"
	case map[string]any, map[any]any:
		return "an object"
	default:
		return "a number"
	}
}
