package simruntime

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/apimachinery/pkg/version"
	"k8s.io/kube-openapi/pkg/validation/spec"
)

// definitions are the kinds that CustomResourceDefinitions define. Thousands of runtimes get the same ones: each is read once.
type definitions struct {
	types *typing
	mu    sync.Mutex
	kinds map[[sha256.Size]byte]*kind
}

// shape is what a definition says of one version of its kind.
type shape struct {
	structural *structuralschema.Structural // nil when everything is allowed
	converter  managedfields.TypeConverter
	own, sub   func() (*managedfields.FieldManager, error)
}

// fillIn sets defaults.
func (s *shape) fillIn(content map[string]any) {
	if s.structural != nil {
		defaulting.PruneNonNullableNullsWithoutDefaults(content, s.structural)
		defaulting.Default(content, s.structural)
	}
}

// prune drops what the schema does not know, and names it.
func (s *shape) prune(content map[string]any) []string {
	if s.structural == nil {
		return nil
	}
	return pruning.PruneWithOptions(content, s.structural, true, structuralschema.UnknownFieldPathOptions{TrackUnknownFieldPaths: true})
}

// read returns the kind that the spec of a definition defines.
func (d *definitions) read(definition any) (*kind, error) {
	data, err := json.Marshal(definition)
	if err != nil {
		return nil, err
	}
	digest := sha256.Sum256(data)
	d.mu.Lock()
	defer d.mu.Unlock()
	if known := d.kinds[digest]; known != nil {
		return known, nil
	}
	var s apiextensionsv1.CustomResourceDefinitionSpec
	if err := json.Unmarshal(data, &s); err != nil {
		return nil, err
	}
	k, err := d.define(&s)
	if err != nil {
		return nil, err
	}
	if d.kinds == nil {
		d.kinds = make(map[[sha256.Size]byte]*kind)
	}
	d.kinds[digest] = k
	return k, nil
}

func (d *definitions) define(s *apiextensionsv1.CustomResourceDefinitionSpec) (*kind, error) {
	k := &kind{
		group: s.Group, resource: s.Names.Plural, singular: s.Names.Singular, name: s.Names.Kind, short: s.Names.ShortNames,
		namespaced: s.Scope == apiextensionsv1.NamespaceScoped, generation: true, shapes: make(map[string]*shape),
	}
	if k.group == "" || k.resource == "" || k.name == "" {
		return nil, errors.New("group, plural and kind must be set")
	}
	if k.singular == "" {
		k.singular = k.name
	}
	for i := range s.Versions {
		v := &s.Versions[i]
		if v.Storage {
			k.stored = v.Name
		}
		if v.Served {
			k.versions = append(k.versions, v.Name)
			k.status = k.status || v.Subresources != nil && v.Subresources.Status != nil
		}
	}
	if k.stored == "" {
		return nil, errors.New("no version is stored")
	}
	slices.SortFunc(k.versions, func(a, b string) int { return version.CompareKubeAwareVersionStrings(b, a) })
	for i := range s.Versions {
		made, err := d.shape(k, &s.Versions[i])
		if err != nil {
			return nil, fmt.Errorf("version %s: %w", s.Versions[i].Name, err)
		}
		k.shapes[s.Versions[i].Name] = made
	}
	k.fields = func(version, subresource string) (*managedfields.FieldManager, error) {
		if subresource != "" {
			return k.shapes[version].sub()
		}
		return k.shapes[version].own()
	}
	return k, nil
}

func (d *definitions) shape(k *kind, v *apiextensionsv1.CustomResourceDefinitionVersion) (*shape, error) {
	s := &shape{converter: d.types.deduced}
	if v.Schema != nil && v.Schema.OpenAPIV3Schema != nil {
		var internal apiextensions.JSONSchemaProps
		err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(v.Schema.OpenAPIV3Schema, &internal, nil)
		if err != nil {
			return nil, err
		}
		if s.structural, err = structuralschema.NewStructural(&internal); err != nil {
			return nil, err
		}
		if s.converter, err = converterOf(k.gvk(v.Name), s.structural); err != nil {
			return nil, err
		}
	}
	manager := func(subresource string) func() (*managedfields.FieldManager, error) {
		return sync.OnceValues(func() (*managedfields.FieldManager, error) {
			return newManager(k, v.Name, subresource, ownType{s.converter})
		})
	}
	s.own, s.sub = manager(""), manager("status")
	return s, nil
}

// converterOf makes types of a schema as API servers do: with the metadata that all objects have.
func converterOf(gvk schema.GroupVersionKind, s *structuralschema.Structural) (managedfields.TypeConverter, error) {
	root := s.ToKubeOpenAPI()
	if root.Properties == nil {
		root.Properties = map[string]spec.Schema{}
	}
	root.Properties["apiVersion"] = *spec.StringProperty()
	root.Properties["kind"] = *spec.StringProperty()
	root.Properties["metadata"] = *spec.RefSchema("#/definitions/" + metadataModel)
	root.AddExtension("x-kubernetes-group-version-kind", []any{
		map[string]any{"group": gvk.Group, "version": gvk.Version, "kind": gvk.Kind},
	})
	models := map[string]*spec.Schema{"root": root}
	maps.Copy(models, metadataModels)
	return managedfields.NewTypeConverter(models, false)
}

const metadataModel = "metadata"

// metadataModels are how metadata merges: labels and annotations key by key, finalizers one by one, owners by their UID.
var metadataModels = func() map[string]*spec.Schema {
	list := func(kind string, items *spec.Schema, keys ...any) spec.Schema {
		l := *spec.ArrayProperty(items)
		l.AddExtension("x-kubernetes-list-type", kind)
		if len(keys) > 0 {
			l.AddExtension("x-kubernetes-list-map-keys", keys)
		}
		return l
	}
	text, number, flag := *spec.StringProperty(), *spec.Int64Property(), *spec.BooleanProperty()
	owner := &spec.Schema{SchemaProps: spec.SchemaProps{Type: spec.StringOrArray{"object"}, Properties: map[string]spec.Schema{
		"apiVersion": text, "kind": text, "name": text, "uid": text, "controller": flag, "blockOwnerDeletion": flag,
	}}}
	owner.AddExtension("x-kubernetes-map-type", "atomic")
	return map[string]*spec.Schema{
		"owner": owner,
		metadataModel: {SchemaProps: spec.SchemaProps{Type: spec.StringOrArray{"object"}, Properties: map[string]spec.Schema{
			"name": text, "generateName": text, "namespace": text, "uid": text, "resourceVersion": text, "selfLink": text,
			"creationTimestamp": text, "deletionTimestamp": text, "generation": number, "deletionGracePeriodSeconds": number,
			"labels": *spec.MapProperty(spec.StringProperty()), "annotations": *spec.MapProperty(spec.StringProperty()),
			"finalizers":      list("set", spec.StringProperty()),
			"ownerReferences": list("map", spec.RefSchema("#/definitions/owner"), "uid"),
		}}},
	}
}()
