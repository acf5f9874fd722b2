package helm

import (
	"cmp"
	"encoding/hex"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/kyma-project/lifecycle-manager/pkg/content"
	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
	"github.com/kyma-project/lifecycle-manager/pkg/render"
)

// difference is where two renders of a chart have different content.
type difference struct {
	id   inventory.ID
	file string // the template that declares the object
	// field is empty where only one of the renders has the object.
	field fieldPath
	// follows reports whether the field only repeats what differs elsewhere: the checksum of a Secret in an annotation.
	follows bool
}

// differences compares the objects of two renders. Where the cause is most likely comes first: Secrets, then the other objects, and then
// those that only follow.
func differences(first, second *chartContent) []difference {
	var found []difference
	there := map[inventory.ID]bool{}
	for _, object := range first.all() {
		id := inventory.IDOf(object)
		there[id] = true
		other, ok := second.seen[id]
		if !ok {
			found = append(found, difference{id: id, file: first.seen[id].file})
			continue
		}
		fields := differingFields(first.seen[id].object.Object, other.object.Object, nil)
		if len(fields) == 0 {
			continue
		}
		at := max(slices.IndexFunc(fields, func(f differingField) bool { return !f.follows() }), 0)
		found = append(found, difference{id: id, file: first.seen[id].file, field: fields[at].path, follows: fields[at].follows()})
	}
	for _, object := range second.all() {
		if id := inventory.IDOf(object); !there[id] {
			found = append(found, difference{id: id, file: second.seen[id].file})
		}
	}
	slices.SortStableFunc(found, func(a, b difference) int { return cmp.Compare(a.rank(), b.rank()) })
	return found
}

func (d *difference) rank() int {
	switch {
	case d.follows:
		return 2
	case d.id.GroupKind().String() == "Secret":
		return 0
	default:
		return 1
	}
}

// nonDeterministic refuses a chart whose two renders differ: it names the first difference, the functions that make it and what can be
// done. Values are not shown: what differs is often a password.
func nonDeterministic(files []content.File, input render.Input, found []difference, varied map[string]bool) error {
	first, causes := found[0], 0
	for i := range found {
		if !found[i].follows {
			causes++
		}
	}
	what := fmt.Sprintf("%s is in only one of them", first.id)
	if first.field != nil {
		what = fmt.Sprintf("%s differs in %s", first.id, first.field)
	}
	var functions []string
	if templates, _, err := examine(files, input); err == nil {
		functions = variedIn(templates, first.file, varied)
	}
	if len(functions) > 0 {
		what += fmt.Sprintf(" (%s calls %s)", first.file, strings.Join(functions, ", "))
	}
	switch more := causes - 1; {
	case more == 1:
		what += ", and 1 more object differs"
	case more > 1:
		what += fmt.Sprintf(", and %d more objects differ", more)
	}
	err := fmt.Errorf("rendering the chart twice gives two results: %s: %s", what, remedies(functions))
	return &content.Error{Reason: content.ReasonNonDeterministic, Err: err}
}

// fieldPath leads to a field: names and positions.
type fieldPath []string

// String writes a path as users do: data["admin.password"], spec.list[1].name.
func (p fieldPath) String() string {
	var text strings.Builder
	for _, part := range p {
		switch {
		case strings.HasPrefix(part, "["):
			text.WriteString(shorten(part))
		case strings.ContainsAny(part, `."[]/ `):
			text.WriteString("[" + strconv.Quote(shorten(part)) + "]")
		default:
			if text.Len() > 0 {
				text.WriteString(".")
			}
			text.WriteString(shorten(part))
		}
	}
	return text.String()
}

// differingField is a field that is not the same in two objects.
type differingField struct {
	path fieldPath
	a, b any
}

// follows reports whether a label or an annotation is the checksum of something: by its name, or because it looks like one.
func (f *differingField) follows() bool {
	if len(f.path) < 2 {
		return false
	}
	in, name := f.path[len(f.path)-2], strings.ToLower(f.path[len(f.path)-1])
	if in != "annotations" && in != "labels" {
		return false
	}
	for _, word := range []string{"checksum", "hash", "digest", "sha1", "sha256"} {
		if strings.Contains(name, word) {
			return true
		}
	}
	return isChecksum(f.a) && isChecksum(f.b)
}

// isChecksum reports whether a value has the form of MD5, SHA-1 or SHA-2.
func isChecksum(value any) bool {
	text, ok := value.(string)
	if !ok || !slices.Contains([]int{32, 40, 56, 64, 96, 128}, len(text)) {
		return false
	}
	_, err := hex.DecodeString(text)
	return err == nil
}

// differingFields returns the fields that differ, in the order of their names.
func differingFields(a, b any, at fieldPath) []differingField {
	switch a := a.(type) {
	case map[string]any:
		if b, ok := b.(map[string]any); ok {
			return differingKeys(a, b, at)
		}
	case []any:
		if b, ok := b.([]any); ok && len(a) == len(b) {
			var found []differingField
			for i := range a {
				found = append(found, differingFields(a[i], b[i], at.below("["+strconv.Itoa(i)+"]"))...)
			}
			return found
		}
	}
	if reflect.DeepEqual(a, b) {
		return nil
	}
	return []differingField{{at, a, b}}
}

func differingKeys(a, b map[string]any, at fieldPath) []differingField {
	keys := maps.Clone(a)
	maps.Copy(keys, b)
	var found []differingField
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		left, inLeft := a[key]
		right, inRight := b[key]
		if inLeft != inRight {
			found = append(found, differingField{at.below(key), left, right})
			continue
		}
		found = append(found, differingFields(left, right, at.below(key))...)
	}
	return found
}

// below returns a path with one part more. It shares nothing with its parent's.
func (p fieldPath) below(part string) fieldPath { return append(slices.Clone(p), part) }
