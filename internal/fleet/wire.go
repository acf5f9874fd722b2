package fleet

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

// What an API server sends, as far as it is read here. Keys are matched case-sensitively, as the API server itself does: a custom resource
// may carry a "Metadata" beside its metadata.

type wireEvent struct {
	Type   string     `json:"type"`
	Object wireObject `json:"object"`
}

type wireObject struct {
	APIVersion string          `json:"apiVersion"`
	Kind       string          `json:"kind"`
	Metadata   wireMetadata    `json:"metadata"`
	Spec       json.RawMessage `json:"spec"`
	Status     json.RawMessage `json:"status"`

	whole json.RawMessage // of kinds that are kept
}

// wireWhole is a wireObject with its whole text.
type wireWhole struct{ wireObject }

// UnmarshalJSON implements json.Unmarshaler.
func (o *wireWhole) UnmarshalJSON(data []byte) error {
	o.whole = bytes.Clone(data)
	return readValue(data, &o.wireObject)
}

type wireWholeEvent struct {
	Type   string    `json:"type"`
	Object wireWhole `json:"object"`
}

// wireMeta is a wireObject without what metadata-only streams do not carry.
type wireMeta struct {
	Metadata wireMetadata `json:"metadata"`
}

type wireMetaEvent struct {
	Type   string   `json:"type"`
	Object wireMeta `json:"object"`
}

type wireMetadata struct {
	Name              string            `json:"name"`
	Namespace         string            `json:"namespace"`
	UID               types.UID         `json:"uid"`
	ResourceVersion   string            `json:"resourceVersion"`
	Generation        int64             `json:"generation"`
	CreationTimestamp string            `json:"creationTimestamp"`
	DeletionTimestamp string            `json:"deletionTimestamp"`
	Finalizers        []string          `json:"finalizers"`
	Annotations       map[string]string `json:"annotations"`
	ManagedFields     []wireFields      `json:"managedFields"`
}

type wireFields struct {
	Manager     string                            `json:"manager"`
	Operation   metav1.ManagedFieldsOperationType `json:"operation"`
	Subresource string                            `json:"subresource"`
	FieldsV1    json.RawMessage                   `json:"fieldsV1"`
}

// wireList is the metadata of a list; its items are read one by one.
type wireList struct {
	ResourceVersion string `json:"resourceVersion"`
	Continue        string `json:"continue"`
}

// readEvent reads as much of one event of a stream as is needed.
func readEvent(data []byte, n needs) (wireEvent, error) {
	switch {
	case n.keep:
		var e wireWholeEvent
		err := readValue(data, &e)
		return wireEvent{Type: e.Type, Object: e.Object.wireObject}, err
	case n.full():
		var e wireEvent
		err := readValue(data, &e)
		return e, err
	}
	var e wireMetaEvent
	err := readValue(data, &e)
	return wireEvent{Type: e.Type, Object: wireObject{Metadata: e.Object.Metadata}}, err
}

// readFailure reads the Status of an ERROR event.
func readFailure(data []byte) *metav1.Status {
	var e struct {
		Object metav1.Status `json:"object"`
	}
	if readValue(data, &e) != nil {
		return &metav1.Status{Message: "the stream reported an error that cannot be read"}
	}
	return &e.Object
}

// readStatus reads the Status of a failed call; nil when something else answered.
func readStatus(body io.Reader) *metav1.Status {
	data, err := io.ReadAll(io.LimitReader(body, 64<<10))
	if err != nil {
		return nil
	}
	var s metav1.Status
	if readValue(data, &s) != nil || s.Kind != "Status" || s.Code == 0 {
		return nil
	}
	return &s
}

func retryAfter(resp *http.Response) int {
	seconds, err := strconv.Atoi(resp.Header.Get("Retry-After"))
	if err != nil || seconds < 0 || seconds > int(time.Hour/time.Second) {
		return 0
	}
	return seconds
}

// managed gives the entries of one field manager, the only ones that a hash is made of.
func (m *wireMetadata) managed(manager string) []metav1.ManagedFieldsEntry {
	var entries []metav1.ManagedFieldsEntry
	for i := range m.ManagedFields {
		if f := &m.ManagedFields[i]; f.Manager == manager {
			entries = append(entries, metav1.ManagedFieldsEntry{
				Manager: f.Manager, Operation: f.Operation, Subresource: f.Subresource,
				FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(string(f.FieldsV1)),
			})
		}
	}
	return entries
}

// object spells out what pkg/health looks at. The pod template is left out: it is most of a workload and says nothing about health.
func (o *wireObject) object(apiVersion, kind string) *unstructured.Unstructured {
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
	if spec := readMap(o.Spec); spec != nil {
		delete(spec, "template")
		delete(spec, "volumeClaimTemplates")
		content["spec"] = spec
	}
	var status any // also where it is no object: health must not take that for none
	if readValue(o.Status, &status) == nil && status != nil {
		content["status"] = status
	}
	return &unstructured.Unstructured{Object: content}
}

// readMap reads a JSON object; anything else, which a custom resource may well hold, counts as absent.
func readMap(data json.RawMessage) map[string]any {
	var m map[string]any
	if len(data) == 0 || readValue(data, &m) != nil {
		return nil
	}
	return m
}

// readValue reads JSON as the API server does.
func readValue(data []byte, into any) error {
	return kjson.UnmarshalCaseSensitivePreserveInts(data, into)
}

// numeric reads a resourceVersion as the number that it is. 0 stands for one that is none: such an object always counts as newer.
func numeric(resourceVersion string) uint64 {
	n, err := strconv.ParseUint(resourceVersion, 10, 64)
	if err != nil {
		return 0
	}
	return n
}
