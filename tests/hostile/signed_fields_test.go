package hostile

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/artifact"
	"github.com/kyma-project/lifecycle-manager/pkg/component/descriptor"
)

// TestEveryFieldHasARow holds the tables of attacks to the types: a field that is new has to be judged.
func TestEveryFieldHasARow(t *testing.T) {
	manifest := fieldsOf(reflect.TypeFor[v1beta2.ManifestSpec](), "json")
	manifest = append(manifest, "metadata.annotations.ocm-component-name", "metadata.labels.module-name", "metadata.labels.kyma-name",
		"install.source.type", "install.source.path", "install.source.credSecretSelector")
	compare(t, "a Manifest", manifest, keysOf(manifestRows))
	compare(t, "a ModuleTemplate", fieldsOf(reflect.TypeFor[v1beta2.ModuleTemplateSpec](), "json"), keysOf(templateRows))
	compare(t, "a descriptor", fieldsOf(reflect.TypeFor[descriptor.Component](), ""), keysOf(descriptorRows))
	for field, r := range manifestRows {
		if len(r.attacks) == 0 && r.harmless == "" {
			t.Errorf("%s is neither attacked nor harmless", field)
		}
	}
	// Every place that a source can name is one more way to other content, and tried in tests below internal/artifact.
	var places []string
	for _, place := range artifact.BuiltinPlaces(nil) {
		places = append(places, place.Keys()[0])
	}
	if want := []string{"repo", "image", "url", "git", "http", "configMaps"}; !slices.Equal(places, want) {
		t.Errorf("sources can name %v: try each new one in install.source", places)
	}
}

// compare sees that there is a row for each field, and a field for each row. A row that ends in a dot is about all fields below.
func compare(t *testing.T, what string, fields, rows []string) {
	t.Helper()
	below := func(row, field string) bool {
		return row == field || strings.HasSuffix(row, ".") && strings.HasPrefix(field+".", row)
	}
	for _, field := range fields {
		if !slices.ContainsFunc(rows, func(row string) bool { return below(row, field) }) {
			t.Errorf("field %s of %s has no row: can it have something run or created that is not signed?", field, what)
		}
	}
	for _, row := range rows {
		if !slices.ContainsFunc(fields, func(field string) bool { return below(row, field) }) {
			t.Errorf("row %s is about no field of %s", row, what)
		}
	}
}

func keysOf[T any](rows map[string]fieldRow[T]) []string {
	var keys []string
	for key := range rows {
		keys = append(keys, key)
	}
	return keys
}

// fieldsOf are the paths of all leaves of a type of this module, by the names of its tag or of the fields themselves.
func fieldsOf(of reflect.Type, tag string) (paths []string) {
	for of.Kind() == reflect.Pointer || of.Kind() == reflect.Slice {
		of = of.Elem()
	}
	if of.Kind() != reflect.Struct || !strings.Contains(of.PkgPath(), "lifecycle-manager") && of.PkgPath() != "" {
		return []string{""}
	}
	for field := range of.Fields() {
		if !field.IsExported() {
			continue
		}
		name := field.Name
		if tag != "" {
			name, _, _ = strings.Cut(field.Tag.Get(tag), ",")
		}
		for _, below := range fieldsOf(field.Type, tag) {
			paths = append(paths, strings.Trim(name+"."+below, "."))
		}
	}
	return paths
}
