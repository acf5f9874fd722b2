package remotesync

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash/fnv"
	"slices"
	"strconv"
	"sync"
	"time"
	"unique"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/kyma-project/lifecycle-manager/pkg/apply"
	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

// Runtime is what the mirror needs of a connection. Its value is the connection's identity: two equal values are one connection.
type Runtime interface {
	// Cluster returns the client of the runtime.
	Cluster() *apply.Cluster
	// ObjectVersion returns UID + "/" + resourceVersion of an object, inventory.DefinitionDigest in its place for a definition. It is empty
	// when the object is known not to exist; known is false before that.
	ObjectVersion(id inventory.ID) (stamp string, known bool)
	// Copies returns the objects of a kind that carry the label of managed objects; synced is false while the kind is not listed.
	Copies(gk schema.GroupKind) (ids []inventory.ID, synced bool)
	// Report records a failed call, so that a dead cluster is left alone for a while.
	Report(err error)
}

// DesiredObject is an object that a runtime needs. Make returns one; all runtimes may share it, so it must not be changed.
type DesiredObject struct {
	// Object is complete, with its GroupVersionKind: what it names is enforced.
	Object *unstructured.Unstructured
	// Manager is the field manager that writes it.
	Manager string
	// Hash is the hash of Object and Manager.
	Hash string

	data []byte // Object as JSON, for thousands of runtimes made once
}

// Make returns an object in the form in which it is compared, with its hash. The object is not changed.
func Make(object *unstructured.Unstructured, manager string) (DesiredObject, error) {
	data, err := object.MarshalJSON()
	if err != nil {
		return DesiredObject{}, fmt.Errorf("encode %s: %w", inventory.IDOf(object), err)
	}
	plain := map[string]any{}
	if err := utiljson.Unmarshal(data, &plain); err != nil {
		return DesiredObject{}, fmt.Errorf("decode %s: %w", inventory.IDOf(object), err)
	}
	sum := sha256.Sum256(slices.Concat(data, []byte(manager)))
	return DesiredObject{
		Object: &unstructured.Unstructured{Object: plain}, Manager: manager, Hash: hex.EncodeToString(sum[:16]), data: data,
	}, nil
}

// Syncer remembers what runtimes were seen to hold. Its zero value is ready, and it is safe for concurrent use: the memory is locked, calls
// never are.
type Syncer struct {
	mutex    sync.Mutex
	runtimes map[Runtime]*memory
}

// memory is what was seen of one runtime. Identities and hashes occur in thousands of runtimes, so they are stored once; a stamp is kept
// as its hash.
type memory struct {
	mutex    sync.Mutex
	seen     map[unique.Handle[inventory.ID]]observedVersion
	switched map[inventory.ID]time.Time // definitions that store another version since then
	putBacks map[inventory.ID]putBack   // what others changed just now

	departures map[inventory.ID]departure // definitions that are being deleted
}

// observedVersion is the version of an object at which it was seen to match a hash, or to be none of ours.
type observedVersion struct {
	hash  unique.Handle[string]
	stamp [16]byte
}

// Marks in place of a hash, for Prune.
const (
	foreign = "of another manager"
	leaving = "being deleted"
)

// Forget drops what is remembered of a connection: nothing but reads is lost.
func (m *Syncer) Forget(runtime Runtime) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	delete(m.runtimes, runtime)
}

func (m *Syncer) of(runtime Runtime) *memory {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	if m.runtimes == nil {
		m.runtimes = map[Runtime]*memory{}
	}
	known := m.runtimes[runtime]
	if known == nil {
		known = &memory{
			seen: map[unique.Handle[inventory.ID]]observedVersion{}, switched: map[inventory.ID]time.Time{}, putBacks: map[inventory.ID]putBack{},
		}
		m.runtimes[runtime] = known
	}
	return known
}

// has reports whether an object was seen to match the hash at that version.
func (m *memory) has(id inventory.ID, hash, stamp string) bool {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	seen, ok := m.seen[unique.Make(id)]
	return ok && seen.hash == unique.Make(hash) && seen.stamp == sumOf(stamp)
}

func (m *memory) keep(id inventory.ID, hash string, object *unstructured.Unstructured) {
	m.keepAt(id, hash, stampOf(object))
}

func (m *memory) keepAt(id inventory.ID, hash, stamp string) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	m.seen[unique.Make(id)] = observedVersion{hash: unique.Make(hash), stamp: sumOf(stamp)}
}

// forget drops what was seen of a kind, except for the objects that still matter.
func (m *memory) forget(gk schema.GroupKind, namespace string, matters func(inventory.ID) bool) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	for handle := range m.seen {
		if id := handle.Value(); id.GroupKind() == gk && id.Namespace == namespace && !matters(id) {
			delete(m.seen, handle)
		}
	}
}

// stampOf returns what Runtime.ObjectVersion returns for the version of an object that was read.
func stampOf(object *unstructured.Unstructured) string {
	if isDefinition(inventory.IDOf(object)) {
		return string(object.GetUID()) + "/" + strconv.FormatUint(inventory.DefinitionDigest(object), 10)
	}
	return string(object.GetUID()) + "/" + object.GetResourceVersion()
}

func sumOf(stamp string) (sum [16]byte) {
	hash := fnv.New128a()
	_, _ = hash.Write([]byte(stamp)) // never fails
	hash.Sum(sum[:0])
	return sum
}
