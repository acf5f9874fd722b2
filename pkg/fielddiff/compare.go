package fielddiff

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kyma-project/lifecycle-manager/pkg/excerpt"
	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

// Field is one field in which two states differ.
type Field struct {
	// Path of the field: spec.template.spec.containers[name=manager].image, data["tls.crt"].
	Path string
	// From and To are the value in the one state and in the other, "" where the field is absent: text as it is, anything else as JSON. Long
	// values are shortened to the part that differs.
	From, To string
}

const (
	// SecretValue stands for every value of a Secret.
	SecretValue = "(hidden)"
	// maxValue bounds, in bytes, how much of a value is shown.
	maxValue = 1024
)

// noise lists the fields of metadata that the API server maintains.
var noise = []string{"managedFields", "resourceVersion", "generation", "uid", "creationTimestamp", "selfLink"}

// Compare returns the fields in which two states of an object differ, ordered by path: without the fields that the API server maintains,
// and without the values of a Secret.
func Compare(from, to *unstructured.Unstructured) []Field { return Secrets{}.Compare(from, to) }

// Compare is the function Compare, with the values of the Secrets hidden wherever else they stand.
func (s Secrets) Compare(from, to *unstructured.Unstructured) []Field {
	c := comparison{elsewhere: s}
	id := inventory.IDOf(from)
	c.secret = id.Group == "" && id.Kind == "Secret"
	c.compare("", quiet(from), quiet(to))
	slices.SortFunc(c.found, func(a, b Field) int { return strings.Compare(a.Path, b.Path) })
	return c.found
}

// quiet returns a shallow copy of an object without noise.
func quiet(obj *unstructured.Unstructured) map[string]any {
	content := maps.Clone(obj.Object)
	if metadata, ok := content["metadata"].(map[string]any); ok {
		metadata = maps.Clone(metadata)
		for _, field := range noise {
			delete(metadata, field)
		}
		content["metadata"] = metadata
	}
	return content
}

// comparison collects differences.
type comparison struct {
	secret    bool
	elsewhere Secrets
	found     []Field
}

// compare walks two values; nil is an absent one. A value that only one side has is walked too, so that every difference is that of a leaf.
func (c *comparison) compare(path string, from, to any) {
	if reflect.DeepEqual(from, to) {
		return
	}
	fromMap, fromIsMap := from.(map[string]any)
	toMap, toIsMap := to.(map[string]any)
	fromList, fromIsList := from.([]any)
	toList, toIsList := to.([]any)
	before := len(c.found)
	switch {
	case (fromIsMap || from == nil) && (toIsMap || to == nil):
		c.compareMaps(path, fromMap, toMap)
	case (fromIsList || from == nil) && (toIsList || to == nil):
		c.compareLists(path, fromList, toList)
	}
	if len(c.found) == before { // two leaves, two different types, or an empty value added or removed
		was, is := excerpt.Pair(c.show(from), c.show(to), maxValue)
		c.found = append(c.found, Field{Path: path, From: was, To: is})
	}
}

func (c *comparison) compareMaps(path string, from, to map[string]any) {
	for key := range from {
		c.compare(join(path, key), from[key], to[key])
	}
	for key, value := range to {
		if _, both := from[key]; !both {
			c.compare(join(path, key), nil, value)
		}
	}
}

// compareLists matches items by name where all have one, and else by position: a container added in front does not change all the others.
func (c *comparison) compareLists(path string, from, to []any) {
	fromNames, ok := named(from)
	toNames, alsoOK := named(to)
	if !ok || !alsoOK || len(from)+len(to) == 0 {
		for i := range max(len(from), len(to)) {
			c.compare(fmt.Sprintf("%s[%d]", path, i), itemAt(from, i), itemAt(to, i))
		}
		return
	}
	for name := range fromNames {
		c.compare(fmt.Sprintf("%s[name=%s]", path, name), fromNames[name], toNames[name])
	}
	for name, item := range toNames {
		if _, both := fromNames[name]; !both {
			c.compare(fmt.Sprintf("%s[name=%s]", path, name), nil, item)
		}
	}
}

// named returns a list as a map by the names of its items; false when an item has no name, or two have the same.
func named(list []any) (map[string]any, bool) {
	names := make(map[string]any, len(list))
	for _, item := range list {
		fields, _ := item.(map[string]any)
		name, ok := fields["name"].(string)
		if _, twice := names[name]; twice || !ok {
			return nil, false
		}
		names[name] = item
	}
	return names, true
}

func itemAt(list []any, i int) any {
	if i < len(list) {
		return list[i]
	}
	return nil
}

// plain matches keys that need no quotes in a path.
var plain = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)

func join(path, key string) string {
	switch {
	case !plain.MatchString(key):
		return path + "[" + strconv.Quote(key) + "]"
	case path == "":
		return key
	}
	return path + "." + key
}

func (c *comparison) show(value any) string {
	if value == nil {
		return ""
	}
	if c.secret {
		return SecretValue
	}
	text, ok := value.(string)
	if !ok {
		encoded, err := json.Marshal(value)
		text = cmp.Or(string(encoded), fmt.Sprint(err))
	}
	return c.elsewhere.Hide(text)
}
