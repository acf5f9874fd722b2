package simruntime

import (
	"bytes"
	"errors"
	"maps"
	"net/http"
	"reflect"
	"strings"

	jsonpatch "github.com/evanphx/json-patch/v5"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"k8s.io/apimachinery/pkg/util/validation/field"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
)

// changeLocked answers PUT and PATCH.
func (q *request) change() error {
	data, err := q.body()
	if err != nil {
		return err
	}
	unlock := q.runtime.lock()
	w, err := q.newWritingLocked()
	var o *object
	code := http.StatusOK
	if err == nil {
		w.patch = q.Method == http.MethodPatch
		kind, _, _ := strings.Cut(q.Header.Get("Content-Type"), ";")
		if live := w.table.objects[w.at]; live == nil && (!w.patch || types.PatchType(kind) != types.ApplyPatchType) {
			err = q.gone()
		} else if o, err = w.changeLocked(types.PatchType(kind), data, live, q.URL.Query().Get("force") == "true"); live == nil {
			code = http.StatusCreated
		}
	}
	unlock()
	if err != nil {
		return err
	}
	q.tell(code, o, w.table.kind, w.version)
	return nil
}

// changeLocked makes the next state of an object. The caller holds the lock.
func (w *writing) changeLocked(kind types.PatchType, data []byte, live *object, force bool) (*object, error) {
	if w.patch && kind == types.ApplyPatchType {
		return w.applyLocked(data, live, force)
	}
	after, err := w.next(kind, data, live)
	if err != nil {
		return nil, err
	}
	before, err := w.open(live)
	if err != nil {
		return nil, err
	}
	return w.updateLocked(live, before, after)
}

// open returns a stored object in the version that is written.
func (w *writing) open(live *object) (*document, error) {
	d, err := live.open()
	if err != nil || w.version == w.table.kind.stored {
		return d, err
	}
	return d.inVersion(w.table.kind.gvk(w.version).GroupVersion().String()), nil
}

// nextLocked returns what a PUT or a patch makes of an object.
func (w *writing) next(kind types.PatchType, data []byte, live *object) (*document, error) {
	if !w.patch {
		return readSent(data)
	}
	text := bytes.Join(live.in(w.table.kind, w.version, false), nil)
	var err error
	switch kind {
	case types.JSONPatchType:
		var patch jsonpatch.Patch
		if patch, err = jsonpatch.DecodePatch(data); err == nil {
			if data, err = patch.Apply(text); err != nil {
				return nil, statusError(http.StatusUnprocessableEntity, err.Error())
			}
		}
	case types.MergePatchType:
		data, err = jsonpatch.MergePatch(text, data)
	case types.StrategicMergePatchType:
		example, unknown := clientgoscheme.Scheme.New(w.table.kind.gvk(w.version))
		if unknown != nil {
			return nil, statusError(http.StatusUnsupportedMediaType, "the body of the request was in an unknown format")
		}
		data, err = strategicpatch.StrategicMergePatch(text, data, example)
	default:
		return nil, statusError(http.StatusUnsupportedMediaType, "the body of the request was in an unknown format: "+string(kind))
	}
	if err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	return readSent(data)
}

func readSent(data []byte) (*document, error) {
	d, err := read(data)
	if err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	return d, nil
}

// updateLocked stores a document in place of what was there. The caller holds the lock.
func (w *writing) updateLocked(live *object, before, after *document) (*object, error) {
	if err := w.sameObject(live, before, after); err != nil {
		return nil, err
	}
	if err := w.check(after); err != nil {
		return nil, err
	}
	w.keep(before, after)
	after, err := w.updated(before, after)
	if err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	return w.settle(live, before, after)
}

