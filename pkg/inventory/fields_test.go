package inventory_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

const manager = "declarative.kyma-project.io/applier"

// ports holds keys in the order of the API server, which sorts them as numbers.
const ports = `{"f:spec":{"f:ports":{".":{},"k:{\"port\":80}":{".":{},"f:port":{}},"k:{\"port\":443}":{".":{},"f:port":{}}}}}`

func owned(operation metav1.ManagedFieldsOperationType, fields string) metav1.ManagedFieldsEntry {
	return metav1.ManagedFieldsEntry{
		Manager: manager, Operation: operation, APIVersion: "v1", FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(fields),
		Time: &metav1.Time{Time: time.Unix(1, 0)},
	}
}

func appliedFields(fields string) metav1.ManagedFieldsEntry {
	return owned(metav1.ManagedFieldsOperationApply, fields)
}

func createdFields(fields string) metav1.ManagedFieldsEntry {
	return owned(metav1.ManagedFieldsOperationUpdate, fields)
}

func fieldsHash(entries ...metav1.ManagedFieldsEntry) string {
	return inventory.FieldsHash(entries, manager)
}

func TestFieldsHashTellsTheOperation(t *testing.T) {
	foreign, status := appliedFields(ports), appliedFields(ports)
	foreign.Manager, status.Subresource = "kubectl", "status"
	for _, test := range []struct {
		name    string
		entries []metav1.ManagedFieldsEntry
		prefix  string
	}{
		{"an object that was applied", []metav1.ManagedFieldsEntry{foreign, appliedFields(ports)}, "a:"},
		{"an object that was created by POST", []metav1.ManagedFieldsEntry{createdFields(ports)}, "u:"},
		{"an object that was created and applied without a migration", []metav1.ManagedFieldsEntry{appliedFields(ports),
			createdFields(ports)}, "u:"},
		{"an entry without fields", []metav1.ManagedFieldsEntry{{Manager: manager, Operation: metav1.ManagedFieldsOperationApply}}, "a:"},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := fieldsHash(test.entries...)
			if !strings.HasPrefix(got, test.prefix) || len(got) != len(test.prefix)+16 {
				t.Errorf("got %q, want %s and 16 digits", got, test.prefix)
			}
		})
	}
	for name, entries := range map[string][]metav1.ManagedFieldsEntry{
		"an object without managed fields": nil, "an object of others": {foreign}, "an object whose status alone is ours": {status},
	} {
		t.Run(name, func(t *testing.T) {
			if got := fieldsHash(entries...); got != "" {
				t.Errorf("got %q, want none", got)
			}
		})
	}
}

func TestFieldsHashIsTheSame(t *testing.T) {
	moved := appliedFields(ports)
	moved.Time, moved.APIVersion = &metav1.Time{Time: time.Unix(9, 0)}, "v2"
	foreign, status := appliedFields(`{"f:data":{}}`), appliedFields(`{"f:status":{}}`)
	foreign.Manager, status.Subresource = "kubectl", "status"
	one, other := createdFields(`{"f:a":{}}`), createdFields(`{"f:b":{}}`)
	list := func(entries ...metav1.ManagedFieldsEntry) []metav1.ManagedFieldsEntry { return entries }
	for _, test := range []struct {
		name string
		a, b []metav1.ManagedFieldsEntry
	}{
		{"at another time and API version", list(appliedFields(ports)), list(moved)},
		{"beside entries of others and of subresources", list(appliedFields(ports)), list(foreign, appliedFields(ports), status)},
		{"for another order of entries", list(one, other), list(other, one)},
		{"for another order of keys", list(appliedFields(`{"f:a":{},"f:b":{".":{},"f:c":{}}}`)),
			list(appliedFields(`{"f:b":{"f:c":{},".":{}},"f:a":{}}`))},
		{"with white space", list(appliedFields(`{"f:a":{},"f:b":{}}`)), list(appliedFields(" { \"f:a\" :\t{ },\r\n\"f:b\":{}} "))},
		{"for an escaped character", list(appliedFields(`{"f:<é😀/\b\f\n\r\t":{}}`)),
			list(appliedFields(`{"f:\u003c\u00E9\ud83d\ude00\/\u0008\u000c\u000a\u000d\u0009":{}}`))},
		{"for a lone surrogate as a decoder replaces it", list(appliedFields(`{"f:\ud83dx":{}}`)), list(appliedFields(`{"f:\ufffdx":{}}`))},
		{"for a surrogate before another character", list(appliedFields(`{"f:\ud83d\u0041":{}}`)), list(appliedFields(`{"f:\ufffdA":{}}`))},
		{"for a surrogate before something broken", list(appliedFields(`{"f:\ud83d\n":{}}`)), list(appliedFields(`{"f:\ufffd\n":{}}`))},
	} {
		t.Run(test.name, func(t *testing.T) {
			if a, b := fieldsHash(test.a...), fieldsHash(test.b...); a != b {
				t.Errorf("%s and %s", a, b)
			}
		})
	}
}

