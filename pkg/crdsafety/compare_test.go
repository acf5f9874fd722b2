package crdsafety_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/kyma-project/lifecycle-manager/pkg/crdsafety"
)

const names = "names: {plural: widgets, kind: Widget}"

// version returns a served version whose spec has one field.
func version(name, field, more string) string {
	return fmt.Sprintf("{name: %s, served: true, schema: {openAPIV3Schema: {type: object, properties: {%s: {type: string}}}}%s}", name, field, more)
}

// TestDefinition compares everything outside the schemas. before and after are the fields below spec.
func TestDefinition(t *testing.T) {
	one := "versions: [" + version("v1", "a", ", storage: true") + "]"
	with := func(more string) string { return "versions: [" + version("v1", "a", ", storage: true"+more) + "]" }
	both := "versions: [" + version("v1", "a", ", storage: true") + ", " + version("v2", "b", "") + "]"
	for _, test := range []struct {
		name, before, after, stored string
		want                        []string
	}{
		{"the scope may not change", "scope: Namespaced\n" + one, "scope: Cluster\n" + one, "",
			[]string{"ScopeChanged: the scope changes from Namespaced to Cluster"}},
		{"names that the API server fills in are not a change",
			"names: {plural: widgets, kind: Widget, singular: widget, listKind: WidgetList}\n" + one, names + "\n" + one, "", nil},
		{"another kind is one finding, with the names derived from it", names + "\n" + one, "names: {plural: widgets, kind: Gadget}\n" + one, "",
			[]string{"NamesChanged: the singular changes from widget to gadget, the kind changes from Widget to Gadget, the list kind changes from WidgetList to GadgetList"}},
		{"group and plural may not change", "group: a\n" + names + "\n" + one, "group: b\nnames: {plural: things, kind: Widget}\n" + one, "",
			[]string{"NamesChanged: the group changes from a to b, the plural changes from widgets to things"}},
		{"a short name may be added, not removed", "names: {plural: widgets, kind: Widget, shortNames: [w]}\n" + one,
			"names: {plural: widgets, kind: Widget, shortNames: [wi]}\n" + one, "", []string{"NamesChanged: the short name w is gone"}},
		{"categories are free", "names: {plural: widgets, kind: Widget, categories: [all]}\n" + one, names + "\n" + one, "", nil},
		{"printer columns and deprecation are free", with(", additionalPrinterColumns: [{name: A, type: string, jsonPath: .a}]"),
			with(", deprecated: true, deprecationWarning: soon"), "", nil},
		{"a version may be added", one, both, "", nil},
		{"a version that was served and stored may not be removed", both, "versions: [" + version("v2", "b", ", storage: true") + "]", "[v1]",
			[]string{
				"StoredVersionRemoved: v1: objects may be stored in this version and could not be read any more; write them again in a version that stays, then drop it from the status of the definition",
				"VersionRemoved: v1: the version is gone, so that clients that use it fail",
				"FieldRemoved: v2 a: the field is gone, its values are dropped at the next write",
			}},
		{"a stored version counts before the status lists it", "versions: [{name: v1, storage: true}]", "versions: [{name: v2, storage: true}]", "",
			[]string{"StoredVersionRemoved: v1: objects may be stored in this version and could not be read any more; write them again in a version that stays, then drop it from the status of the definition"}},
		{"a version that was neither served nor stored may be removed", one + "\nconversion: {strategy: None}", one, "", nil},
		{"a version in which nothing is stored may not be removed while it is served", both, one, "[v1]",
			[]string{"VersionRemoved: v2: the version is gone, so that clients that use it fail"}},
		{"a version that was not served may be removed", "versions: [" + version("v1", "a", ", storage: true") + ", {name: v0}]", one, "[v1]", nil},
		{"a version may not stop being served", one,
			"versions: [{name: v1, storage: true, schema: {openAPIV3Schema: {type: object, properties: {a: {type: string}}}}}]", "",
			[]string{"VersionRemoved: v1: the version is no longer served, so that clients that use it fail"}},
		{"a schema is compared even where it is not served", "versions: [{name: v1, schema: {openAPIV3Schema: {type: object, properties: {a: {type: string}}}}}]",
			"versions: [{name: v1, schema: {openAPIV3Schema: {type: object}}}]", "",
			[]string{"FieldRemoved: v1 a: the field is gone, its values are dropped at the next write"}},
		{"objects stored in another version, unconverted, must fit there", one,
			"versions: [" + version("v1", "a", "") + ", " + version("v2", "b", ", storage: true") + "]", "[v1]",
			[]string{"FieldRemoved: v2 a: the field is gone, its values are dropped at the next write"}},
		{"objects that a webhook converts need not fit", one,
			"versions: [" + version("v1", "a", "") + ", " + version("v2", "b", ", storage: true") + "]\nconversion: {strategy: Webhook}", "[v1]", nil},
		{"the webhook may not be removed while there are versions to convert", both + "\nconversion: {strategy: Webhook}", both, "",
			[]string{"UnknownChange: objects are no longer converted by a webhook, so that fields in which versions differ are lost"}},
		{"the webhook may be removed with the last other version", one + "\nconversion: {strategy: Webhook}", one, "", nil},
		{"the webhook may move", both + "\nconversion: {strategy: Webhook, webhook: {conversionReviewVersions: [v1], clientConfig: {url: 'https://a', caBundle: YQ==}}}",
			both + "\nconversion: {strategy: Webhook, webhook: {conversionReviewVersions: [v1], clientConfig: {service: {name: a, namespace: b}}}}", "", nil},
		{"the old way to keep unknown fields may not be turned off", one + "\npreserveUnknownFields: true", one, "",
			[]string{"PreserveUnknownFieldsRemoved: fields that no schema names are dropped at the next write"}},
		{"the old way to keep unknown fields makes every schema change unknown", one + "\npreserveUnknownFields: true", both + "\npreserveUnknownFields: true", "",
			[]string{"UnknownChange: versions change while spec.preserveUnknownFields is true"}},
		{"the old way to keep unknown fields is no finding by itself", one + "\npreserveUnknownFields: true", one + "\npreserveUnknownFields: true", "", nil},
		{"subresources may be added", one, with(", subresources: {status: {}, scale: {specReplicasPath: .a, statusReplicasPath: .b}}"), "", nil},
		{"subresources may not be removed", with(", subresources: {status: {}, scale: {specReplicasPath: .a, statusReplicasPath: .b}}"), one, "",
			[]string{
				"UnknownChange: v1: the status subresource is gone, so that controllers that write to it fail",
				"UnknownChange: v1: the scale subresource is gone, so that autoscalers fail",
			}},
		{"scale may not read other fields", with(", subresources: {scale: {specReplicasPath: .a, statusReplicasPath: .b}}"),
			with(", subresources: {scale: {specReplicasPath: .a, statusReplicasPath: .b, labelSelectorPath: .c}}"), "",
			[]string{"UnknownChange: v1: the scale subresource reads other fields"}},
		{"selectable fields may be added", one, with(", selectableFields: [{jsonPath: .a}]"), "", nil},
		{"selectable fields may not be removed", with(", selectableFields: [{jsonPath: .a}]"), one, "",
			[]string{"UnknownChange: v1: .a can no longer be selected by"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			before, after := definition(t, "spec:\n"+indent(test.before)), definition(t, "spec:\n"+indent(test.after))
			if test.stored != "" {
				before.Status = definition(t, "status: {storedVersions: "+test.stored+"}").Status
			}
			old, changed := before.DeepCopy(), after.DeepCopy()
			var got []string
			for _, finding := range crdsafety.Compare(before, after) {
				got = append(got, finding.String())
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff([]*apiextensionsv1.CustomResourceDefinition{old, changed}, []*apiextensionsv1.CustomResourceDefinition{before, after}); diff != "" {
				t.Errorf("a definition was changed: %s", diff)
			}
		})
	}
}

func TestAddingOrRemovingADefinitionIsNoChange(t *testing.T) {
	crd := widgets(t, "{type: object}")
	if got := crdsafety.Compare(nil, crd); got != nil {
		t.Errorf("adding: %v", got)
	}
	if got := crdsafety.Compare(crd, nil); got != nil {
		t.Errorf("removing: %v", got)
	}
}
