package modulelint

import (
	"bytes"
	"fmt"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kyma-project/lifecycle-manager/pkg/diagnostics"
	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
	"github.com/kyma-project/lifecycle-manager/pkg/render"
)

// defaultCR judges the default custom resource.
//
//  1. It is one object.
//  2. The manifest defines its kind, and serves its version.
//  3. It fits the schema and the CEL rules, after defaults are filled in as in an API server.
//  4. It has no field that is unknown to the schema: an API server would drop it.
func (l *linter) defaultCR(definitions []definition) {
	if l.DefaultCR == nil {
		return
	}
	objects, err := render.Parse(bytes.NewReader(l.DefaultCR), render.DefaultLimit)
	if err != nil {
		l.unreadable(l.cr, RuleDefaultCR, err, "correct it there")
		return
	}
	if len(objects) != 1 {
		l.findings = append(l.findings, diagnostics.Finding{
			Rule: RuleDefaultCR, Severity: diagnostics.Error, File: l.DefaultCRFile,
			Message: fmt.Sprintf("declares %d objects", len(objects)), Fix: "keep the one custom resource that the module begins with",
		})
		return
	}
	cr := objects[0]
	d, version := l.definitionOf(cr, definitions)
	if d == nil {
		return
	}
	l.stateContract(d, version)
	l.fits(cr, d, version)
}

// definitionOf returns the definition of the default custom resource, or notes why there is none. Both results are nil then.
func (l *linter) definitionOf(
	cr *unstructured.Unstructured, definitions []definition,
) (*definition, *apiextensionsv1.CustomResourceDefinitionVersion) {
	kind, id := cr.GroupVersionKind(), inventory.IDOf(cr)
	note := func(rule, field, message, fix string) {
		l.inObject(l.cr, id, rule, diagnostics.Error, field, fmt.Sprintf("%s: %s", id, message), fix)
	}
	d := of(definitions, kind.GroupKind())
	if d == nil {
		fix := "add its CustomResourceDefinition to the manifest"
		if names := kinds(definitions); names != "" {
			fix += ", or use one that is there: " + names
		}
		note(RuleDefaultCRKind, "kind", "the manifest does not define this kind", fix)
		return nil, nil
	}
	if d.validator == nil {
		return nil, nil // its problems were reported already
	}
	version := d.version(kind.Version)
	if version == nil {
		note(RuleDefaultCRKind, "apiVersion", "is of version "+quoted(kind.Version)+", which is not served", "use one that is: "+d.served())
		return nil, nil
	}
	if d.crd.Spec.Scope == apiextensionsv1.ClusterScoped && cr.GetNamespace() != "" {
		note(RuleDefaultCR, "metadata.namespace", "has a namespace, and its kind has none", "remove it")
	}
	return d, version
}

func (l *linter) fits(cr *unstructured.Unstructured, d *definition, version *apiextensionsv1.CustomResourceDefinitionVersion) {
	id := inventory.IDOf(cr)
	for _, found := range d.validator.Validate(cr) {
		fix := "correct it: an API server refuses it"
		l.inObject(l.cr, id, RuleDefaultCR, diagnostics.Error, found.Path, found.Message, fix)
	}
	for _, field := range dropped(cr, version) {
		l.inObject(l.cr, id, RuleDefaultCR, diagnostics.Error, field,
			fmt.Sprintf("%s: the field is not in the schema", id), "correct its name, or remove it: an API server drops it")
	}
}

// dropped returns the fields that are unknown to the schema.
func dropped(cr *unstructured.Unstructured, version *apiextensionsv1.CustomResourceDefinitionVersion) []string {
	if version.Schema == nil || version.Schema.OpenAPIV3Schema == nil {
		return nil
	}
	converted := &apiextensions.JSONSchemaProps{}
	err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(version.Schema.OpenAPIV3Schema, converted, nil)
	if err != nil {
		return nil // the validator reported it
	}
	structural, err := structuralschema.NewStructural(converted)
	if err != nil {
		return nil
	}
	options := structuralschema.UnknownFieldPathOptions{TrackUnknownFieldPaths: true}
	return pruning.PruneWithOptions(cr.DeepCopy().Object, structural, true, options)
}