func TestFieldsHashDiffers(t *testing.T) {
	for _, test := range []struct {
		name string
		a, b string
	}{
		{"when a field was taken over by another user", `{"f:a":{},"f:b":{}}`, `{"f:a":{}}`},
		{"when the last field was taken over", `{"f:a":{}}`, `{}`},
		{"when a field moved to another level", `{"f:a":{"f:b":{}}}`, `{"f:a":{},"f:b":{}}`},
		{"when parent and child swap places", `{"f:a":{"f:b":{}}}`, `{"f:b":{"f:a":{}}}`},
		{"when two fields swap their children", `{"f:a":{"f:x":{}},"f:b":{"f:y":{}}}`, `{"f:a":{"f:y":{}},"f:b":{"f:x":{}}}`},
		{"when one element of a list was taken over", ports, strings.ReplaceAll(ports, "443", "444")},
		{"when something that is not a field set changes", `[1]`, `[2]`},
		{"when a field set is cut short", `{"f:a":{}}`, `{"f:a":{}`},
		{"when something follows a field set", `{"f:a":{}}`, `{"f:a":{}}x`},
	} {
		t.Run(test.name, func(t *testing.T) {
			if a, b := fieldsHash(appliedFields(test.a)), fieldsHash(appliedFields(test.b)); a == b {
				t.Errorf("both %s", a)
			}
		})
	}
	if a, b := fieldsHash(appliedFields(ports)), fieldsHash(appliedFields(ports), createdFields(`{}`)); a == b {
		t.Error("an entry more did not count")
	}
}

