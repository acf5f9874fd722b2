package communitycatalog

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	strictjson "sigs.k8s.io/json"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/pkg/content"
	"github.com/kyma-project/lifecycle-manager/pkg/render"
)

const (
	// MaxBytes is the maximum size of a catalog. That of the Kyma project has about 60 KiB. Hostile text takes up to 70 times its size in
	// memory while it is parsed, in a dashboard with many users.
	MaxBytes = 4 << 20
	// MaxObjects is how many templates and releases a catalog may have.
	MaxObjects = 2_000

	kindTemplate = "ModuleTemplate"
	kindRelease  = "ModuleReleaseMeta"
)

// Parse reads a catalog: YAML documents, or a JSON array, or lists of either. The error names document, line, object and field. Check
// reports possible improvements.
//
//  1. The catalog has at most MaxBytes and MaxObjects, and no YAML document is larger than an object may be. Only one catalog is parsed at
//     a time.
//  2. Every object is a ModuleTemplate or a ModuleReleaseMeta. Other objects are refused, since they would be ignored silently.
//  3. Every template names its module and its version, and no version of a module occurs twice.
//  4. Texts that users see are short, and links are no longer than a browser accepts.
//  5. All objects have the same version and expiry of the catalog, which become its Freshness.
func Parse(data []byte) (Catalog, error) {
	parsing.Lock()
	defer parsing.Unlock()
	objects, err := objectsOf(data)
	if err != nil {
		return Catalog{}, err
	}
	var found Catalog
	said := notedOn(objects[0].GetAnnotations())
	if found.Freshness, err = said.freshness(); err != nil {
		return Catalog{}, located(data, objects[0], err)
	}
	seen := map[string]string{}
	for _, object := range objects {
		one, err := decode(object)
		if err == nil {
			err = one.check(seen)
		}
		if err == nil {
			err = said.taken(one.annotations())
		}
		if err != nil {
			return Catalog{}, located(data, object, err)
		}
		if one.template != nil {
			found.Templates = append(found.Templates, *one.template)
		} else {
			found.Releases = append(found.Releases, *one.release)
		}
	}
	return found, nil
}

// parsing limits the cost of hostile catalogs to that of one at a time.
var parsing sync.Mutex

// objectsOf returns the objects of a catalog. A JSON array, as in all-modules.json, is read as a list.
func objectsOf(data []byte) ([]*unstructured.Unstructured, error) {
	if len(data) > MaxBytes {
		return nil, fail(content.ReasonContentTooLarge, "the catalog has more than %d bytes", MaxBytes)
	}
	if array := bytes.TrimSpace(data); bytes.HasPrefix(array, []byte("[")) && json.Valid(array) {
		// On one line, so that line numbers match the file.
		data = fmt.Appendf(nil, `{"apiVersion":"v1","kind":"List","items":%s}`, data)
	}
	if !isJSON(data) && longest(data) > maxObject {
		return nil, fail(content.ReasonContentTooLarge, "a document of the catalog has more than %d bytes", maxObject)
	}
	objects, err := render.Parse(bytes.NewReader(data), MaxBytes+1<<10)
	if err != nil {
		return nil, err
	}
	switch {
	case len(objects) == 0:
		return nil, fail(content.ReasonContentInvalid, "the catalog holds no ModuleTemplate")
	case len(objects) > MaxObjects:
		return nil, fail(content.ReasonContentTooLarge, "the catalog has %d objects and %d are accepted", len(objects), MaxObjects)
	}
	return objects, nil
}

func isJSON(data []byte) bool {
	text := bytes.TrimSpace(data)
	return (bytes.HasPrefix(text, []byte("{")) || bytes.HasPrefix(text, []byte("["))) && json.Valid(text)
}

// longest returns the length of the longest YAML document. A line with three dashes and nothing else, or only a comment, ends a document.
func longest(data []byte) int {
	most, length := 0, 0
	for line := range bytes.Lines(data) {
		length += len(line)
		rest, dashed := bytes.CutPrefix(line, []byte("---"))
		if rest = bytes.TrimSpace(rest); dashed && (len(rest) == 0 || rest[0] == '#') {
			length = 0
		}
		most = max(most, length)
	}
	return most
}

