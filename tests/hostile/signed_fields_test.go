package hostile

import (
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/manager/modulecontent"
	"github.com/kyma-project/lifecycle-manager/pkg/component/descriptor"
	"github.com/kyma-project/lifecycle-manager/pkg/render"
)

// TestSignedFields_EveryFieldHasARow compares the tables of attacks with the types: a new field must be judged.
func TestSignedFields_EveryFieldHasARow(t *testing.T) {
	manifest := fieldsOf(reflect.TypeFor[v1beta2.ManifestSpec](), "json")
	manifest = append(manifest, "metadata.annotations.ocm-component-name", "metadata.labels.module-name", "metadata.labels.kyma-name",
		"install.source.type", "install.source.path", "install.source.credSecretSelector")
	compare(t, "a Manifest", manifest, keysOf(manifestRows))
	compare(t, "a ModuleTemplate", fieldsOf(reflect.TypeFor[v1beta2.ModuleTemplateSpec](), "json"), keysOf(templateRows))
	compare(t, "a descriptor", fieldsOf(reflect.TypeFor[descriptor.Component](), ""), keysOf(descriptorRows))
	compare(t, "a Kyma", fieldsOf(reflect.TypeFor[v1beta2.KymaSpec](), "json"), slices.Collect(maps.Keys(kymaFields)))
	release := fieldsOf(reflect.TypeFor[v1beta2.ModuleReleaseMetaSpec](), "json")
	compare(t, "a ModuleReleaseMeta", release, slices.Collect(maps.Keys(releaseFields)))
	compare(t, "a KymaRelease", fieldsOf(reflect.TypeFor[v1beta2.KymaReleaseSpec](), "json"), slices.Collect(maps.Keys(kymaReleaseFields)))
	compare(t, "what a chart is rendered with", fieldsOf(reflect.TypeFor[render.Input](), ""), keysOf(chartRows))
	expectJudged(t, manifestRows)
	expectJudged(t, templateRows)
	expectJudged(t, descriptorRows)
	expectJudged(t, chartRows)
	// Every place that a source can name is one more way to other content, and tested below internal/manager/modulecontent.
	var places []string
	for _, place := range modulecontent.BuiltinPlaces(nil) {
		places = append(places, place.Keys()[0])
	}
	if want := []string{"repo", "image", "url", "git", "http", "configMaps"}; !slices.Equal(places, want) {
		t.Errorf("sources can name %v: try each new one in install.source", places)
	}
}

// kymaReleaseFields covers all fields of the spec of a KymaRelease.
var kymaReleaseFields = map[string]string{
	"modules.name":    "names a module, whose ModuleReleaseMeta names the component",
	"modules.version": "chooses a version, which is verified",
}

// kymaFields covers all fields of a Kyma's spec. Only Manifests install anything, and they are attacked in manifestRows: each entry states
// the effect of a field there.
var kymaFields = map[string]string{
	"channel":                         "chooses a version, which is verified",
	"release":                         "chooses a version of each module, which are verified",
	"skipMaintenanceWindows":          "says when signed content is installed",
	"remote":                          "says which cluster it goes to; --local-namespaces bounds that",
	"modules.name":                    "names a module, whose release names the component",
	"modules.controller":              "says who may install it",
	"modules.channel":                 "chooses a version, which is verified",
	"modules.version":                 "chooses a version, which is verified",
	"modules.remoteModuleTemplateRef": "has nothing installed",
	"modules.customResourcePolicy":    "says whether the signed default custom resource is created",
	"modules.managed":                 "lets go of what is installed",
	"modules.allowCRDChanges":         "is spec.allowCRDChanges of the Manifest, which is held to the signed template",
	"modules.onFailedUpgrade":         "has a version installed again that was installed before, and is verified again",
	"modules.progressDeadline":        "says when that happens",
	"modules.avoid":                   "has a version installed again that was installed before, and is verified again",
	"modules.backTo":                  "chooses among the versions that were installed before, which are verified again",
	"modules.retry":                   "has the offered version tried once more, which is verified",
	"modules.upgradeStrategy":         "says who is asked before a version is installed, which is verified",
	"modules.approved":                "agrees to content by its digest, which is verified",
	"modules.values":                  "is spec.kymaValues of the Manifest, which is refused",
	"modules.valuesFrom.":             "is spec.kymaValues of the Manifest, which is refused",
	"readiness":                       "says what counts as ready, and writes nothing",
	"serviceAccountName":              "says with whose rights verified content is installed",
}

// releaseFields covers all fields of a ModuleReleaseMeta's spec, in the same way.
var releaseFields = map[string]string{
	"moduleName":       "names the module; that of a chart's release is held to the component",
	"ocmComponentName": "names the component, which is verified under that name and by the rule for it",
	"channels.":        "choose versions, which are verified",
	"mandatory.":       "says who gets the signed content, and in which version",
	"beta":             "says who may have it",
	"internal":         "says who may have it",
	"kymaSelector":     "says who may have it",
}

// expectJudged checks that each field is either attacked or declared harmless.
func expectJudged[T any](t *testing.T, rows map[string]fieldRow[T]) {
	t.Helper()
	for field, r := range rows {
		if (len(r.attacks) == 0) != (r.harmless != "") {
			t.Errorf("%s is neither attacked nor harmless, or both", field)
		}
	}
}

// compare checks that there is a row for each field, and a field for each row. A row that ends in a dot covers all fields below.
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

// fieldsOf returns the paths of all leaves of a type of this module, named by the given tag or by the fields themselves.
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
