package packaging

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	yamlnode "go.yaml.in/yaml/v3"
	"sigs.k8s.io/yaml"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

// ReleaseFile is a file with a ModuleReleaseMeta, possibly among other documents.
type ReleaseFile struct {
	// Name of the file, for messages.
	Name string
	// Text is the whole content.
	Text []byte
	// Meta is the ModuleReleaseMeta.
	Meta *v1beta2.ModuleReleaseMeta

	module string
	root   *yamlnode.Node
}

// ParseReleaseFile finds the ModuleReleaseMeta of a module in a file; module may be empty when there is only one.
func ParseReleaseFile(name string, text []byte, module string) (*ReleaseFile, error) {
	file := &ReleaseFile{Name: name, Text: text, module: module}
	return file, file.parse()
}

// OtherModulesError means that a file has ModuleReleaseMetas only of modules other than the requested one.
type OtherModulesError struct {
	// File and Module that were requested.
	File, Module string
	// Has lists the modules that the file has.
	Has []string
}

// Error names the file and the modules.
func (e *OtherModulesError) Error() string {
	return fmt.Sprintf("%s has no ModuleReleaseMeta %s: it has %s", e.File, e.Module, strings.Join(e.Has, ", "))
}

func (f *ReleaseFile) parse() error {
	decoder := yamlnode.NewDecoder(bytes.NewReader(f.Text))
	var names []string
	f.Meta, f.root = nil, nil
	for {
		var document yamlnode.Node
		err := decoder.Decode(&document)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return fmt.Errorf("%s is no YAML: %w", f.Name, err)
		}
		if len(document.Content) != 1 || scalar(document.Content[0], "kind") != "ModuleReleaseMeta" {
			continue
		}
		root := document.Content[0]
		found := scalar(child(root, "metadata"), "name")
		names = append(names, found)
		if f.module == "" || found == f.module {
			f.root = root
		}
	}
	switch {
	case f.root == nil && len(names) > 0:
		return &OtherModulesError{File: f.Name, Module: f.module, Has: names}
	case f.root == nil:
		return fmt.Errorf("%s has no ModuleReleaseMeta", f.Name)
	case f.module == "" && len(names) > 1:
		return fmt.Errorf("%s has several ModuleReleaseMetas: choose one of %s", f.Name, strings.Join(names, ", "))
	}
	return f.decode()
}

// decode decodes the ModuleReleaseMeta; the library resolves anchors.
func (f *ReleaseFile) decode() error {
	text, err := yamlnode.Marshal(f.root)
	if err != nil {
		return fmt.Errorf("%s: %w", f.Name, err)
	}
	f.Meta = &v1beta2.ModuleReleaseMeta{}
	if err := yaml.UnmarshalStrict(text, f.Meta); err != nil {
		return fmt.Errorf("%s: its ModuleReleaseMeta cannot be read: %w", f.Name, err)
	}
	return nil
}

// Move applies moves to the text. Everything else keeps its place, its comments and its style.
//
//  1. The version of an existing channel is replaced in place.
//  2. A new channel is added after the last one, in its style.
//  3. Where that is not possible (no list of channels yet, a list on one line), the document is encoded again, with its comments.
func (f *ReleaseFile) Move(moves []Move) error {
	for _, move := range moves {
		if !move.Changes() {
			continue
		}
		want := Apply(f.Meta.Spec.Channels, []Move{move})
		before := f.Text
		f.Text = f.spliced(move)
		if err := f.parse(); err != nil || !slices.Equal(f.Meta.Spec.Channels, want) {
			if f.Text = before; f.parse() != nil {
				return err
			}
			if err := f.rewrite(want); err != nil {
				return err
			}
		}
	}
	return nil
}

