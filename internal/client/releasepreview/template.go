package releasepreview

import (
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/pkg/fielddiff"
	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

// templateFields returns the differences of two templates that have an effect in a cluster: without what names the version and its content,
// and without what the other parts of Changes tell.
func templateFields(before, after *Side) []Field {
	if before.Template == nil || after.Template == nil {
		return nil
	}
	objects := slices.Concat(before.Objects, after.Objects)
	old, next := before.Template.Spec.Data, after.Template.Spec.Data
	for _, data := range []*unstructured.Unstructured{old, next} {
		if data != nil {
			objects = append(objects, data)
		}
	}
	secrets := fielddiff.SecretsOf(objects...)
	fields := fieldsOf(secrets.Compare(effective(before.Template), effective(after.Template)))
	if old == nil || next == nil || inventory.IDOf(old) != inventory.IDOf(next) {
		if was, is := nameOf(old), nameOf(next); was != is {
			fields = append(fields, Field{Path: "data", From: was, To: is})
		}
		return fields
	}
	for _, field := range fieldsOf(secrets.Compare(old, next)) {
		field.Path = "data." + field.Path
		fields = append(fields, field)
	}
	return fields
}

func nameOf(object *unstructured.Unstructured) string {
	if object == nil {
		return ""
	}
	return inventory.IDOf(object).String()
}

// effective returns what of a template counts, without its default custom resource.
func effective(template *v1beta2.ModuleTemplate) *unstructured.Unstructured {
	spec := template.Spec.DeepCopy()
	spec.Channel, spec.Version, spec.ModuleName, spec.Requires, spec.RollbackTo = "", "", "", nil, ""
	spec.RequiresDowntime, spec.Info, spec.Resources, spec.Data = false, nil, nil, nil
	spec.Descriptor = runtime.RawExtension{}
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(spec)
	if err != nil {
		return &unstructured.Unstructured{Object: map[string]any{}}
	}
	delete(fields, "descriptor")
	return &unstructured.Unstructured{Object: fields}
}