// sameObject refuses a write that is meant for another object, or for another state of it.
func (w *writing) sameObject(live *object, before, after *document) error {
	k := w.table.kind
	if after.GroupVersionKind() != before.GroupVersionKind() ||
		after.GetName() != before.GetName() || after.GetNamespace() != before.GetNamespace() {
		return apierrors.NewBadRequest("the object provided is another one than the URL names")
	}
	uid := after.GetUID()
	switch {
	case uid == "" || uid == before.GetUID():
	case w.patch:
		wrong := field.Invalid(field.NewPath("metadata", "uid"), uid, "field is immutable")
		return apierrors.NewInvalid(k.gvk(w.version).GroupKind(), live.name, field.ErrorList{wrong, wrong}) // told twice, as API servers do
	default:
		return apierrors.NewConflict(k.gr(), live.name,
			errors.New("the UID in the precondition is "+string(uid)+", the object's is "+string(before.GetUID())))
	}
	if version := after.GetResourceVersion(); version != "" && version != before.GetResourceVersion() {
		return apierrors.NewConflict(k.gr(), live.name,
			errors.New("the object has been modified; please apply your changes to the latest version and try again"))
	}
	return nil
}

// kept is what no write changes of metadata.
var kept = []string{
	"uid", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds", "generation", "resourceVersion", "selfLink",
}

// keep takes back what a write must not change: the status is written for itself alone.
func (w *writing) keep(before, after *document) {
	switch {
	case w.by:
	case w.subresource == "status":
		status, found := after.Object["status"]
		after.Object = maps.Clone(before.Object)
		if delete(after.Object, "status"); found {
			after.Object["status"] = status
		}
	case w.table.kind.status:
		status, found := before.Object["status"]
		if delete(after.Object, "status"); found {
			after.Object["status"] = status
		}
	}
	old, metadata := before.metadata(), maps.Clone(after.metadata())
	for _, key := range kept {
		delete(metadata, key)
		if value, found := old[key]; found {
			metadata[key] = value
		}
	}
	after.Object["metadata"] = metadata
}

// settle counts the generation and stores, unless nothing has changed.
func (w *writing) settle(live *object, before, after *document) (*object, error) {
	keepTimes(before, after)
	if reflect.DeepEqual(before.Object, after.Object) && sameManaged(before.managed, after.managed) {
		return live, nil
	}
	if w.table.kind.generation && !sameSpec(before.Object, after.Object, w.table.kind.status) {
		metadata := maps.Clone(after.metadata())
		metadata["generation"] = before.GetGeneration() + 1
		after.Object["metadata"] = metadata
	}
	return w.commitLocked(live, before, after)
}

// sameSpec reports whether two states differ in metadata and, where it stands for itself, status at most.
func sameSpec(a, b map[string]any, status bool) bool {
	rest := func(content map[string]any) map[string]any {
		content = maps.Clone(content)
		delete(content, "metadata")
		if status {
			delete(content, "status")
		}
		return content
	}
	return reflect.DeepEqual(rest(a), rest(b))
}

// keepTimes gives the managed fields that did not change the times that they had, and their order when none did.
func keepTimes(before, after *document) {
	same := len(before.managed) == len(after.managed)
	for i := range after.managed {
		found := false
		for k := range before.managed {
			if sameEntry(&before.managed[k], &after.managed[i]) {
				after.managed[i].Time, found = before.managed[k].Time, true
			}
		}
		same = same && found
	}
	if same {
		after.managed = before.managed
	}
}

func sameEntry(a, b *metav1.ManagedFieldsEntry) bool {
	return a.Manager == b.Manager && a.Operation == b.Operation && a.APIVersion == b.APIVersion && a.Subresource == b.Subresource &&
		bytes.Equal(rawFields(a), rawFields(b))
}

func rawFields(e *metav1.ManagedFieldsEntry) []byte {
	if e.FieldsV1 == nil {
		return nil
	}
	return e.FieldsV1.GetRawBytes()
}

func sameManaged(a, b []metav1.ManagedFieldsEntry) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if !sameEntry(&a[i], &b[i]) {
			return false
		}
	}
	return true
}
