package modulelint

import (
	"fmt"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kyma-project/lifecycle-manager/pkg/crdsafety"
	"github.com/kyma-project/lifecycle-manager/pkg/diagnostics"
	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

// namedDefinitions bounds how many kinds a message names.
const namedDefinitions = 5

// definition is a CustomResourceDefinition of the manifest.
type definition struct {
	id  inventory.ID
	crd *apiextensionsv1.CustomResourceDefinition
	// validator is nil when the definition is not valid.
	validator *crdsafety.Validator
}

var definitionKind = schema.GroupKind{Group: apiextensionsv1.GroupName, Kind: "CustomResourceDefinition"}

// definitions reads the CustomResourceDefinitions among the objects and judges each as an API server would.
func (l *linter) definitions(objects []*unstructured.Unstructured) []definition {
	var found []definition
	for _, object := range objects {
		id := inventory.IDOf(object)
		if id.GroupKind() != definitionKind {
			continue
		}
		note := func(field, message, fix string) {
			l.inObject(l.manifest, id, RuleDefinition, diagnostics.Error, field, fmt.Sprintf("%s: %s", id, message), fix)
		}
		crd := &apiextensionsv1.CustomResourceDefinition{}
		err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, crd)
		if version := object.GroupVersionKind().Version; version != "v1" {
			note("apiVersion", "is of version "+quoted(version)+", which no API server serves any more", "write apiextensions.k8s.io/v1")
			found = append(found, definition{id: id, crd: crd}) // what an old version defines is known, as far as it can be read
			continue
		}
		if err != nil {
			note("spec", "is not a valid definition: "+err.Error(), "generate it from its types")
			found = append(found, definition{id: id, crd: crd})
			continue
		}
		for _, problem := range refusals(crd) {
			note(problem.field, problem.message, "correct it: an API server refuses it")
		}
		validator, err := crdsafety.NewValidator(crd)
		if err != nil {
			note("spec.versions", err.Error(), "an API server refuses it")
		}
		found = append(found, definition{id: id, crd: crd, validator: validator})
	}
	return found
}

type refusal struct{ field, message string }

// refusals returns the objections of an API server to a definition, apart from its schemas.
func refusals(crd *apiextensionsv1.CustomResourceDefinition) []refusal {
	var found []refusal
	spec := &crd.Spec
	if want := spec.Names.Plural + "." + spec.Group; crd.Name != want {
		found = append(found, refusal{"metadata.name", "must be called " + quoted(want) + ", by its plural and its group"})
	}
	if spec.Scope != apiextensionsv1.NamespaceScoped && spec.Scope != apiextensionsv1.ClusterScoped {
		found = append(found, refusal{"spec.scope", "has the scope " + quoted(string(spec.Scope)) + " and must have Namespaced or Cluster"})
	}
	if spec.Names.Kind == "" || spec.Names.Plural == "" {
		found = append(found, refusal{"spec.names", "lacks kind or plural"})
	}
	stored := 0
	for i := range spec.Versions {
		if spec.Versions[i].Storage {
			stored++
		}
		if schema := spec.Versions[i].Schema; schema == nil || schema.OpenAPIV3Schema == nil {
			found = append(found, refusal{fmt.Sprintf("spec.versions[%d]", i), "has a version without a schema"})
		}
	}
	if stored != 1 {
		found = append(found, refusal{"spec.versions", fmt.Sprintf("has %d versions with storage: true and must have one", stored)})
	}
	return found
}

// of returns the definition of a kind; nil when there is none.
func of(definitions []definition, kind schema.GroupKind) *definition {
	i := slices.IndexFunc(definitions, func(d definition) bool { return d.kind() == kind })
	if i < 0 {
		return nil
	}
	return &definitions[i]
}

func (d *definition) kind() schema.GroupKind {
	return schema.GroupKind{Group: d.crd.Spec.Group, Kind: d.crd.Spec.Names.Kind}
}

// version returns a version that is served; nil when it is not.
func (d *definition) version(name string) *apiextensionsv1.CustomResourceDefinitionVersion {
	versions := d.crd.Spec.Versions
	i := slices.IndexFunc(versions, func(v apiextensionsv1.CustomResourceDefinitionVersion) bool { return v.Name == name && v.Served })
	if i < 0 {
		return nil
	}
	return &versions[i]
}

// served lists the served versions.
func (d *definition) served() string {
	var names []string
	for i := range d.crd.Spec.Versions {
		if version := &d.crd.Spec.Versions[i]; version.Served {
			names = append(names, version.Name)
		}
	}
	return strings.Join(names, ", ")
}

// kinds lists the defined kinds, only the first of them when there are many.
func kinds(definitions []definition) string {
	names := make([]string, 0, len(definitions))
	for i := range definitions {
		names = append(names, definitions[i].kind().String())
	}
	slices.Sort(names)
	if len(names) > namedDefinitions {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:namedDefinitions], ", "), len(names)-namedDefinitions)
	}
	return strings.Join(names, ", ")
}

// associated judges the kinds that users create with the module, if the manifest defines other kinds of their group: it may be a mistake.
// Kinds of other groups may come from anywhere.
func (l *linter) associated(definitions []definition) {
	for i, kind := range l.Config.AssociatedResources {
		if !slices.ContainsFunc(definitions, func(d definition) bool { return d.crd.Spec.Group == kind.Group }) {
			continue
		}
		field := fmt.Sprintf("associatedResources[%d]", i)
		d := of(definitions, schema.GroupKind{Group: kind.Group, Kind: kind.Kind})
		switch {
		case d == nil:
			l.inConfig(RuleAssociated, diagnostics.Warning, field,
				fmt.Sprintf("the manifest does not define %s.%s", kind.Kind, kind.Group), "name one that it defines: "+kinds(definitions))
		case d.version(kind.Version) == nil:
			l.inConfig(RuleAssociated, diagnostics.Warning, field,
				fmt.Sprintf("%s.%s is not served in version %s", kind.Kind, kind.Group, kind.Version), "name one that is: "+d.served())
		}
	}
}
