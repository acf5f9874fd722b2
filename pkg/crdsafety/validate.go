package crdsafety

import (
	"fmt"
	"time"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/listtype"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/objectmeta"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	celconfig "k8s.io/apiserver/pkg/apis/cel"

	"github.com/kyma-project/lifecycle-manager/pkg/excerpt"
)

// objectFindings bounds the findings for one object. More add nothing, and there may be thousands of objects.
const objectFindings = 10

// Validator checks whether existing objects fit a new definition. Several goroutines may use it at once.
type Validator struct {
	name     string // of the definition
	kind     schema.GroupKind
	versions map[string]*versionSchema
	storage  string
	converts bool // by a webhook
	keeps    bool // keeps fields that no schema names: spec.preserveUnknownFields
}

// versionSchema holds the API server's representations of the schema of one version.
type versionSchema struct {
	structural *structuralschema.Structural // nil when everything is accepted
	openAPI    validation.SchemaValidator
	rules      *cel.Validator
}

// NewValidator prepares the schemas of a definition. The error names the schema that the API server would not accept.
func NewValidator(after *apiextensionsv1.CustomResourceDefinition) (*Validator, error) {
	spec := &after.Spec
	v := &Validator{
		name:     after.Name,
		kind:     schema.GroupKind{Group: spec.Group, Kind: spec.Names.Kind},
		versions: map[string]*versionSchema{},
		converts: converts(spec),
		keeps:    spec.PreserveUnknownFields,
	}
	if storage := storageOf(spec); storage != nil {
		v.storage = storage.Name
	}
	for i := range spec.Versions {
		prepared, err := prepare(spec.Versions[i].Schema)
		if err != nil {
			return nil, fmt.Errorf("CustomResourceDefinition %s: the schema of version %s cannot be used, correct it: %w",
				quoted(after.Name), quoted(spec.Versions[i].Name), err)
		}
		v.versions[spec.Versions[i].Name] = prepared
	}
	return v, nil
}

func prepare(version *apiextensionsv1.CustomResourceValidation) (*versionSchema, error) {
	if version == nil || version.OpenAPIV3Schema == nil {
		return &versionSchema{}, nil
	}
	converted := &apiextensions.JSONSchemaProps{}
	err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(version.OpenAPIV3Schema, converted, nil)
	if err != nil {
		return nil, err
	}
	structural, err := structuralschema.NewStructural(converted)
	if err != nil {
		return nil, err
	}
	if errs := structuralschema.ValidateStructural(nil, structural); len(errs) > 0 {
		return nil, errs.ToAggregate()
	}
	structural = structural.DeepCopy() // parts of it belong to the definition
	if err := defaulting.PruneDefaults(structural); err != nil {
		return nil, err
	}
	silence(structural)
	openAPI, _, err := validation.NewSchemaValidator(converted)
	if err != nil {
		return nil, err
	}
	return &versionSchema{structural, openAPI, cel.NewValidator(structural, true, celconfig.PerCallLimit)}, nil
}

// silence drops the expressions that produce the message of a rule: they may repeat a value of the object.
func silence(structural *structuralschema.Structural) {
	visitor := structuralschema.Visitor{
		Structural: func(s *structuralschema.Structural) bool {
			for i := range s.XValidations {
				s.XValidations[i].MessageExpression = ""
			}
			return len(s.XValidations) > 0
		},
		NestedValueValidation: func(s *structuralschema.NestedValueValidation) bool {
			for i := range s.ValidationExtensions.XValidations {
				s.ValidationExtensions.XValidations[i].MessageExpression = ""
			}
			return len(s.ValidationExtensions.XValidations) > 0
		},
	}
	visitor.Visit(structural)
}

// Validate returns why an existing object does not fit; nothing when it does. The object is not changed, and no value of it is quoted.
//
//  1. The object is judged in the version in which it was read. When that version is gone and nothing converts, it is judged in the
//     storage version: the API server only changes apiVersion then. When a webhook would have to convert it, the result is unknown, which
//     is a finding.
//  2. As in the API server on reading, unknown fields are dropped and defaults filled in first.
//  3. Schema, embedded resources and lists are checked, then the rules, which require that the schema holds. Transition rules are
//     skipped: nothing changes in the object.
//
// At most 10 findings are returned. A Validator of the old definition shows whether an object was already invalid.
func (v *Validator) Validate(obj *unstructured.Unstructured) (findings []Finding) {
	if obj == nil {
		return nil
	}
	version := obj.GroupVersionKind().Version
	report := func(path, message string) {
		if len(findings) < objectFindings {
			findings = append(findings, Finding{
				Rule: ObjectInvalid, Definition: v.name, Version: version, Path: path, Message: nameOf(obj) + " " + message,
			})
		}
	}
	defer func() {
		if recover() != nil { // the libraries assume that it holds JSON
			report("", "cannot be read")
		}
	}()
	if obj.GroupVersionKind().GroupKind() != v.kind {
		report("", "is not of kind "+v.kind.String())
		return findings
	}
	judged, found := v.versions[version]
	if !found && !v.converts {
		version = v.storage
		judged, found = v.versions[version]
	}
	if !found {
		report("", "cannot be checked: only the webhook of the new definition converts it from this version")
		return findings
	}
	for _, problem := range v.problems(judged, v.asRead(obj, version, judged)) {
		report(problem.path, problem.message)
	}
	return findings
}

// asRead returns the object as the API server would serve it with the new definition.
func (v *Validator) asRead(obj *unstructured.Unstructured, version string, judged *versionSchema) map[string]any {
	read := obj.DeepCopy()
	read.SetGroupVersionKind(v.kind.WithVersion(version))
	if judged.structural == nil {
		return read.Object
	}
	if !v.keeps {
		pruning.Prune(read.Object, judged.structural, true)
		defaulting.PruneNonNullableNullsWithoutDefaults(read.Object, judged.structural)
	}
	defaulting.Default(read.Object, judged.structural)
	return read.Object
}

func (v *Validator) problems(judged *versionSchema, object map[string]any) []problem {
	if judged.structural == nil {
		return nil
	}
	errs := validation.ValidateCustomResource(nil, object, judged.openAPI)
	for _, err := range objectmeta.Validate(endless{}, nil, object, judged.structural, false) {
		err.Detail = "this is no valid part of an embedded resource" // the library's text quotes the value
		errs = append(errs, err)
	}
	errs = append(errs, listtype.ValidateListSetsAndMaps(nil, judged.structural, object)...)
	if len(errs) == 0 && judged.rules != nil {
		errs, _ = judged.rules.Validate(endless{}, nil, judged.structural, object, nil, celconfig.RuntimeCELCostBudget)
	}
	return explain(errs)
}

// nameOf returns kind, namespace and name.
func nameOf(obj *unstructured.Unstructured) string {
	name := obj.GetName()
	if obj.GetNamespace() != "" {
		name = obj.GetNamespace() + "/" + name
	}
	return quoted(obj.GetKind()) + " " + excerpt.Cut(name, 2*nameBytes)
}

// endless is the context that the libraries require. Nothing here waits and rules have a budget, so it never ends.
type endless struct{}

func (endless) Deadline() (deadline time.Time, ok bool) { return time.Time{}, false }
func (endless) Done() <-chan struct{}                   { return nil }
func (endless) Err() error                              { return nil }
func (endless) Value(any) any                           { return nil }
