// Package generated answers: which values did the charts of an installation generate, what did they look up in the cluster, and how does
// that keep both?
//
// A value belongs to a source of the installation, and to the call that gave it; package render/helm names calls. All values of an
// installation are in one Secret, which is an object of the installation like its others, and the first of them to be applied.
//
// What was looked up belongs to the [Release] that did it.
//
// Non-goals: it makes no value, looks nothing up, and does not judge whether a value can be the result of its call.
package generated

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

const (
	// dataKey is the key of the Secret that has the values.
	dataKey = "values.json"
	// MaxBytes is how many bytes the values of an installation may have. A Secret may have twice as many.
	MaxBytes = 512 << 10
)

// Store holds the values of an installation, by source and by call, as JSON.
type Store struct {
	// Version is the resourceVersion of the Secret that the values were read from; empty where there was none.
	Version string
	Values  map[string]map[string]json.RawMessage
}

// Read returns what a Secret holds. One without values is that of an installation which has none yet.
func Read(secret *unstructured.Unstructured) (Store, error) {
	store := Store{Version: secret.GetResourceVersion()}
	encoded, found, err := unstructured.NestedString(secret.Object, "data", dataKey)
	if err != nil || !found {
		return store, err
	}
	plain, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil {
		return store, fmt.Errorf("%s is not encoded as data of a Secret", dataKey)
	}
	if len(plain) > MaxBytes {
		return store, fmt.Errorf("%s has more than %d KiB", dataKey, MaxBytes>>10)
	}
	if len(plain) > 0 && json.Unmarshal(plain, &store.Values) != nil { // whose errors may show what is secret
		return Store{Version: store.Version}, fmt.Errorf("%s is no JSON object of sources, each of which has an object of values", dataKey)
	}
	for source, values := range store.Values {
		if _, ok := readRelease(values); !ok {
			return Store{Version: store.Version}, fmt.Errorf("%s has no revision in the entry %q of source %q", dataKey, releaseKey, source)
		}
	}
	return store, nil
}

// Empty reports whether there is no value.
func (s Store) Empty() bool {
	for _, values := range s.Values {
		if len(values) > 0 {
			return false
		}
	}
	return true
}

// With returns the store with the values that a source uses. Those that it used before stay, for a version that comes back, unless there is
// no room for them. The store that it is called on does not change.
func (s Store) With(source string, used map[string]json.RawMessage) Store {
	if len(used) == 0 {
		return s
	}
	all := maps.Clone(s.Values[source])
	if all == nil {
		all = map[string]json.RawMessage{}
	}
	maps.Copy(all, used)
	if full := s.replace(source, all); len(full.encode()) <= MaxBytes {
		return full
	}
	return s.replace(source, used)
}

func (s Store) replace(source string, values map[string]json.RawMessage) Store {
	sources := maps.Clone(s.Values)
	if sources == nil {
		sources = map[string]map[string]json.RawMessage{}
	}
	sources[source] = values
	return Store{Version: s.Version, Values: sources}
}

// ErrTooLarge means that the values do not fit into a Secret.
var ErrTooLarge = errors.New("the charts generate more values than a Secret holds")

// Secret returns the object that keeps the values. Equal values are equal objects.
func (s Store) Secret(namespace, name string) (*unstructured.Unstructured, error) {
	encoded := s.encode()
	if len(encoded) > MaxBytes {
		return nil, ErrTooLarge
	}
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "Secret", "type": "Opaque",
		"metadata": map[string]any{"namespace": namespace, "name": name},
		"data":     map[string]any{dataKey: base64.StdEncoding.EncodeToString(encoded)},
	}}, nil
}

// encode returns the values as JSON, sorted.
func (s Store) encode() []byte {
	encoded, err := json.Marshal(s.Values)
	if err != nil {
		panic(err) // what is no JSON was never a value
	}
	return encoded
}