// item is one object of a catalog: a template or a release.
type item struct {
	object   *unstructured.Unstructured
	template *v1beta2.ModuleTemplate
	release  *v1beta2.ModuleReleaseMeta
	// unknown are messages about unknown fields.
	unknown []string
}

// annotations returns the annotations of the template or the release.
func (i *item) annotations() map[string]string {
	if i.release != nil {
		return i.release.Annotations
	}
	return i.template.Annotations
}

// fieldError is a problem of one field.
type fieldError struct{ field, message string }

// Error implements error.
func (e *fieldError) Error() string {
	if e.field == "" {
		return e.message
	}
	return e.field + ": " + e.message
}

func wrong(field, format string, args ...any) error {
	return &fieldError{field, fmt.Sprintf(format, args...)}
}

// decode converts an object to an item.
func decode(object *unstructured.Unstructured) (*item, error) {
	kind := object.GroupVersionKind()
	one := &item{object: object}
	var into any
	switch {
	case kind.Group != v1beta2.GroupVersion.Group || kind.Kind != kindTemplate && kind.Kind != kindRelease:
		return nil, wrong("kind", "a catalog holds %ss and %ss only: take it out", kindTemplate, kindRelease)
	case kind.Version != v1beta2.GroupVersion.Version:
		return nil, wrong("apiVersion", "%s is not known here: write %s", short(object.GetAPIVersion()), v1beta2.GroupVersion)
	case kind.Kind == kindTemplate:
		one.template = &v1beta2.ModuleTemplate{}
		into = one.template
	default:
		one.release = &v1beta2.ModuleReleaseMeta{}
		into = one.release
	}
	if data, there, _ := unstructured.NestedMap(object.Object, "spec", "data"); there && (data["kind"] == nil || data["apiVersion"] == nil) {
		return nil, wrong("spec.data", "is no object: it has no apiVersion or no kind")
	}
	text, err := json.Marshal(object.Object)
	if err != nil {
		return nil, wrong("", "cannot be read: %v", err)
	}
	strict, err := strictjson.UnmarshalStrict(text, into)
	if kind, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return nil, wrong(kind.Field, "is %s, and that is no %s", kind.Value, plainType(kind.Type.Kind().String()))
	} else if err != nil {
		return nil, wrong("", "cannot be read: %v", short(err.Error()))
	}
	for _, e := range strict {
		one.unknown = append(one.unknown, e.Error())
	}
	return one, nil
}

// plainType returns the users' word for a Go type.
func plainType(kind string) string {
	switch kind {
	case "string":
		return "text"
	case "struct", "map", "ptr":
		return "object"
	case "slice", "array":
		return "list"
	case "bool":
		return "true or false"
	}
	return kind
}

// located adds the position of an object in the catalog to its error.
func located(data []byte, object *unstructured.Unstructured, err error) error {
	field := ""
	if of, ok := errors.AsType[*fieldError](err); ok {
		field = of.field
	}
	var at position
	if len(data) <= maxObject || !isJSON(data) { // an array is one document, which is only searched when it is small
		at = place(data, object.GetKind(), object.GetName(), field)
	}
	name := fmt.Sprintf("%s %s", short(object.GetKind()), short(object.GetName()))
	where := name
	if at.document > 0 {
		where = fmt.Sprintf("document %d (line %d), %s", at.document, at.line, name)
	}
	return fail(content.ReasonContentInvalid, "%s: %w", where, err)
}

func fail(reason, format string, args ...any) error {
	return &content.Error{Reason: reason, Err: fmt.Errorf(format, args...)}
}

// short shortens foreign text for a message, to one line.
func short(text string) string {
	const most = 120
	text = strings.Join(strings.Fields(strings.ToValidUTF8(text, "?")), " ")
	if runes := []rune(text); len(runes) > most {
		text = string(runes[:most]) + "..."
	}
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 {
			return '?'
		}
		return r
	}, text)
}
