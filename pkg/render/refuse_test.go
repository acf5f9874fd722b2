package render

import (
	"fmt"
	"strings"
	"testing"

	"github.com/kyma-project/lifecycle-manager/pkg/content"
	"github.com/kyma-project/lifecycle-manager/pkg/render/internal/rendertest"
)

func TestParseRefuses(t *testing.T) {
	for name, test := range map[string]struct {
		text string
		want string // part of the message
	}{
		"malformed YAML, with the line of the file": {
			rendertest.Config("a") + "---\n" + rendertest.Config("b") + "data: [1\n", "document 2 (line 6): is malformed: yaml: line 10: ",
		},
		"a tab as indentation":                     {"a:\n\tb: c\n", "document 1 (line 1): is malformed: yaml: line 2: "},
		"a document that is a list":                {rendertest.Config("a") + "---\n- a\n- b\n", "document 2 (line 6): is a list and not an object"},
		"a document that is text":                  {"hello\n", "is text and not an object"},
		"a document that is a number":              {"42\n", "is a number and not an object"},
		"a document that is a boolean":             {"true\n", "is true or false and not an object"},
		"JSON that is no object after one that is": {rendertest.JSONConfig("a") + "\n[]", "document 1 (line 5): is a list and not an object"},
		"JSON that breaks off": {
			rendertest.JSONConfig("a") + "\n{\"kind\": ", "document 1 (line 5): is malformed: unexpected EOF",
		},
		"JSON followed by something else": {rendertest.JSONConfig("a") + "\nrest", "is malformed: invalid character 'r'"},
		"a key that JSON sets twice":      {`{"kind":"A","kind":"B"}`, `duplicate field "kind"`},
		"a key that YAML sets twice":      {rendertest.Config("a") + "kind: B\n", `line 5: key "kind" already set in map`},
		"a template that is not text":     {rendertest.Config("a") + "spec: {replicas: {{ .Values.n }}}\n", "is malformed: "},
		"YAML that goes on after a flow mapping": {
			"{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}\n{apiVersion: v1}\n", "continues after its end",
		},
		"YAML that continues after its end marker": {rendertest.Config("a") + "...\n" + rendertest.Config("b"), "continues after its end"},
		"a separator that only YAML takes for one": {
			strings.ReplaceAll(rendertest.Config("a")+"---\n"+rendertest.Config("b"), "\n", "\r"), "continues after its end",
		},
		"something behind a separator":             {rendertest.Config("a") + "---kind: x\n", "invalid Yaml document separator"},
		"text that is not UTF-8":                   {"a: \xff\n", "not UTF-8"},
		"control characters":                       {"a: \x01\n", "control characters are not allowed"},
		"an alias that no one anchored":            {"a: *b\n", "unknown anchor 'b'"},
		"an anchor that holds itself":              {"a: &a [*a]\n", "anchor 'a' value contains itself"},
		"aliases of aliases that grow without end": {"a: &a [x,x,x,x,x,x,x,x,x]\n" + rendertest.Growing('a', 'i'), "excessive aliasing"},
		"infinity, which no API has":               {rendertest.Config("a") + "spec: .inf\n", "unsupported value"},
		"a key that is no text":                    {rendertest.Config("a") + "? [a]\n: b\n", "is malformed"},
		"an empty object":                          {"{}\n", "kind is missing"},
		"an object without kind":                   {"apiVersion: v1\nmetadata: {name: a}\n", "kind is missing"},
		"an object whose kind is empty":            {"apiVersion: v1\nkind: ' '\nmetadata: {name: a}\n", "kind is empty"},
		"an object without version":                {"kind: A\nmetadata: {name: a}\n", "apiVersion is missing"},
		"a version that is a number": {
			"apiVersion: 1\nkind: A\nmetadata: {name: a}\n", "apiVersion is a number: put it in quotes",
		},
		"a version with too many parts":  {"apiVersion: a/b/c\nkind: A\nmetadata: {name: a}\n", `apiVersion "a/b/c" of A`},
		"a version that ends in a slash": {"apiVersion: a/\nkind: A\nmetadata: {name: a}\n", `apiVersion "a/" of A`},
		"an object without metadata":     {"apiVersion: v1\nkind: A\n", "A has no metadata"},
		"an object without name":         {"apiVersion: v1\nkind: A\nmetadata: {namespace: x}\n", "A: metadata.name is missing"},
		"a generated name": {
			"apiVersion: v1\nkind: A\nmetadata: {generateName: x-}\n", "metadata.generateName is not accepted",
		},
		"a name that is a number":        {rendertest.Config("12"), "metadata.name is a number: put it in quotes"},
		"a name with a slash":            {rendertest.Config("a/b"), `metadata.name "a/b" may not contain '/'`},
		"a name that is a parent folder": {rendertest.Config("'..'"), `metadata.name ".." may not be '..'`},
		"a namespace that is a number":   {rendertest.Config("a") + "  namespace: 7\n", "metadata.namespace is a number"},
		"a namespace with a slash":       {rendertest.Config("a") + "  namespace: x/y\n", `metadata.namespace "x/y" may not contain '/'`},
		"a label that is a number": {
			rendertest.Config("a") + "  labels: {version: 1.0}\n", `metadata.labels: the value of "version" is a number`,
		},
		"an annotation that is a boolean": {
			rendertest.Config("a") + "  annotations: {on: 'x', off: y, z: yes}\n", "is true or false: put it in quotes",
		},
		"labels that are a list": {rendertest.Config("a") + "  labels: [a]\n", "metadata.labels is a list and not a map"},
		"one identity declared in two ways": {
			rendertest.Config("a") + "---\n" + rendertest.Config("a") + "data: {k: v}\n",
			"document 2 (line 6): ConfigMap a is declared differently in document 1 (line 1)",
		},
		"one identity declared in two versions": {
			rendertest.Config("a") + "---\n" + strings.Replace(rendertest.Config("a"), "v1", "v2", 1), "ConfigMap a is declared differently",
		},
		"an item of a list that is no object": {
			"apiVersion: v1\nkind: List\nitems: [text]\n", "document 1 (line 1), item 1: is text and not an object",
		},
		"an item of a list that is null": {"apiVersion: v1\nkind: List\nitems: [null]\n", "item 1: is null and not an object"},
		"an item of a list in a list without name": {
			rendertest.List("List", rendertest.Config("a"), rendertest.List("List", "apiVersion: v1\nkind: A\n")), "item 2, item 1: A has no metadata",
		},
		"an item without kind in a list that names none": {rendertest.List("List", "metadata: {name: a}\n"), "item 1: kind is missing"},
		"two items of one identity": {
			rendertest.List("List", rendertest.Config("a"), rendertest.Config("a")+"data: {k: v}\n"),
			"document 1 (line 1), item 2: ConfigMap a is declared differently in document 1 (line 1), item 1",
		},
	} {
		t.Run(name, func(t *testing.T) {
			objects, err := Parse(strings.NewReader(test.text), rendertest.Limit)
			if content.ReasonOf(err) != content.ReasonContentInvalid || !strings.Contains(fmt.Sprint(err), test.want) {
				t.Errorf("error %v with reason %q, want %q in it", err, content.ReasonOf(err), test.want)
			}
			if objects != nil {
				t.Errorf("returned %d objects beside the error", len(objects))
			}
			if err != nil && strings.Contains(err.Error(), "\n") {
				t.Errorf("the message has several lines: %q", err)
			}
		})
	}
}

