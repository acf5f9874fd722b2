package simruntime

import (
	"bytes"
	"encoding/json"
	"maps"
	"strconv"
	"time"
	"unique"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	kjson "sigs.k8s.io/json"
)

// document is an object that is worked on. Its managed fields stand beside it, because turning them into maps and back would be most of
// the work.
type document struct {
	unstructured.Unstructured
	managed []metav1.ManagedFieldsEntry
}

// GetManagedFields implements metav1.Object.
func (d *document) GetManagedFields() []metav1.ManagedFieldsEntry { return d.managed }

// SetManagedFields implements metav1.Object.
func (d *document) SetManagedFields(entries []metav1.ManagedFieldsEntry) { d.managed = entries }

// DeepCopyObject implements runtime.Object.
func (d *document) DeepCopyObject() runtime.Object { return d.copied() }

func (d *document) copied() *document {
	return &document{Unstructured: *d.Unstructured.DeepCopy(), managed: append([]metav1.ManagedFieldsEntry(nil), d.managed...)}
}

// inVersion returns the document under another apiVersion; what is below is shared.
func (d *document) inVersion(apiVersion string) *document {
	content := maps.Clone(d.Object)
	content["apiVersion"] = apiVersion
	return &document{Unstructured: unstructured.Unstructured{Object: content}, managed: d.managed}
}

// metadata returns the object's own, made when there is none.
func (d *document) metadata() map[string]any {
	if metadata, ok := d.Object["metadata"].(map[string]any); ok {
		return metadata
	}
	metadata := map[string]any{}
	d.Object["metadata"] = metadata
	return metadata
}

// read makes a document of JSON from any source.
func read(data []byte) (*document, error) {
	d := &document{}
	if err := kjson.UnmarshalCaseSensitivePreserveInts(data, &d.Object); err != nil {
		return nil, err
	}
	if d.Object == nil {
		d.Object = map[string]any{}
	}
	return d, d.takeManaged()
}

// takeManaged moves the managed fields out of the metadata.
func (d *document) takeManaged() error {
	metadata, ok := d.Object["metadata"].(map[string]any)
	if !ok {
		return nil
	}
	found, ok := metadata["managedFields"]
	if !ok {
		return nil
	}
	delete(metadata, "managedFields")
	data, err := json.Marshal(found)
	if err != nil {
		return err
	}
	return json.Unmarshal(data, &d.managed)
}

// object is a state of an object as it is stored. It never changes.
type object struct {
	namespace, name string
	version         uint64
	labels          labelSet
	leaving         bool // its deletion was accepted
	data            []byte
	// metadata is where the metadata stands in data; managed where ,"managedFields":[...] does, which is the end of it.
	metadata, managed span
}

type span struct{ from, to int32 }

func (o *object) bytes(s span) []byte { return o.data[s.from:s.to] }

// open returns what the object was made of.
func (o *object) open() (*document, error) {
	plain := make([]byte, 0, len(o.data))
	plain = append(plain, o.data[:o.managed.from]...)
	plain = append(plain, o.data[o.managed.to:]...)
	d := &document{}
	if err := kjson.UnmarshalCaseSensitivePreserveInts(plain, &d.Object); err != nil {
		return nil, err
	}
	if o.managed.from == o.managed.to {
		return d, nil
	}
	return d, json.Unmarshal(o.data[o.managed.from+int32(len(managedKey)):o.managed.to], &d.managed)
}

const managedKey = `,"managedFields":`

// seal writes a document down under a resourceVersion.
func (d *document) seal(version uint64) (*object, error) {
	metadata := d.metadata()
	metadata["resourceVersion"] = strconv.FormatUint(version, 10)
	head, err := json.Marshal(metadata)
	if err != nil {
		return nil, err
	}
	rest := maps.Clone(d.Object)
	delete(rest, "metadata")
	delete(rest, "apiVersion")
	delete(rest, "kind")
	tail, err := json.Marshal(rest)
	if err != nil {
		return nil, err
	}
	var buf bytes.Buffer
	buf.Grow(len(head) + len(tail) + 400*len(d.managed) + 80)
	buf.WriteString(`{"apiVersion":` + strconv.Quote(d.GetAPIVersion()) + `,"kind":` + strconv.Quote(d.GetKind()) + `,"metadata":`)
	o := &object{
		namespace: shared(d.GetNamespace()), name: shared(d.GetName()), version: version, labels: labelsOf(d.GetLabels()),
		leaving: d.GetDeletionTimestamp() != nil,
	}
	o.metadata.from = int32(buf.Len())
	buf.Write(head[:len(head)-1])
	o.managed.from = int32(buf.Len())
	if len(d.managed) > 0 {
		buf.WriteString(managedKey)
		writeManaged(&buf, d.managed)
	}
	o.managed.to = int32(buf.Len())
	buf.WriteByte('}')
	o.metadata.to = int32(buf.Len())
	if len(tail) > 2 {
		buf.WriteByte(',')
		buf.Write(tail[1:])
	} else {
		buf.WriteByte('}')
	}
	o.data = bytes.Clone(buf.Bytes())
	return o, nil
}

// writeManaged writes managed fields as encoding/json does, without looking into them.
func writeManaged(buf *bytes.Buffer, entries []metav1.ManagedFieldsEntry) {
	text := func(key, value string) {
		if value != "" {
			quoted, _ := json.Marshal(value) //nolint:errchkjson // a text
			buf.WriteString(key)
			buf.Write(quoted)
		}
	}
	for i := range entries {
		e := &entries[i]
		buf.WriteByte("[,"[min(i, 1)])
		text(`{"manager":`, e.Manager)
		text(`,"operation":`, string(e.Operation))
		text(`,"apiVersion":`, e.APIVersion)
		if e.Time != nil {
			text(`,"time":`, e.Time.UTC().Format(time.RFC3339))
		}
		text(`,"fieldsType":`, e.FieldsType)
		if e.FieldsV1 != nil {
			buf.WriteString(`,"fieldsV1":`)
			buf.Write(e.FieldsV1.GetRawBytes())
		}
		text(`,"subresource":`, e.Subresource)
		buf.WriteByte('}')
	}
	buf.WriteByte(']')
}

// shared stores a text once for all runtimes.
func shared(text string) string { return unique.Make(text).Value() }
