package simruntime

import (
	"fmt"
	"io"
	"maps"
	"net/http"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilrand "k8s.io/apimachinery/pkg/util/rand"
	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/yaml"
)

// largest is how long a body may be.
const largest = 3 << 20

// body reads what was sent as JSON.
func (q *request) body() ([]byte, error) {
	data, err := io.ReadAll(http.MaxBytesReader(nil, q.Body, largest))
	if err != nil {
		return nil, apierrors.NewRequestEntityTooLargeError(err.Error())
	}
	kind := q.Header.Get("Content-Type")
	if strings.Contains(kind, "protobuf") || strings.Contains(kind, "cbor") {
		return nil, statusError(http.StatusUnsupportedMediaType, kind+" is not understood here; send JSON")
	}
	if strings.Contains(kind, "yaml") && !strings.HasPrefix(strings.TrimSpace(string(data)), "{") {
		if data, err = yaml.YAMLToJSON(data); err != nil {
			return nil, apierrors.NewBadRequest("error decoding YAML: " + err.Error())
		}
	}
	return data, nil
}

// writing is what every write has.
type writing struct {
	runtime                *Runtime
	table                  *table
	version                string // of the kind, as it is written
	at                     place
	manager                string
	subresource            string
	strict, dry, patch, by bool // by: from inside, where status and the rest are written together
}

// newWritingLocked reads what is common to writes. The caller holds the lock.
func (q *request) newWritingLocked() (*writing, error) {
	t, version, err := q.tableLocked()
	if err != nil {
		return nil, err
	}
	query := q.URL.Query()
	w := &writing{
		runtime: q.runtime, table: t, version: version, at: place{q.namespace, q.name}, subresource: q.subresource,
		manager: query.Get("fieldManager"), strict: query.Get("fieldValidation") == metav1.FieldValidationStrict,
		dry: query.Get("dryRun") == metav1.DryRunAll,
	}
	if w.manager == "" {
		w.manager, _, _ = strings.Cut(q.UserAgent(), "/")
	}
	return w, nil
}

// createLocked answers a POST.
func (q *request) create() error {
	data, err := q.body()
	if err != nil {
		return err
	}
	d, err := read(data)
	if err != nil {
		return apierrors.NewBadRequest("the object provided is unrecognized: " + err.Error())
	}
	unlock := q.runtime.lock()
	w, err := q.newWritingLocked()
	if err == nil && (q.subresource != "" || q.name != "") {
		err = apierrors.NewMethodNotSupported(q.gr(), q.verb)
	}
	var o *object
	if err == nil {
		o, err = w.createLocked(d)
	}
	unlock()
	if err != nil {
		return err
	}
	q.tell(http.StatusCreated, o, w.table.kind, w.version)
	return nil
}

// createLocked makes an object of a document. The caller holds the lock.
func (w *writing) createLocked(d *document) (*object, error) {
	k := w.table.kind
	if err := w.identify(d); err != nil {
		return nil, err
	}
	if w.table.objects[w.at] != nil {
		return nil, apierrors.NewAlreadyExists(k.gr(), w.at.name)
	}
	if d.GetResourceVersion() != "" {
		return nil, apierrors.NewBadRequest("resourceVersion should not be set on objects to be created")
	}
	if err := w.check(d); err != nil {
		return nil, err
	}
	w.born(d)
	managed, err := w.updated(w.empty(), d)
	if err != nil {
		return nil, apierrors.NewBadRequest("strict decoding error: " + err.Error())
	}
	return w.commitLocked(nil, nil, managed)
}

// identify looks whether a document is what the path says, and where it goes.
func (w *writing) identify(d *document) error {
	k := w.table.kind
	gvk := k.gvk(w.version)
	if found := d.GroupVersionKind(); found != gvk {
		return apierrors.NewBadRequest(fmt.Sprintf("the object is a %s, and a %s is written here", found, gvk))
	}
	switch namespace := d.GetNamespace(); {
	case namespace != "" && namespace != w.at.namespace:
		return apierrors.NewBadRequest("the namespace of the provided object does not match the namespace sent on the request")
	case k.namespaced:
		d.SetNamespace(w.at.namespace)
	}
	if d.GetName() == "" && d.GetGenerateName() != "" && w.at.name == "" {
		d.SetName(d.GetGenerateName() + utilrand.String(5))
	}
	if w.at.name != "" && d.GetName() != w.at.name {
		return apierrors.NewBadRequest(fmt.Sprintf("the name of the object (%s) does not match the name on the URL (%s)", d.GetName(), w.at.name))
	}
	w.at.name = d.GetName()
	if w.at.name == "" {
		required := field.Required(field.NewPath("metadata", "name"), "name or generateName is required")
		return apierrors.NewInvalid(gvk.GroupKind(), "", field.ErrorList{required})
	}
	return w.runtime.inhabitable(k, w.at)
}

