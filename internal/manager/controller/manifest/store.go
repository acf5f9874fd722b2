package manifest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/manager/runtimes"
	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

// shardKey is the key of the entries in the Secrets that hold what of the inventory does not fit into status.synced. They are named by
// their content, and never change. See engine.SaveRecord.
const shardKey = "entries.json.gz"

// shardCache keeps the entries of shards, so that a reconcile without a change reads none.
type shardCache struct {
	mu    sync.Mutex
	known map[types.NamespacedName]cachedShards
}

type cachedShards struct {
	names   []string
	entries []inventory.Entry
}

func (c *shardCache) get(key types.NamespacedName, names []string) ([]inventory.Entry, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	cached, ok := c.known[key]
	return cached.entries, ok && slices.Equal(cached.names, names)
}

func (c *shardCache) put(key types.NamespacedName, names []string, entries []inventory.Entry) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.known == nil {
		c.known = map[types.NamespacedName]cachedShards{}
	}
	c.known[key] = cachedShards{names: slices.Clone(names), entries: slices.Clone(entries)}
}

func (c *shardCache) forget(key types.NamespacedName) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.known, key)
}

// loadInventory reads what was installed. A missing or damaged shard stops everything: deciding on half a record could delete desired
// objects or leak others.
func (r *Reconciler) loadInventory(ctx context.Context, manifest *v1beta2.Manifest) ([]inventory.Entry, error) {
	if hasFirstPlan(manifest) {
		return readFirstPlan(manifest)
	}
	entries := fromStatus(manifest.Status.Synced)
	names := manifest.Status.InventoryShards
	if len(names) == 0 {
		return entries, nil
	}
	key := client.ObjectKeyFromObject(manifest)
	if rest, ok := r.shards.get(key, names); ok {
		return inventory.Merge(entries, rest, nil), nil
	}
	var rest []inventory.Entry
	for _, name := range names {
		secret := &corev1.Secret{}
		if err := r.Reader.Get(ctx, types.NamespacedName{Namespace: manifest.Namespace, Name: name}, secret); err != nil {
			return nil, unreadable(name, err)
		}
		decoded, err := inventory.Decode(secret.Data[shardKey])
		if err != nil {
			return nil, unreadable(name, err)
		}
		rest = append(rest, decoded...)
	}
	r.shards.put(key, names, rest)
	return inventory.Merge(entries, rest, nil), nil
}

func unreadable(name string, err error) error {
	return &runtimes.Problem{
		Reason:  v1beta2.ReasonInventoryUnreadable,
		Message: fmt.Sprintf("inventory shard %s: %v; nothing is changed until it can be read: restore the Secret", name, err),
		Retry:   retryTransient,
	}
}

// recordStore is the engine.RecordStore of a Manifest: its status is the index.
type recordStore struct {
	reconciler *Reconciler
	scope      *scope
}

// FindShard implements engine.RecordStore.
func (s *recordStore) FindShard(named []string, shard inventory.Shard) string {
	if name := shardName(s.scope.manifest, shard.Name); slices.Contains(named, name) {
		return name
	}
	return ""
}

// CreateShard implements engine.RecordStore.
func (s *recordStore) CreateShard(ctx context.Context, shard inventory.Shard) (string, error) {
	name := shardName(s.scope.manifest, shard.Name)
	return name, s.reconciler.createShard(ctx, s.scope.manifest, name, shard.Data)
}

// Abandon implements engine.RecordStore: the name is that of the content alone, so that another pass may have found the shard and named it.
func (s *recordStore) Abandon(context.Context, []string) error { return nil }

// DeleteShards implements engine.RecordStore. Only Manifests with a large inventory have any.
func (s *recordStore) DeleteShards(ctx context.Context, names []string) error {
	for _, name := range names {
		secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: s.scope.key.Namespace, Name: name}}
		err := s.reconciler.Client.Delete(ctx, secret, client.DisableReadYourWritesConsistency)
		if client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("delete inventory shard %s/%s: %w", s.scope.key.Namespace, name, err)
		}
	}
	return nil
}

// WriteIndex implements engine.RecordStore: the inventory goes with the rest of the status.
func (s *recordStore) WriteIndex(ctx context.Context, inline []inventory.Entry, shards []string) error {
	w := s.scope
	w.manifest.Status.Synced, w.manifest.Status.InventoryShards = toStatus(inline), shards
	if len(shards) > 0 {
		rest := inventory.Merge(w.recorded, nil, nil)[len(inline):] // sorted, as Split divides it
		s.reconciler.shards.put(w.key, shards, rest)
	}
	w.stored = w.recorded
	return s.reconciler.writeStatus(ctx, w)
}

func shardName(manifest *v1beta2.Manifest, suffix string) string {
	name := manifest.Name
	if limit := 253 - len(".inventory.") - len(suffix); len(name) > limit {
		name = name[:limit]
	}
	return strings.TrimRight(name, "-.") + ".inventory." + suffix
}

func (r *Reconciler) createShard(ctx context.Context, manifest *v1beta2.Manifest, name string, data []byte) error {
	immutable := true
	secret := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: manifest.Namespace, Name: name,
			Labels: map[string]string{
				v1beta2.LabelInventory: string(manifest.UID), v1beta2.LabelManagedBy: v1beta2.ManagedByLifecycleManager,
			},
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(manifest, v1beta2.GroupVersion.WithKind("Manifest"))},
		},
		Immutable: &immutable,
		Data:      map[string][]byte{shardKey: data},
	}
	// The cache does not hold these Secrets, so no read may wait until it has seen them.
	err := r.Client.Create(ctx, secret, client.DisableReadYourWritesConsistency)
	if apierrors.IsAlreadyExists(err) {
		return r.ownShard(ctx, manifest, secret)
	}
	if err != nil {
		return fmt.Errorf("store inventory shard %s/%s: %w", manifest.Namespace, name, err)
	}
	return nil
}

// ownShard makes sure that a shard that exists already stays: one of an earlier Manifest of the same name is deleted with that one.
func (r *Reconciler) ownShard(ctx context.Context, manifest *v1beta2.Manifest, shard *corev1.Secret) error {
	found := &corev1.Secret{}
	if err := r.Reader.Get(ctx, client.ObjectKeyFromObject(shard), found); err != nil {
		return fmt.Errorf("read inventory shard %s/%s: %w", shard.Namespace, shard.Name, err)
	}
	if !metav1.IsControlledBy(found, manifest) {
		return apierrors.NewConflict(corev1.Resource("secrets"), shard.Name,
			errors.New("it holds the inventory of another Manifest; it is tried again when that one is gone"))
	}
	return nil
}

func fromStatus(resources []v1beta2.Resource) []inventory.Entry {
	entries := make([]inventory.Entry, 0, len(resources))
	for _, resource := range resources {
		entries = append(entries, inventory.Entry{
			ID:      inventory.ID{Group: resource.Group, Kind: resource.Kind, Namespace: resource.Namespace, Name: resource.Name},
			Version: resource.Version, UID: resource.UID, Hash: resource.Hash, Fields: resource.Fields,
		})
	}
	return entries
}

func toStatus(entries []inventory.Entry) []v1beta2.Resource {
	if len(entries) == 0 {
		return nil
	}
	resources := make([]v1beta2.Resource, 0, len(entries))
	for _, entry := range entries {
		resources = append(resources, v1beta2.Resource{
			Group: entry.Group, Version: entry.Version, Kind: entry.Kind, Name: entry.Name, Namespace: entry.Namespace,
			UID: entry.UID, Hash: entry.Hash, Fields: entry.Fields,
		})
	}
	return resources
}
