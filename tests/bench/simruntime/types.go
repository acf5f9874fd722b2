package simruntime

import (
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/client-go/applyconfigurations"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/kube-openapi/pkg/validation/spec"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/typed"
)

// typing tells server-side apply how objects are made: which lists are maps by a key, and what is atomic.
type typing struct {
	given    managedfields.TypeConverter // of Options.Schema; may be nil
	builtin  managedfields.TypeConverter // of client-go
	deduced  managedfields.TypeConverter
	document []byte // Options.Schema

	mu       sync.Mutex
	managers map[managerKey]*managedfields.FieldManager
}

type managerKey struct {
	gvk         schema.GroupVersionKind
	subresource string
}

func newTypes(document []byte) (*typing, error) {
	t := &typing{
		builtin:  applyconfigurations.NewTypeConverter(clientgoscheme.Scheme),
		deduced:  managedfields.NewDeducedTypeConverter(),
		managers: make(map[managerKey]*managedfields.FieldManager),
		document: document,
	}
	if len(document) == 0 {
		return t, nil
	}
	var file struct {
		Definitions map[string]*spec.Schema `json:"definitions"` // v2
		Components  struct {
			Schemas map[string]*spec.Schema `json:"schemas"` // v3
		} `json:"components"`
	}
	if err := json.Unmarshal(document, &file); err != nil {
		return nil, fmt.Errorf("the OpenAPI document cannot be read: %w", err)
	}
	models := file.Definitions
	if len(models) == 0 {
		models = file.Components.Schemas
	}
	if len(models) == 0 {
		return nil, errors.New("the OpenAPI document defines nothing")
	}
	var err error
	t.given, err = managedfields.NewTypeConverter(models, false)
	return t, err
}

// of finds the converter of one of Kubernetes' own kinds.
func (t *typing) of(gvk schema.GroupVersionKind) managedfields.TypeConverter {
	probe := &unstructured.Unstructured{Object: map[string]any{}}
	probe.SetGroupVersionKind(gvk)
	for _, converter := range []managedfields.TypeConverter{t.given, t.builtin} {
		if converter == nil {
			continue
		}
		if _, err := converter.ObjectToTyped(probe); err == nil {
			return ownType{converter}
		}
	}
	return ownType{t.deduced}
}

// manager returns the field manager of one of Kubernetes' own kinds.
func (t *typing) manager(k *kind, subresource string) (*managedfields.FieldManager, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	key := managerKey{k.gvk(k.stored), subresource}
	if known := t.managers[key]; known != nil {
		return known, nil
	}
	made, err := newManager(k, k.stored, subresource, t.of(key.gvk))
	if err == nil {
		t.managers[key] = made
	}
	return made, err
}

// newManager puts the library together as API servers do.
func newManager(k *kind, version, subresource string, converter managedfields.TypeConverter) (*managedfields.FieldManager, error) {
	gvk := k.gvk(version)
	reset := map[fieldpath.APIVersion]fieldpath.Filter{}
	var ignored *fieldpath.Set
	switch {
	case subresource != "": // everything but the status
		ignored = fieldpath.NewSet(fieldpath.MakePathOrDie("spec"), fieldpath.MakePathOrDie("metadata"))
	case k.status:
		ignored = fieldpath.NewSet(fieldpath.MakePathOrDie("status"))
	}
	if ignored != nil {
		for _, version := range k.versions {
			reset[fieldpath.APIVersion(k.gvk(version).GroupVersion().String())] = fieldpath.NewExcludeSetFilter(ignored)
		}
	}
	c := conversion{k}
	return managedfields.NewDefaultCRDFieldManager(converter, c, c, c, gvk, gvk.GroupVersion(), subresource, reset)
}

// ownType lets a converter work on documents.
type ownType struct{ managedfields.TypeConverter }

// ObjectToTyped implements managedfields.TypeConverter.
func (o ownType) ObjectToTyped(obj runtime.Object, options ...typed.ValidationOptions) (*typed.TypedValue, error) {
	if d, ok := obj.(*document); ok {
		obj = &d.Unstructured
	}
	return o.TypeConverter.ObjectToTyped(obj, options...)
}

// TypedToObject implements managedfields.TypeConverter.
func (o ownType) TypedToObject(value *typed.TypedValue) (runtime.Object, error) {
	obj, err := o.TypeConverter.TypedToObject(value)
	if found, ok := obj.(*unstructured.Unstructured); ok && err == nil {
		return &document{Unstructured: *found}, nil
	}
	return obj, err
}

// conversion is what a field manager asks of the versions of a kind: they differ by name alone.
type conversion struct{ *kind }

// ConvertToVersion implements runtime.ObjectConvertor.
func (c conversion) ConvertToVersion(in runtime.Object, target runtime.GroupVersioner) (runtime.Object, error) {
	gv, ok := target.(schema.GroupVersion)
	d, own := in.(*document)
	if !ok || !own {
		return nil, fmt.Errorf("%T cannot be converted to %v", in, target)
	}
	if d.GetAPIVersion() == gv.String() {
		return d, nil
	}
	if c.version(gv.Version) == "" {
		return nil, runtime.NewNotRegisteredErrForTarget("simruntime", nil, target)
	}
	return d.inVersion(gv.String()), nil
}

// Convert implements runtime.ObjectConvertor.
func (conversion) Convert(in, out, _ any) error {
	return fmt.Errorf("%T is not converted to %T", in, out)
}

// ConvertFieldLabel implements runtime.ObjectConvertor.
func (conversion) ConvertFieldLabel(_ schema.GroupVersionKind, label, value string) (string, string, error) {
	return label, value, nil
}

// Default implements runtime.ObjectDefaulter.
func (c conversion) Default(in runtime.Object) {
	if d, ok := in.(*document); ok {
		c.fillIn(d.Object)
	}
}

// New implements runtime.ObjectCreater.
func (conversion) New(gvk schema.GroupVersionKind) (runtime.Object, error) {
	d := &document{Unstructured: unstructured.Unstructured{Object: map[string]any{}}}
	d.SetGroupVersionKind(gvk)
	return d, nil
}
