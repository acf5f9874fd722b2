package moduleconfig

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/kyma-project/lifecycle-manager/pkg/diagnostics"
	"github.com/kyma-project/lifecycle-manager/pkg/excerpt"
)

const (
	// maxBytes is the maximum size of a configuration. Configurations of users have a few hundred lines.
	maxBytes = 1 << 20
	// quotedBytes bounds how much of a value a message repeats.
	quotedBytes = 80
)

// yamlLine matches the line in an error of the YAML library.
var yamlLine = regexp.MustCompile(`^line (\d+): `)

// reader walks the nodes of one file and notes the position of each field and every problem.
type reader struct {
	file     string
	at       map[string]position
	findings []diagnostics.Finding
}

// handler reads the value of a key.
type handler func(node *yaml.Node, field string)

// fail notes an error in a field, at the position of a node.
func (r *reader) fail(node *yaml.Node, rule, field, message, fix string) {
	r.note(diagnostics.Finding{
		Rule: rule, Severity: diagnostics.Error, Line: node.Line, Column: node.Column, Field: field, Message: message, Fix: fix,
	})
}

// failIn is fail for a part of a node: it reports the position of the part, where it is known.
func (r *reader) failIn(node *yaml.Node, rule, field, message, fix string) {
	if at, ok := r.at[field]; ok {
		node = &yaml.Node{Line: at.line, Column: at.column}
	}
	r.fail(node, rule, field, message, fix)
}

// failAt notes an error in a field that may be absent: it then reports the position of its nearest parent.
func (r *reader) failAt(c *Config, rule, field, message, fix string) {
	line, column := c.Position(field)
	r.note(diagnostics.Finding{Rule: rule, Severity: diagnostics.Error, Line: line, Column: column, Field: field, Message: message, Fix: fix})
}

// warnAt is failAt for a problem that is only a warning.
func (r *reader) warnAt(c *Config, rule, field, message, fix string) {
	r.failAt(c, rule, field, message, fix)
	r.findings[len(r.findings)-1].Severity = diagnostics.Warning
}

func (r *reader) note(f diagnostics.Finding) {
	f.File = r.file
	r.findings = append(r.findings, f)
}

// document returns the mapping that the file must contain, nil when there is none.
func (r *reader) document(data []byte) *yaml.Node {
	if len(data) > maxBytes {
		r.note(diagnostics.Finding{
			Rule: RuleSyntax, Severity: diagnostics.Error, Message: fmt.Sprintf("the file has %d bytes, more than %d", len(data), maxBytes),
			Fix: "name the module-config.yaml and not the manifest",
		})
		return nil
	}
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	var first, second yaml.Node
	if err := decoder.Decode(&first); err != nil {
		r.malformed(err)
		return nil
	}
	if err := decoder.Decode(&second); err == nil {
		r.fail(&second, RuleSyntax, "", "a second document begins here", "keep one document in a file")
	} else if !errors.Is(err, io.EOF) {
		r.malformed(err)
		return nil
	}
	root := &first
	if root.Kind == yaml.DocumentNode && len(root.Content) == 1 {
		root = root.Content[0]
	}
	if isNull(root) {
		r.malformed(io.EOF)
		return nil
	}
	return root
}

// malformed notes the error of the YAML library, with its line where it names one.
func (r *reader) malformed(err error) {
	if errors.Is(err, io.EOF) {
		r.note(diagnostics.Finding{
			Rule: RuleSyntax, Severity: diagnostics.Error, Message: "the file is empty", Fix: "kyma module init writes one to begin with",
		})
		return
	}
	text, line := strings.TrimPrefix(err.Error(), "yaml: "), 0
	if match := yamlLine.FindStringSubmatch(text); match != nil {
		line, _ = strconv.Atoi(match[1]) // digits, or 0
		text = text[len(match[0]):]
	}
	r.note(diagnostics.Finding{
		Rule: RuleSyntax, Severity: diagnostics.Error, Line: line, Message: "the file is not valid YAML: " + text, Fix: "correct the syntax",
	})
}

// object passes each value of a mapping to the handler of its key.
//
//  1. A key without a handler is unknown. A duplicate key counts once.
//  2. A key whose value is null counts as absent, as in Kubernetes; its position is noted nevertheless.
func (r *reader) object(node *yaml.Node, field string, keys map[string]handler) {
	r.pairs(node, field, func(key, value *yaml.Node, at string) {
		handle, known := keys[key.Value]
		if !known {
			r.fail(key, RuleUnknownKey, at, "is a key that has no meaning here", meant(key.Value, keys))
			return
		}
		if !isNull(value) {
			handle(value, at)
		}
	})
}