var namespaces = schema.GroupResource{Resource: "namespaces"}

// inhabitable says that an object may be made in its namespace.
func (r *Runtime) inhabitable(k *kind, at place) error {
	if !k.namespaced {
		return nil
	}
	home := r.findLocked(namespaces).objects[place{name: at.namespace}]
	if home == nil {
		return apierrors.NewNotFound(namespaces, at.namespace)
	}
	if !home.leaving {
		return nil
	}
	forbidden := apierrors.NewForbidden(k.gr(), at.name,
		fmt.Errorf("unable to create new content in namespace %s because it is being terminated", at.namespace))
	forbidden.ErrStatus.Details.Causes = append(forbidden.ErrStatus.Details.Causes, metav1.StatusCause{
		Type: "NamespaceTerminating", Message: "namespace " + at.namespace + " is being terminated", Field: "metadata.namespace",
	})
	return forbidden
}

// check drops what the schema of a defined kind does not know, or refuses it, and nulls.
func (w *writing) check(d *document) error {
	withoutNulls(d.Object)
	k := w.table.kind
	if s := k.shapes[w.version]; s != nil {
		if unknown := s.prune(d.Object); len(unknown) > 0 && w.strict {
			return apierrors.NewBadRequest(fmt.Sprintf("strict decoding error: unknown field %q", unknown))
		}
		k.fillIn(d.Object)
	}
	return nil
}

func withoutNulls(content map[string]any) {
	for key, value := range content {
		switch value := value.(type) {
		case nil:
			delete(content, key)
		case map[string]any:
			withoutNulls(value)
		}
	}
}

// born fills in what an API server gives a new object.
func (w *writing) born(d *document) {
	k := w.table.kind
	metadata := maps.Clone(d.metadata())
	d.Object["metadata"] = metadata
	for _, key := range []string{"resourceVersion", "selfLink", "deletionTimestamp", "deletionGracePeriodSeconds", "generation"} {
		delete(metadata, key)
	}
	metadata["uid"] = string(uuid.NewUUID())
	metadata["creationTimestamp"] = now()
	if k.generation {
		metadata["generation"] = int64(1)
	}
	if k.status && !w.by {
		delete(d.Object, "status")
	}
	if k.gr() == namespaces {
		settle(d)
	}
}

func now() string { return time.Now().UTC().Format(time.RFC3339) }

// empty returns what a new object is compared with.
func (w *writing) empty() *document {
	d := &document{Unstructured: unstructured.Unstructured{Object: map[string]any{}}}
	d.SetGroupVersionKind(w.table.kind.gvk(w.version))
	return d
}

// updated notes in the managed fields what a write changed that declares nothing.
func (w *writing) updated(before, after *document) (*document, error) {
	fields, err := w.table.kind.fields(w.version, w.subresource)
	if err != nil {
		return nil, err
	}
	obj, err := fields.Update(before, after, w.manager)
	if err != nil {
		return nil, err
	}
	d, ok := obj.(*document)
	if !ok {
		return nil, fmt.Errorf("an object became a %T", obj)
	}
	return d, nil
}

// commitLocked stores a document, unless it is a dry run. The caller holds the lock.
func (w *writing) commitLocked(live *object, before, after *document) (*object, error) {
	k := w.table.kind
	if stored := k.gvk(k.stored).GroupVersion().String(); after.GetAPIVersion() != stored {
		after = after.inVersion(stored)
	}
	if w.dry {
		version := w.runtime.version
		if live != nil {
			version = live.version
		}
		return after.seal(version)
	}
	if before != nil && after.GetDeletionTimestamp() != nil && len(after.GetFinalizers()) == 0 && !w.runtime.occupied(k, w.at) {
		if err := w.runtime.dropLocked(w.table, live, after); err != nil {
			return nil, err
		}
		return after.seal(live.version) // the writer is told the version of before
	}
	return w.runtime.putLocked(w.table, live, after)
}
