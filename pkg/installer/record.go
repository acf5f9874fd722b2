package installer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"

	"github.com/kyma-project/lifecycle-manager/pkg/apply"
	"github.com/kyma-project/lifecycle-manager/pkg/installer/engine"
	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

const (
	// recordType is the type of the Secrets of a record, which cannot be changed: an ordinary Secret is not taken for one.
	recordType = "operator.kyma-project.io/manifest-record"
	// indexKey and entriesKey are in the Secret that names the others.
	indexKey   = "record.json"
	entriesKey = "entries.json.gz"
	// recordFormat is raised when older programs could not read a record.
	recordFormat = 1
	// createdOnce marks, in place of a hash, a custom resource whose creation is done.
	createdOnce = "created"
	// maxIndex bounds what is read of the index.
	maxIndex = 1 << 20
	// indexPrefix begins the name of an index.
	indexPrefix = "manifest."
)

// record is what is installed, in Secrets, an engine.RecordStore. One Secret, the index, holds it. What is too much for it stands in
// shards, which are immutable and named by their content. Every write of the index is bound to the version that was read.
type record struct {
	secrets corev1client.SecretInterface
	name    string // of the index
	owner   string
	meta    metav1.ObjectMeta // of every Secret
	marks   marks             // of the index, beside those

	exists  bool
	uid     types.UID
	version string
	shards  []string
	entries []inventory.Entry
	// created are the custom resources that are created once. Without a hash the creation is planned; without a UID it was found there.
	created []inventory.Entry
	// releases are the sources with hooks.
	releases []release
	// generated is the Secret with what charts have generated; nil while there is none.
	generated *generatedSecret
	stored    index
	marked    marks // as it is stored
}

// index is what the index says beside the first entries.
type index struct {
	Format  int               `json:"format"`
	Shards  []string          `json:"shards,omitempty"`
	Created []inventory.Entry `json:"created,omitempty"`
	// Releases is passed over by programs that run no hooks: they remove what is installed without them.
	Releases []release `json:"releases,omitempty"`
	// Generated is passed over by programs that keep no generated values: they refuse content that needs some.
	Generated *generatedSecret `json:"generated,omitempty"`
	entries   []inventory.Entry
}

func newRecord(c *call) *record {
	return &record{
		secrets: c.cluster.secrets.Secrets(c.inst.Namespace), name: indexPrefix + c.inst.Name, owner: c.owner(),
		meta: metav1.ObjectMeta{
			Namespace: c.inst.Namespace, Labels: over(maps.Clone(c.inst.RecordLabels), map[string]string{recordLabel: labelOf(c.owner())}),
			Annotations: map[string]string{c.inst.OwnerKey: c.owner(), recordOwner: c.owner()},
		},
	}
}

// conflict says that another call has changed the record.
func (r *record) conflict() error {
	return &Error{Reason: ReasonRecordConflict, Err: &apply.Error{Class: apply.ClassConflict, Message: fmt.Sprintf(
		"another call works on the installation %s: what this one did is recorded, call again", r.owner)}}
}

func (r *record) unreadable(secret string, err error) error {
	return &Error{Reason: ReasonInventoryUnreadable, Err: fmt.Errorf(
		"the record of the installation %s, Secret %s: %w; nothing is changed until it can be read: restore the Secret", r.owner, secret, err)}
}

func (r *record) id(name string) inventory.ID {
	return inventory.ID{Kind: "Secret", Namespace: r.meta.Namespace, Name: name}
}

// load reads what was installed. A shard that is missing or damaged stops everything: deciding on half a record could delete what is
// wanted, or leak what is not. A shard may also have been replaced since the index was read, so that is read again.
func (r *record) load(ctx context.Context) error {
	var err error
	for range 3 {
		if err = r.loadOnce(ctx); !apierrors.IsNotFound(err) {
			return err
		}
	}
	return err
}

func (r *record) loadOnce(ctx context.Context) error {
	secret, err := r.secrets.Get(ctx, r.name, metav1.GetOptions{})
	r.exists, r.uid, r.version, r.shards, r.entries, r.created, r.stored = false, "", "", nil, nil, nil, index{}
	r.releases, r.generated, r.marks, r.marked = nil, nil, marks{}, marks{}
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return called("read", r.id(r.name), err)
	}
	found, err := r.parse(secret)
	if err != nil {
		return r.unreadable(r.name, err)
	}
	for _, name := range found.Shards {
		rest, err := r.loadShard(ctx, name)
		if err != nil {
			return err
		}
		found.entries = append(found.entries, rest...)
	}
	r.exists, r.uid, r.version, r.shards = true, secret.UID, secret.ResourceVersion, found.Shards
	r.entries, r.created, r.stored = inventory.Merge(found.entries, nil, nil), found.Created, found
	r.stored.entries, r.stored.Created = slices.Clone(r.entries), slices.Clone(r.created)
	r.releases, r.generated, r.marks, r.marked = found.Releases, found.Generated, marksOf(secret), marksOf(secret)
	return nil
}