// spliced returns the text with one change, or unchanged if there is no place for it.
func (f *ReleaseFile) spliced(move Move) []byte {
	channels := child(child(f.root, "spec"), "channels")
	if channels == nil || channels.Kind != yamlnode.SequenceNode || len(channels.Content) == 0 {
		return f.Text
	}
	lines := bytes.SplitAfter(f.Text, []byte("\n"))
	for _, item := range channels.Content {
		if scalar(item, "channel") == move.Channel {
			replaceScalar(lines, child(item, "version"), move.To)
			return bytes.Join(lines, nil)
		}
	}
	if channels.Style&yamlnode.FlowStyle != 0 {
		return f.Text
	}
	last := channels.Content[len(channels.Content)-1]
	at := lastLine(last)
	indent := strings.Repeat(" ", channels.Column-1)
	added := indent + "- channel: " + move.Channel + "\n" + indent + "  version: " + move.To + "\n"
	if last.Style&yamlnode.FlowStyle != 0 {
		added = indent + "- {channel: " + move.Channel + ", version: " + move.To + "}\n"
	}
	if at > len(lines) {
		return f.Text
	}
	if !bytes.HasSuffix(lines[at-1], []byte("\n")) {
		added = "\n" + added
	}
	return bytes.Join(slices.Insert(lines, at, []byte(added)), nil)
}

// replaceScalar replaces a value, and keeps its quotes.
func replaceScalar(lines [][]byte, node *yamlnode.Node, value string) {
	if node == nil || node.Line > len(lines) {
		return
	}
	line := []rune(string(lines[node.Line-1]))
	from := node.Column - 1
	if node.Style&(yamlnode.DoubleQuotedStyle|yamlnode.SingleQuotedStyle) != 0 {
		from++
	}
	to := from + len([]rune(node.Value))
	if to > len(line) || string(line[from:to]) != node.Value {
		return
	}
	lines[node.Line-1] = []byte(string(line[:from]) + value + string(line[to:]))
}

// lastLine returns the last line of a node, for nodes of scalars on one line.
func lastLine(node *yamlnode.Node) int {
	last := node.Line
	for _, below := range node.Content {
		last = max(last, lastLine(below))
	}
	return last
}

// rewrite encodes all documents again, with other channels in this one.
func (f *ReleaseFile) rewrite(channels []v1beta2.ChannelVersion) error {
	var list yamlnode.Node
	var plain []map[string]string
	for _, c := range channels {
		plain = append(plain, map[string]string{"channel": c.Channel, "version": c.Version})
	}
	if err := list.Encode(plain); err != nil {
		return err
	}
	decoder := yamlnode.NewDecoder(bytes.NewReader(f.Text))
	var text bytes.Buffer
	encoder := yamlnode.NewEncoder(&text)
	encoder.SetIndent(2)
	for {
		var document yamlnode.Node
		err := decoder.Decode(&document)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		if len(document.Content) == 1 && document.Content[0].Line == f.root.Line {
			put(document.Content[0], &list)
		}
		if err := encoder.Encode(&document); err != nil {
			return err
		}
	}
	if err := encoder.Close(); err != nil {
		return err
	}
	f.Text = text.Bytes()
	return f.parse()
}

// put sets spec.channels of a ModuleReleaseMeta.
func put(root, channels *yamlnode.Node) {
	spec := child(root, "spec")
	if spec == nil || spec.Kind != yamlnode.MappingNode {
		spec = &yamlnode.Node{Kind: yamlnode.MappingNode}
		root.Content = append(root.Content, &yamlnode.Node{Kind: yamlnode.ScalarNode, Value: "spec"}, spec)
	}
	if there := child(spec, "channels"); there != nil {
		channels.HeadComment, channels.LineComment, channels.FootComment = there.HeadComment, there.LineComment, there.FootComment
		*there = *channels
		return
	}
	spec.Content = append(spec.Content, &yamlnode.Node{Kind: yamlnode.ScalarNode, Value: "channels"}, channels)
}

// child returns the value of a key, nil when there is none.
func child(node *yamlnode.Node, key string) *yamlnode.Node {
	if node == nil || node.Kind != yamlnode.MappingNode {
		return nil
	}
	for i := 0; i+1 < len(node.Content); i += 2 {
		if node.Content[i].Value == key {
			return node.Content[i+1]
		}
	}
	return nil
}

func scalar(node *yamlnode.Node, key string) string {
	if value := child(node, key); value != nil && value.Kind == yamlnode.ScalarNode {
		return value.Value
	}
	return ""
}
