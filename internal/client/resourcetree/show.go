package resourcetree

import (
	"encoding/base64"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kyma-project/lifecycle-manager/pkg/fielddiff"
)

const (
	// MostBytes bounds how much of an object is shown, and mostText how much of one text.
	MostBytes = 512 << 10
	mostText  = 64 << 10

	kindSecret = "Secret"
	// lastApplied is where kubectl keeps a copy of what was applied.
	lastApplied = "kubectl.kubernetes.io/last-applied-configuration"
)

// Options say how an object is shown.
type Options struct {
	// ManagedFields shows who set which field.
	ManagedFields bool
	// Hide are values of Secrets that must not be shown, wherever they stand.
	Hide fielddiff.Secrets
	// Most is how many bytes are shown, about; zero means MostBytes.
	Most int
}

// Show returns an object as users see it, and what it leaves out. The values of Secrets are replaced by their sizes: in the object itself,
// in objects that stand within it, in the copy that kubectl keeps in an annotation, and wherever else a value of the same Secret stands.
func Show(o *unstructured.Unstructured, how Options) (shown map[string]any, notes []string) {
	if o == nil || o.Object == nil {
		return nil, nil
	}
	w := &writer{hide: how.Hide, own: HiderOf(o), left: how.Most}
	if w.left <= 0 {
		w.left = MostBytes
	}
	fields := maps.Clone(o.Object)
	if metadata, is := fields["metadata"].(map[string]any); is && !how.ManagedFields {
		metadata = maps.Clone(metadata)
		delete(metadata, "managedFields")
		fields["metadata"] = metadata
	}
	shown, _ = w.value(fields, 0).(map[string]any)
	if w.own.all {
		named(shown, o)
	}
	if w.hidden {
		notes = append(notes, "the values of Secrets are not shown, only how long they are")
	}
	if w.dropped > 0 || w.shortened > 0 {
		notes = append(notes, fmt.Sprintf(
			"the object is too large to be shown whole: %d values are left out, and %d are shortened", w.dropped, w.shortened))
	}
	return shown, notes
}

// named shows what names an object, where all its texts are hidden.
func named(shown map[string]any, o *unstructured.Unstructured) {
	shown["apiVersion"], shown["kind"] = o.GetAPIVersion(), o.GetKind()
	if metadata, is := shown["metadata"].(map[string]any); is {
		metadata["name"], metadata["namespace"] = o.GetName(), o.GetNamespace()
	}
}

// isSecret reports whether fields are those of a Secret, also one of another group.
func isSecret(fields map[string]any) bool { return fields["kind"] == kindSecret }

// writer copies values.
type writer struct {
	hide fielddiff.Secrets
	own  Hider
	// left is how many bytes may still be shown.
	left               int
	dropped, shortened int
	hidden             bool
}

// mostDepth bounds how deep an object is copied; the API server has a similar bound.
const mostDepth = 200

// value returns a copy of a value, without what must not be shown.
func (w *writer) value(value any, depth int) any {
	switch v := value.(type) {
	case map[string]any:
		return w.fields(v, depth)
	case []any:
		w.left -= 2
		made := make([]any, 0, min(len(v), 1024))
		for _, inner := range v {
			if w.left <= 0 || depth > mostDepth {
				w.dropped++
				continue
			}
			made = append(made, w.value(inner, depth+1))
		}
		return made
	case string:
		return w.text(v)
	}
	w.left -= 8
	return value
}

// first are the fields that are shown before the others when there is no room for all.
var first = []string{"apiVersion", "kind", "metadata", "name", "namespace", "type", "status"}

func (w *writer) fields(fields map[string]any, depth int) map[string]any {
	secret := isSecret(fields)
	made := make(map[string]any, len(fields))
	for _, key := range ordered(fields) {
		if w.left <= 0 || depth > mostDepth {
			w.dropped++
			continue
		}
		w.left -= len(key) + 4
		switch inner := fields[key]; {
		case secret && (key == "data" || key == "stringData") && inner != nil:
			made[key] = w.sizes(inner, key == "data")
		case key == lastApplied && (secret || holdsSecret(inner)):
			w.hidden = true
			made[key] = fielddiff.SecretValue
		default:
			made[key] = w.value(inner, depth+1)
		}
	}
	if secret {
		w.annotations(made)
	}
	return made
}

func ordered(fields map[string]any) []string {
	keys := slices.Sorted(maps.Keys(fields))
	slices.SortStableFunc(keys, func(a, b string) int { return place(a) - place(b) })
	return keys
}

func place(key string) int {
	if at := slices.Index(first, key); at >= 0 {
		return at
	}
	return len(first)
}

// annotations hides the copy of a Secret that stands in its annotations.
func (w *writer) annotations(secret map[string]any) {
	metadata, _ := secret["metadata"].(map[string]any)
	annotations, _ := metadata["annotations"].(map[string]any)
	if _, has := annotations[lastApplied]; has {
		w.hidden = true
		annotations[lastApplied] = fielddiff.SecretValue
	}
}

// holdsSecret reports whether the copy of an applied object has a Secret in it.
func holdsSecret(value any) bool {
	text, _ := value.(string)
	return strings.Contains(strings.ReplaceAll(text, " ", ""), `"kind":"Secret"`)
}

// sizes replaces the values of a Secret by their lengths.
func (w *writer) sizes(data any, encoded bool) any {
	w.hidden = true
	values, is := data.(map[string]any)
	if !is {
		return fielddiff.SecretValue
	}
	made := make(map[string]any, len(values))
	for _, key := range slices.Sorted(maps.Keys(values)) {
		if w.left -= len(key) + 24; w.left <= 0 {
			w.dropped++
			continue
		}
		text, _ := values[key].(string)
		size := len(text)
		if encoded {
			if plain, err := base64.StdEncoding.DecodeString(text); err == nil {
				size = len(plain)
			}
		}
		made[key] = fmt.Sprintf("(hidden, %d bytes)", size)
	}
	return made
}

func (w *writer) text(text string) string {
	if clean := w.own.Hide(w.hide.Hide(text)); clean != text {
		w.hidden = true
		text = clean
	}
	most := max(min(mostText, w.left), 64)
	w.left -= min(len(text), most) + 2
	if len(text) <= most {
		return text
	}
	w.shortened++
	end := most
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return fmt.Sprintf("%s… (%d bytes in all)", text[:end], len(text))
}