func (r *record) loadShard(ctx context.Context, name string) ([]inventory.Entry, error) {
	shard, err := r.secrets.Get(ctx, name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil, r.unreadable(name, err)
	}
	if err != nil {
		return nil, called("read", r.id(name), err)
	}
	entries, err := inventory.Decode(shard.Data[entriesKey])
	if err == nil {
		err = r.foreign(shard)
	}
	if err != nil {
		return nil, r.unreadable(name, err)
	}
	return entries, nil
}

// foreign returns an error for a Secret that is not part of this record.
func (r *record) foreign(secret *corev1.Secret) error {
	if secret.Type != recordType || secret.Annotations[recordOwner] != r.owner {
		return errors.New("it is not part of this record: choose another name for the installation")
	}
	return nil
}

func (r *record) parse(secret *corev1.Secret) (found index, err error) {
	if err := r.foreign(secret); err != nil {
		return index{}, err
	}
	if len(secret.Data[indexKey]) > maxIndex {
		return index{}, errors.New("it is too large")
	}
	if err := json.Unmarshal(secret.Data[indexKey], &found); err != nil {
		return index{}, fmt.Errorf("%s is not the JSON of a record", indexKey)
	}
	if found.Format != recordFormat {
		return index{}, fmt.Errorf("it has the format %d, and this program reads %d", found.Format, recordFormat)
	}
	for _, entry := range found.Created {
		if entry.Kind == "" || entry.Name == "" || entry.Version == "" {
			return index{}, errors.New("an entry of created lacks kind, name or version")
		}
	}
	for _, known := range found.Releases {
		if _, err := known.removal(); err != nil {
			return index{}, err
		}
	}
	found.entries, err = inventory.Decode(secret.Data[entriesKey])
	return found, err
}

// changed reports whether the record says something else than what is stored.
func (r *record) changed() bool {
	return !r.exists || !slices.Equal(r.entries, r.stored.entries) || !slices.Equal(r.created, r.stored.Created) ||
		!slices.EqualFunc(r.releases, r.stored.Releases, release.equal) || !r.generated.equal(r.stored.Generated) || !r.marks.equal(r.marked)
}

// save stores the record. A conflict is an error with ReasonRecordConflict.
func (r *record) save(ctx context.Context) (err error) {
	if !r.changed() {
		return nil
	}
	r.shards, err = engine.SaveRecord(ctx, r.entries, r.shards, r)
	return err
}

// WriteIndex implements engine.RecordStore: it writes the one Secret that counts.
func (r *record) WriteIndex(ctx context.Context, inline []inventory.Entry, shards []string) error {
	next := index{
		Format: recordFormat, Shards: shards, Created: slices.Clone(r.created), Releases: r.releases, Generated: r.generated,
		entries: slices.Clone(r.entries),
	}
	text, err := json.Marshal(next)
	if err != nil {
		return err
	}
	secret := r.secret(r.name, map[string][]byte{indexKey: text, entriesKey: inventory.Encode(inline)})
	r.marks.put(secret)
	var saved *corev1.Secret
	verb := "create"
	if r.exists {
		verb, secret.UID, secret.ResourceVersion = "update", r.uid, r.version
		saved, err = r.secrets.Update(ctx, secret, metav1.UpdateOptions{FieldManager: DefaultFieldManager})
	} else {
		saved, err = r.secrets.Create(ctx, secret, metav1.CreateOptions{FieldManager: DefaultFieldManager})
	}
	switch {
	case apierrors.IsConflict(err), apierrors.IsAlreadyExists(err), r.exists && apierrors.IsNotFound(err):
		return r.conflict()
	case err != nil:
		return called(verb, r.id(r.name), err)
	}
	r.exists, r.uid, r.version, r.marked, r.stored = true, saved.UID, saved.ResourceVersion, r.marks.clone(), next
	return nil
}

func (r *record) secret(name string, data map[string][]byte) *corev1.Secret {
	secret := &corev1.Secret{ObjectMeta: *r.meta.DeepCopy(), Type: recordType, Data: data}
	secret.Name = name
	secret.Labels, secret.Annotations = maps.Clone(r.meta.Labels), maps.Clone(r.meta.Annotations)
	return secret
}
