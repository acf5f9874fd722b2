package render

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"reflect"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"

	"github.com/kyma-project/lifecycle-manager/pkg/content"
	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

const (
	// MaxObjects is how many objects one content may declare.
	MaxObjects = 10_000
	// DefaultLimit is a limit for Parse that fits a manager: objects take about 14 times their text while they are parsed and half of
	// that afterwards, and text that is made to be costly 70 times.
	DefaultLimit = 16 << 20
)

var (
	byteOrderMark = []byte("\ufeff")
	separator     = []byte("---")
)

// Parse reads up to limit bytes of YAML or JSON documents and returns the objects in the order of the documents. Lists are flattened,
// documents without content are skipped, objects that are declared twice and alike are returned once. An error names the document and
// the line.
//
// Fields of metadata that only an API server writes (uid, resourceVersion, managedFields and their like) are dropped: they speak of
// another cluster.
func Parse(r io.Reader, limit int64) ([]*unstructured.Unstructured, error) {
	text, err := readAll(r, limit)
	if err != nil {
		return nil, err
	}
	p := parser{budget: 2 * limit, seen: map[inventory.ID]seen{}}
	documents := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(text)))
	at := place{document: 1, line: 1}
	for {
		document, err := documents.Read()
		if errors.Is(err, io.EOF) {
			return p.objects, nil
		}
		if err != nil {
			return nil, at.malformed(err)
		}
		used, err := p.document(document, at)
		if err != nil {
			return nil, err
		}
		if used {
			at.document++
		}
		// The reader swallows the separator that ends a document: one more line.
		at = at.down(document)
		at.line++
	}
}

func readAll(r io.Reader, limit int64) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err != nil {
		return nil, fmt.Errorf("read the content: %w", err)
	}
	if int64(len(text)) > limit {
		return nil, content.Errorf(content.ReasonContentTooLarge, "the content has more than %d bytes: make it smaller or raise the limit", limit)
	}
	if !utf8.Valid(text) {
		return nil, &content.Error{Reason: content.ReasonContentInvalid, Err: errors.New("the content is not UTF-8 text")}
	}
	return bytes.TrimPrefix(text, byteOrderMark), nil
}

// parser gathers the objects of one content.
type parser struct {
	// budget is how many bytes the documents may still grow to when their aliases are written out. It starts at twice the limit, as
	// some escapes are shorter than what they stand for.
	budget  int64
	objects []*unstructured.Unstructured
	seen    map[inventory.ID]seen
}

// seen is where an object was first declared.
type seen struct {
	object *unstructured.Unstructured
	at     place
}

// document takes in one document and tells whether it had content.
func (p *parser) document(text []byte, at place) (used bool, err error) {
	// The first separator of a stream comes with the document that it begins.
	if bytes.HasPrefix(text, separator) {
		_, text, _ = bytes.Cut(text, []byte("\n"))
		at.line++
	}
	values, err := p.decode(text, at)
	if err != nil {
		return false, err
	}
	for _, value := range values {
		if err := p.value(value.fields, value.at); err != nil {
			return false, err
		}
	}
	return len(values) > 0, nil
}

// value takes in an object or a list of objects.
func (p *parser) value(fields map[string]any, at place) error {
	items, isList := listItems(fields)
	if !isList {
		return p.add(fields, at)
	}
	for i, item := range items {
		inside := at.inside(i + 1)
		itemFields, ok := item.(map[string]any)
		if !ok {
			return inside.invalid(fmt.Errorf("is %s and not an object", TypeName(item)))
		}
		inheritKind(fields, itemFields)
		if err := p.value(itemFields, inside); err != nil {
			return err
		}
	}
	return nil
}

// add takes in one object.
func (p *parser) add(fields map[string]any, at place) error {
	object := &unstructured.Unstructured{Object: fields}
	if err := tidy(object); err != nil {
		return at.invalid(err)
	}
	id := inventory.IDOf(object)
	if first, ok := p.seen[id]; ok {
		if reflect.DeepEqual(first.object.Object, fields) {
			return nil
		}
		return at.invalid(fmt.Errorf("%s is declared differently in %s: keep one of them", id, first.at))
	}
	if len(p.objects) >= MaxObjects {
		return content.Errorf(content.ReasonContentTooLarge,
			"the content declares more than %d objects: split it into several modules", MaxObjects)
	}
	p.seen[id] = seen{object, at}
	p.objects = append(p.objects, object)
	return nil
}