// pairs iterates over a mapping, refuses anything that is not a mapping and keys that are not strings or occur twice, and notes the
// position of each key.
func (r *reader) pairs(node *yaml.Node, field string, each func(key, value *yaml.Node, at string)) {
	if node.Kind != yaml.MappingNode {
		r.wrongType(node, field, "a mapping")
		return
	}
	seen := map[string]int{}
	for i := 0; i+1 < len(node.Content); i += 2 {
		key, value := node.Content[i], node.Content[i+1]
		if key.Kind != yaml.ScalarNode {
			r.fail(key, RuleWrongType, field, "has a key that is no text", "write the key as a word")
			continue
		}
		at := join(field, key.Value)
		if line, twice := seen[key.Value]; twice {
			r.fail(key, RuleDuplicateKey, at, fmt.Sprintf("is set in line %d already", line), "keep one of them")
			continue
		}
		seen[key.Value] = key.Line
		r.at[at] = position{key.Line, key.Column}
		each(key, value, at)
	}
}

// each passes the elements of a list to a handler.
func (r *reader) each(handle handler) handler {
	return func(node *yaml.Node, field string) {
		if node.Kind != yaml.SequenceNode {
			r.wrongType(node, field, "a list")
			return
		}
		for i, element := range node.Content {
			at := fmt.Sprintf("%s[%d]", field, i)
			r.at[at] = position{element.Line, element.Column}
			handle(element, at)
		}
	}
}

// text reads a string; numbers, booleans and dates are read as they are written.
func (r *reader) text(into *string) handler {
	return func(node *yaml.Node, field string) {
		if value, ok := scalar(node); ok {
			*into = value
			return
		}
		r.wrongType(node, field, "a text")
	}
}

// texts reads a list of strings.
func (r *reader) texts(into *[]string) handler {
	return r.each(func(node *yaml.Node, field string) {
		value := ""
		r.text(&value)(node, field)
		*into = append(*into, value)
	})
}

// flag reads a boolean in the spellings of YAML 1.1, which Kubernetes and the other tools accept.
func (r *reader) flag(into *bool) handler {
	return func(node *yaml.Node, field string) {
		value, ok := scalar(node)
		switch value {
		case "true", "True", "TRUE", "yes", "Yes", "YES", "on", "On", "ON":
			*into = true
		case "false", "False", "FALSE", "no", "No", "NO", "off", "Off", "OFF":
			*into = false
		default:
			ok = false
		}
		if !ok {
			r.wrongType(node, field, "true or false")
		}
	}
}

// dict reads a mapping of strings.
func (r *reader) dict(into *map[string]string) handler {
	return func(node *yaml.Node, field string) {
		found := map[string]string{}
		r.pairs(node, field, func(key, value *yaml.Node, at string) {
			text := ""
			if !isNull(value) {
				r.text(&text)(value, at)
			}
			found[key.Value] = text
		})
		*into = found
	}
}

func (r *reader) wrongType(node *yaml.Node, field, want string) {
	fix := "write " + want
	if node.Kind == yaml.AliasNode {
		fix = "write it out: aliases are read for single values only"
	}
	r.fail(node, RuleWrongType, field, fmt.Sprintf("is %s, which does not fit here", nameOf(node)), fix)
}

// scalar returns the text of a single value.
func scalar(node *yaml.Node) (text string, ok bool) {
	if node.Kind == yaml.AliasNode && node.Alias != nil {
		node = node.Alias
	}
	if node.Kind != yaml.ScalarNode {
		return "", false
	}
	switch node.ShortTag() {
	case "!!str", "!!int", "!!float", "!!bool", "!!timestamp":
		return node.Value, true
	default:
		return "", false
	}
}

func isNull(node *yaml.Node) bool {
	if node.Kind == yaml.AliasNode && node.Alias != nil {
		node = node.Alias
	}
	return node.Kind == yaml.ScalarNode && node.ShortTag() == "!!null"
}

func nameOf(node *yaml.Node) string {
	switch node.Kind {
	case yaml.MappingNode:
		return "a mapping"
	case yaml.SequenceNode:
		return "a list"
	case yaml.AliasNode:
		return "an alias"
	case yaml.ScalarNode:
		if isNull(node) {
			return "null"
		}
		return quoted(node.Value)
	default:
		return "nothing"
	}
}

// join returns the path of a key. A key that would be ambiguous in a path is put in brackets.
func join(field, key string) string {
	if strings.ContainsAny(key, ".[]/ ") || key == "" {
		return field + "[" + quoted(key) + "]"
	}
	if field == "" {
		return key
	}
	return field + "." + key
}

// quoted returns a text of the file in the form in which a message repeats it.
func quoted(text string) string {
	return strconv.Quote(excerpt.Cut(text, quotedBytes))
}
