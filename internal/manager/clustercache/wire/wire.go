package wire

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	kjson "sigs.k8s.io/json"
)

// The parts of an API server's data that are read here. Keys are matched case-sensitively, as the API server itself does: a custom resource
// may carry a "Metadata" besides its metadata.

// Depth is how much of an object is read.
type Depth int

const (
	// DepthMetadata reads metadata only.
	DepthMetadata Depth = iota
	// DepthFull reads spec and status as well.
	DepthFull
	// DepthWhole keeps the whole text as well.
	DepthWhole
)

// Event is one event of a watch stream.
type Event struct {
	Type   string `json:"type"`
	Object Object `json:"object"`
}

// Object is what is read of an object of the API.
type Object struct {
	APIVersion string          `json:"apiVersion"`
	Kind       string          `json:"kind"`
	Metadata   Metadata        `json:"metadata"`
	Spec       json.RawMessage `json:"spec"`
	Status     json.RawMessage `json:"status"`

	// Whole is the text of the object, where it is read at DepthWhole.
	Whole json.RawMessage `json:"-"`
}

// wholeObject is an Object with its whole text.
type wholeObject struct{ Object }

// UnmarshalJSON implements json.Unmarshaler.
func (o *wholeObject) UnmarshalJSON(data []byte) error {
	o.Whole = bytes.Clone(data)
	return ReadValue(data, &o.Object)
}

type wholeEvent struct {
	Type   string      `json:"type"`
	Object wholeObject `json:"object"`
}

// metadataObject is a wireObject without the fields that metadata-only streams lack.
type metadataObject struct {
	Metadata Metadata `json:"metadata"`
}

type metadataEvent struct {
	Type   string         `json:"type"`
	Object metadataObject `json:"object"`
}

// Metadata is what is read of an object's metadata.
type Metadata struct {
	Name              string            `json:"name"`
	Namespace         string            `json:"namespace"`
	UID               types.UID         `json:"uid"`
	ResourceVersion   string            `json:"resourceVersion"`
	Generation        int64             `json:"generation"`
	CreationTimestamp string            `json:"creationTimestamp"`
	DeletionTimestamp string            `json:"deletionTimestamp"`
	Finalizers        []string          `json:"finalizers"`
	Labels            json.RawMessage   `json:"labels"` // read of few kinds
	Annotations       map[string]string `json:"annotations"`
	ManagedFields     []ManagedFields   `json:"managedFields"`
}

// ManagedFields is one entry of metadata.managedFields.
type ManagedFields struct {
	Manager     string                            `json:"manager"`
	Operation   metav1.ManagedFieldsOperationType `json:"operation"`
	Subresource string                            `json:"subresource"`
	Time        string                            `json:"time"`
	FieldsV1    json.RawMessage                   `json:"fieldsV1"`
}

// List is the metadata of a list; its items are read one by one.
type List struct {
	ResourceVersion string `json:"resourceVersion"`
	Continue        string `json:"continue"`
}

// ReadEvent reads only the needed part of one event of a stream.
func ReadEvent(data []byte, depth Depth) (Event, error) {
	switch depth {
	case DepthWhole:
		var e wholeEvent
		err := ReadValue(data, &e)
		return Event{Type: e.Type, Object: e.Object.Object}, err
	case DepthFull:
		var e Event
		err := ReadValue(data, &e)
		return e, err
	case DepthMetadata:
	}
	var e metadataEvent
	err := ReadValue(data, &e)
	return Event{Type: e.Type, Object: Object{Metadata: e.Object.Metadata}}, err
}

// ReadFailure reads the Status of an ERROR event.
func ReadFailure(data []byte) *metav1.Status {
	var e struct {
		Object metav1.Status `json:"object"`
	}
	if ReadValue(data, &e) != nil {
		return &metav1.Status{Message: "the stream reported an error that cannot be read"}
	}
	return &e.Object
}

// ReadStatus reads the Status of a failed call; nil when the response contains something else.
func ReadStatus(body io.Reader) *metav1.Status {
	data, err := io.ReadAll(io.LimitReader(body, 64<<10))
	if err != nil {
		return nil
	}
	var s metav1.Status
	if ReadValue(data, &s) != nil || s.Kind != "Status" || s.Code == 0 {
		return nil
	}
	return &s
}

