package installer

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilrand "k8s.io/apimachinery/pkg/util/rand"

	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

const (
	// recordLabel finds the Secrets of a record; its value is a hash, because owners are longer than a label may be.
	recordLabel = "operator.kyma-project.io/manifest-record"
	// recordOwner says whose record a Secret is part of.
	recordOwner = "operator.kyma-project.io/manifest-record-of"
	// abandonedAfter is how old a shard must be that no index names to be taken for what a crash has left.
	abandonedAfter = 10 * time.Minute
	// randomLength tells the shards of two writers apart: one must not delete what the other is about to name.
	randomLength = 6
)

func labelOf(owner string) string {
	sum := sha256.Sum256([]byte(owner))
	return hex.EncodeToString(sum[:16])
}

// FindShard implements engine.RecordStore.
func (r *record) FindShard(named []string, shard inventory.Shard) string {
	at := slices.IndexFunc(named, func(name string) bool { return strings.HasPrefix(name, r.shardPrefix(shard)) })
	if at < 0 {
		return ""
	}
	return named[at]
}

func (r *record) shardPrefix(shard inventory.Shard) string {
	return r.name + ".inventory." + shard.Name + "-"
}

// CreateShard implements engine.RecordStore.
func (r *record) CreateShard(ctx context.Context, shard inventory.Shard) (string, error) {
	immutable := true
	secret := r.secret(r.shardPrefix(shard)+utilrand.String(randomLength), map[string][]byte{entriesKey: shard.Data})
	secret.Immutable = &immutable
	if _, err := r.secrets.Create(ctx, secret, metav1.CreateOptions{FieldManager: DefaultFieldManager}); err != nil {
		return secret.Name, called("create", r.id(secret.Name), err)
	}
	return secret.Name, nil
}

// Abandon implements engine.RecordStore: the random part of a name tells the shards of two writers apart.
func (r *record) Abandon(ctx context.Context, names []string) error {
	return r.DeleteShards(ctx, names)
}

// DeleteShards implements engine.RecordStore.
func (r *record) DeleteShards(ctx context.Context, names []string) error {
	for _, name := range names {
		if err := r.secrets.Delete(ctx, name, metav1.DeleteOptions{}); err != nil && !apierrors.IsNotFound(err) {
			return called("delete", r.id(name), err)
		}
	}
	return nil
}

// remove deletes the record: the index first, so that no reader finds one without its shards, and then those, with what crashes left.
func (r *record) remove(ctx context.Context) error {
	if r.exists {
		only := metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &r.uid, ResourceVersion: &r.version}}
		err := r.secrets.Delete(ctx, r.name, only)
		if apierrors.IsConflict(err) {
			return r.conflict()
		}
		if err != nil && !apierrors.IsNotFound(err) {
			return called("delete", r.id(r.name), err)
		}
	}
	list, err := r.secrets.List(ctx, metav1.ListOptions{LabelSelector: recordLabel + "=" + r.meta.Labels[recordLabel]})
	if err != nil {
		return called("list", r.id(r.name), err)
	}
	names := r.shards
	for i := range list.Items {
		secret := &list.Items[i]
		if secret.Name != r.name && r.foreign(secret) == nil && time.Since(secret.CreationTimestamp.Time) > abandonedAfter {
			names = append(names, secret.Name)
		}
	}
	r.exists, r.shards, r.stored, r.marked = false, nil, index{}, marks{}
	return r.DeleteShards(ctx, names)
}
