package apply

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/value"
)

// withoutDropped returns the object as it would be after the migration of its managed fields, which a dry run cannot make: fields that we
// created and no longer declare are removed, and the API server is called again, for its defaults.
func (w *writing) withoutDropped(ctx context.Context, outcome Outcome) (*unstructured.Unstructured, error) {
	gone, err := w.dropped(outcome)
	if err != nil || gone.Empty() {
		return outcome.Object, err
	}
	result := outcome.Object.DeepCopy()
	var paths []fieldpath.Path
	gone.Iterate(func(path fieldpath.Path) { paths = append(paths, path.Copy()) })
	slices.SortFunc(paths, func(a, b fieldpath.Path) int { return len(a) - len(b) }) // an item as a whole first, while its key exists
	for _, path := range paths {
		takeOut(result.Object, path)
	}
	return w.client.Update(ctx, result, metav1.UpdateOptions{FieldManager: w.Manager, DryRun: w.dryRun()})
}

// dropped returns the fields that only our create, or the installer that we succeed, has set and that the content does not declare.
func (w *writing) dropped(outcome Outcome) (*fieldpath.Set, error) {
	created, held := &fieldpath.Set{}, w.unread()
	ours := w.ours(outcome.Action)
	for _, entry := range outcome.Object.GetManagedFields() {
		fields := &fieldpath.Set{}
		if entry.FieldsV1 != nil {
			if err := fields.FromJSON(bytes.NewReader(entry.FieldsV1.GetRawBytes())); err != nil {
				return nil, fmt.Errorf("read its managed fields: %w", err)
			}
		}
		if w.migrates(entry, ours) {
			created = created.Union(fields)
		} else {
			held = held.Union(fields)
		}
	}
	gone := &fieldpath.Set{}
	created.Iterate(func(path fieldpath.Path) {
		if !holds(held, path) {
			gone.Insert(path.Copy())
		}
	})
	return gone, nil
}

// unread returns the fields that the content declares in another place: the stringData of a Secret ends up in its data.
func (w *writing) unread() *fieldpath.Set {
	declared := &fieldpath.Set{}
	texts, ok := w.object.Object["stringData"].(map[string]any)
	if !ok || w.id.GroupKind().String() != "Secret" {
		return declared
	}
	for key := range texts {
		declared.Insert(fieldpath.MakePathOrDie("data", key))
	}
	return declared
}

// holds reports whether a set holds a path or something below it.
func holds(set *fieldpath.Set, path fieldpath.Path) bool {
	if set.Has(path) {
		return true
	}
	for _, element := range path {
		set = set.WithPrefix(element)
	}
	return !set.Empty()
}

// takeOut removes the value at a path, if there is one.
func takeOut(at any, path fieldpath.Path) any {
	if len(path) == 0 {
		return at
	}
	last := len(path) == 1
	switch holder := at.(type) {
	case map[string]any:
		if name := path[0].FieldName; name != nil && last {
			delete(holder, *name)
		} else if name != nil && holder[*name] != nil {
			holder[*name] = takeOut(holder[*name], path[1:])
		}
	case []any:
		index := slices.IndexFunc(holder, func(item any) bool { return selects(path[0], item) })
		if index >= 0 && last {
			return slices.Delete(holder, index, index+1)
		} else if index >= 0 {
			holder[index] = takeOut(holder[index], path[1:])
		}
	}
	return at
}

// selects reports whether a path element refers to that item of a list.
func selects(element fieldpath.PathElement, item any) bool {
	switch {
	case element.Value != nil:
		return value.Equals(*element.Value, value.NewValueInterface(item))
	case element.Key == nil:
		return false
	}
	fields, ok := item.(map[string]any)
	if !ok {
		return false
	}
	for _, key := range *element.Key {
		if field, found := fields[key.Name]; !found || !value.Equals(key.Value, value.NewValueInterface(field)) {
			return false
		}
	}
	return true
}
