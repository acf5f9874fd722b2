package installer

import (
	"context"
	"errors"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

// Record is what the cluster remembers of an installation.
type Record struct {
	// Labels and Annotations of the Secret.
	Labels, Annotations map[string]string
	// Entries are the objects that are installed, or were about to be.
	Entries []inventory.Entry
	// GeneratedSecret is the name of the Secret with what charts have generated; empty while there is none.
	GeneratedSecret string
	// Created are the custom resources that were created once, or are about to be: those have no Hash yet. One without a UID existed before.
	Created []inventory.Entry
}

// Recorded reads the record of an installation, without a look at its objects; nil when nothing is installed. Only Name, Namespace and
// Config or Cluster are required.
func Recorded(ctx context.Context, inst Installation) (*Record, error) {
	c, err := begin(inst)
	if err == nil {
		err = c.record.load(ctx)
	}
	if err != nil || !c.record.exists {
		return nil, err
	}
	return &Record{
		Labels: c.record.marks.labels, Annotations: c.record.marks.annotations, GeneratedSecret: c.record.generated.name(),
		Entries: slices.Clone(c.record.entries), Created: slices.Clone(c.record.created),
	}, nil
}

// marks are the labels and annotations of the index.
type marks struct {
	labels, annotations map[string]string
}

func marksOf(secret *corev1.Secret) marks {
	return marks{labels: maps.Clone(secret.Labels), annotations: maps.Clone(secret.Annotations)}
}

func (m *marks) clone() marks {
	return marks{labels: maps.Clone(m.labels), annotations: maps.Clone(m.annotations)}
}

// add sets some of them.
func (m *marks) add(labels, annotations map[string]string) {
	m.labels, m.annotations = over(m.labels, labels), over(m.annotations, annotations)
}

// over is base with what is added to it.
func over(base, added map[string]string) map[string]string {
	if base == nil {
		base = map[string]string{}
	}
	maps.Copy(base, added)
	return base
}

func (m *marks) equal(other marks) bool {
	return maps.Equal(m.labels, other.labels) && maps.Equal(m.annotations, other.annotations)
}

// put writes them on a Secret of ours, whose own marks stay.
func (m *marks) put(secret *corev1.Secret) {
	labels, annotations := maps.Clone(secret.Labels), maps.Clone(secret.Annotations)
	secret.Labels, secret.Annotations = over(maps.Clone(m.labels), labels), over(maps.Clone(m.annotations), annotations)
}

// RecordOf is one record of several.
type RecordOf struct {
	// Namespace and Name of the Secret that names the others; Owner is the mark on its objects.
	Namespace, Name, Owner string
	Record
	// Err says why it cannot be read; its Entries are incomplete then.
	Err error
}

// Records reads the records that a list of Secrets holds, without a call: all Secrets of a namespace with a label of
// Installation.RecordLabels, for example.
func Records(secrets []corev1.Secret) []RecordOf {
	byName := make(map[string]*corev1.Secret, len(secrets))
	for i := range secrets {
		byName[secrets[i].Namespace+"/"+secrets[i].Name] = &secrets[i]
	}
	var found []RecordOf
	for i := range secrets {
		secret := &secrets[i]
		if secret.Type == recordType && secret.Data[indexKey] != nil {
			found = append(found, recordFrom(secret, byName))
		}
	}
	return found
}

func recordFrom(secret *corev1.Secret, others map[string]*corev1.Secret) RecordOf {
	owner := secret.Annotations[recordOwner]
	read := RecordOf{
		Namespace: secret.Namespace, Name: secret.Name, Owner: owner,
		Record: Record{Labels: maps.Clone(secret.Labels), Annotations: maps.Clone(secret.Annotations)},
	}
	r := &record{owner: owner}
	parsed, err := r.parse(secret)
	for _, name := range parsed.Shards {
		shard := others[secret.Namespace+"/"+name]
		if shard == nil {
			err = errors.Join(err, r.unreadable(name, errors.New("it is missing")))
			continue
		}
		entries, decoded := inventory.Decode(shard.Data[entriesKey])
		parsed.entries, err = append(parsed.entries, entries...), errors.Join(err, decoded, r.foreign(shard))
	}
	read.Entries, read.Created, read.GeneratedSecret, read.Err = parsed.entries, parsed.Created, parsed.Generated.name(), err
	return read
}