func TestParseRefusesWhatIsTooLarge(t *testing.T) {
	var many strings.Builder
	for i := range MaxObjects + 1 {
		many.WriteString(rendertest.Config(fmt.Sprint("n", i)) + "---\n")
	}
	long := "x: &x " + strings.Repeat("y", 2000) + "\n"
	for name, test := range map[string]struct {
		text  string
		limit int64
		want  string
	}{
		"more bytes than the limit":                 {rendertest.Config("a"), int64(len(rendertest.Config("a"))) - 1, "more than 50 bytes"},
		"more objects than one content may declare": {many.String(), rendertest.Limit, "more than 10000 objects"},
		"a long text that is repeated by aliases":   {rendertest.Config("a") + long + "z: [" + strings.Repeat("*x,", 100) + "]\n", 5000, "aliases"},
		"the same spread over documents": {
			strings.Repeat("---\n"+rendertest.Config("a")+long+"z: ["+strings.Repeat("*x,", 3)+"]\n", 3), 7000, "aliases",
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Parse(strings.NewReader(test.text), test.limit)
			if content.ReasonOf(err) != content.ReasonContentTooLarge || !strings.Contains(fmt.Sprint(err), test.want) {
				t.Errorf("error %v with reason %q, want %q in it", err, content.ReasonOf(err), test.want)
			}
		})
	}
}

func TestParseCutsWhatTheParserRepeats(t *testing.T) {
	_, err := Parse(strings.NewReader("--- "+strings.Repeat("x", 10_000)+"\n"), rendertest.Limit)
	if err == nil || len(err.Error()) > 400 {
		t.Errorf("a message of %d bytes", len(fmt.Sprint(err)))
	}
}