// RetryAfter returns the seconds of the header Retry-After, or 0 without a sensible value.
func RetryAfter(resp *http.Response) int {
	seconds, err := strconv.Atoi(resp.Header.Get("Retry-After"))
	if err != nil || seconds < 0 || seconds > int(time.Hour/time.Second) {
		return 0
	}
	return seconds
}

// ManagedBy returns the entries of one field manager, the only ones that are hashed.
func (m *Metadata) ManagedBy(manager string) []metav1.ManagedFieldsEntry {
	var entries []metav1.ManagedFieldsEntry
	for i := range m.ManagedFields {
		if f := &m.ManagedFields[i]; f.Manager == manager {
			entries = append(entries, f.entry())
		}
	}
	return entries
}

// Definition returns what tells a version of a CustomResourceDefinition from another, with all entries of its managed fields.
func (m *Metadata) Definition() *metav1.ObjectMeta {
	full := &metav1.ObjectMeta{Generation: m.Generation, Annotations: m.Annotations}
	if m.DeletionTimestamp != "" {
		full.DeletionTimestamp = &metav1.Time{}
	}
	if len(m.Labels) > 0 && ReadValue(m.Labels, &full.Labels) != nil {
		full.Labels = nil // no API server sends such labels
	}
	full.ManagedFields = make([]metav1.ManagedFieldsEntry, 0, len(m.ManagedFields))
	for i := range m.ManagedFields {
		entry := m.ManagedFields[i].entry()
		if written, err := time.Parse(time.RFC3339, m.ManagedFields[i].Time); err == nil {
			entry.Time = &metav1.Time{Time: written}
		}
		full.ManagedFields = append(full.ManagedFields, entry)
	}
	return full
}

func (f *ManagedFields) entry() metav1.ManagedFieldsEntry {
	return metav1.ManagedFieldsEntry{
		Manager: f.Manager, Operation: f.Operation, Subresource: f.Subresource,
		FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(string(f.FieldsV1)),
	}
}

// Unstructured returns the parts that pkg/health reads. The pod template is left out: it is most of a workload and irrelevant for health.
func (o *Object) Unstructured(apiVersion, kind string) *unstructured.Unstructured {
	metadata := map[string]any{"name": o.Metadata.Name, "uid": string(o.Metadata.UID), "generation": o.Metadata.Generation}
	if o.Metadata.Namespace != "" {
		metadata["namespace"] = o.Metadata.Namespace
	}
	if o.Metadata.CreationTimestamp != "" {
		metadata["creationTimestamp"] = o.Metadata.CreationTimestamp
	}
	if o.Metadata.DeletionTimestamp != "" {
		metadata["deletionTimestamp"] = o.Metadata.DeletionTimestamp
	}
	if len(o.Metadata.Finalizers) > 0 {
		finalizers := make([]any, 0, len(o.Metadata.Finalizers))
		for _, finalizer := range o.Metadata.Finalizers {
			finalizers = append(finalizers, finalizer)
		}
		metadata["finalizers"] = finalizers
	}
	content := map[string]any{"apiVersion": apiVersion, "kind": kind, "metadata": metadata}
	if spec := ReadMap(o.Spec); spec != nil {
		delete(spec, "template")
		delete(spec, "volumeClaimTemplates")
		content["spec"] = spec
	}
	var status any // also where it is no object: health must not take that for none
	if ReadValue(o.Status, &status) == nil && status != nil {
		content["status"] = status
	}
	return &unstructured.Unstructured{Object: content}
}

// ReadMap reads a JSON object; anything else, which a custom resource may well hold, counts as absent.
func ReadMap(data json.RawMessage) map[string]any {
	var m map[string]any
	if len(data) == 0 || ReadValue(data, &m) != nil {
		return nil
	}
	return m
}

// ReadValue reads JSON as the API server does.
func ReadValue(data []byte, into any) error {
	return kjson.UnmarshalCaseSensitivePreserveInts(data, into)
}

// Numeric parses a resourceVersion as a number. 0 means that it is not a number: such an object always counts as newer.
func Numeric(resourceVersion string) uint64 {
	n, err := strconv.ParseUint(resourceVersion, 10, 64)
	if err != nil {
		return 0
	}
	return n
}