// The hash is stored: when this test breaks, every object of every installation counts as drifted after an upgrade of the operator.
func TestFieldsHashIsStable(t *testing.T) {
	if got, want := fieldsHash(appliedFields(ports)), "a:722377e1af1a87f7"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestFieldsHashDoesNotTrustItsInput(t *testing.T) {
	for name, fields := range map[string]string{
		"nothing at all":              ``,
		"only an opening brace":       `{`,
		"no key":                      `{:{}}`,
		"a key that does not end":     `{"f:a`,
		"an escape that does not end": `{"f:a\`,
		"an unknown escape":           `{"f:\x":{}}`,
		"a number that does not end":  `{"f:\u00`,
		"a number of other digits":    `{"f:\u00zz":{}}`,
		"a control character":         "{\"f:\n\":{}}",
		"no colon":                    `{"f:a"{}}`,
		"a string as value":           `{"f:a":"b"}`,
		"no comma":                    `{"f:a":{}"f:b":{}}`,
		"a comma too many":            `{"f:a":{},}`,
		"too many levels":             strings.Repeat(`{"f:a":`, 100_000),
	} {
		t.Run(name, func(t *testing.T) {
			one, two := fieldsHash(appliedFields(fields)), fieldsHash(appliedFields(fields))
			if one != two || len(one) != 18 {
				t.Errorf("%q and %q", one, two)
			}
		})
	}
}

// decodedObject returns an object as a client decodes it.
func decodedObject(t *testing.T, entries ...metav1.ManagedFieldsEntry) *unstructured.Unstructured {
	t.Helper()
	data, err := json.Marshal(map[string]any{
		"apiVersion": "v1", "kind": "Service", "metadata": map[string]any{"name": "a", "managedFields": entries},
	})
	if err != nil {
		t.Fatal(err)
	}
	object := &unstructured.Unstructured{}
	if err := object.UnmarshalJSON(data); err != nil {
		t.Fatal(err)
	}
	return object
}

func TestFieldsOfADecodedObjectAreTheSame(t *testing.T) {
	foreign, status, odd := appliedFields(ports), appliedFields(ports), appliedFields(`{"f:a":1}`)
	foreign.Manager, status.Subresource = "kubectl", "status"
	for name, entries := range map[string][]metav1.ManagedFieldsEntry{
		"no owned fields":             nil,
		"others do":                   {foreign, status},
		"we applied it, among others": {foreign, appliedFields(ports), status},
		"we created it":               {createdFields(`{"f:a":{},"f:b":{"k:{\"x\":\"ü\"}":{}}}`)},
		"we created and applied it":   {createdFields(ports), appliedFields(`{}`)},
		"an entry has no fields":      {{Manager: manager, Operation: metav1.ManagedFieldsOperationApply}},
		"an entry has something else": {appliedFields(ports), odd},
		"fields with an escaped name": {appliedFields(`{"f:\u0061":{}}`)},
	} {
		t.Run(name, func(t *testing.T) {
			object := decodedObject(t, entries...)
			if got, want := inventory.FieldsOf(object, manager), inventory.FieldsHash(object.GetManagedFields(), manager); got != want {
				t.Errorf("got %q, want %q", got, want)
			}
			if got, want := inventory.FieldsOf(object, manager), fieldsHash(entries...); got != want && name != "an entry has something else" {
				t.Errorf("got %q, want %q, as of the text", got, want)
			}
		})
	}
}

func TestFieldsHashHardlyAllocates(t *testing.T) {
	entries := []metav1.ManagedFieldsEntry{appliedFields(ports)}
	if got := testing.AllocsPerRun(100, func() { inventory.FieldsHash(entries, manager) }); got > 5 {
		t.Errorf("%v allocations for one object", got)
	}
}

// FuzzFieldsHash compares the scanner with encoding/json: what Go decodes and encodes again must hash as before.
func FuzzFieldsHash(f *testing.F) {
	for _, seed := range []string{ports, `{}`, `{"f:a":{"f:b":{},".":{}}}`, `{"f:\ud83d\ude00\ud83d":{}}`, `{"a":1}`, `{"a":{},"a":{}}`,
		`{"\`, "{\"\xff\":{}}"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		before := fieldsHash(appliedFields(string(data)))
		if len(before) != 18 {
			t.Fatalf("got %q", before)
		}
		tree, ok := fieldTree(data)
		if !ok {
			return
		}
		again, err := json.Marshal(tree)
		if err != nil {
			t.Fatal(err)
		}
		if after := fieldsHash(appliedFields(string(again))); after != before {
			t.Fatalf("%s of %s became %s of %s", before, data, after, again)
		}
		decoded := decodedObject(t, appliedFields(string(again)))
		if after := inventory.FieldsOf(decoded, manager); after != before {
			t.Fatalf("%s of %s is %s when it is decoded", before, data, after)
		}
	})
}

// fieldTree decodes what an API server can write: nested objects, valid UTF-8, no key twice, not too deep.
func fieldTree(data []byte) (map[string]any, bool) {
	if !utf8.Valid(data) || !json.Valid(data) {
		return nil, false
	}
	decoder := json.NewDecoder(bytes.NewReader(data))
	if token, err := decoder.Token(); err != nil || token != json.Delim('{') {
		return nil, false
	}
	return members(decoder, 0)
}

func members(decoder *json.Decoder, depth int) (map[string]any, bool) {
	tree := map[string]any{}
	for decoder.More() {
		key, _ := decoder.Token()
		if value, err := decoder.Token(); err != nil || value != json.Delim('{') || depth > 200 {
			return nil, false
		}
		child, ok := members(decoder, depth+1)
		if _, twice := tree[key.(string)]; twice || !ok {
			return nil, false
		}
		tree[key.(string)] = child
	}
	_, err := decoder.Token()
	return tree, err == nil
}
