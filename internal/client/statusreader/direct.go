package statusreader

import (
	"encoding/json"
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/kyma-project/lifecycle-manager/internal/client/modulestatus"
	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

// The keys of the Secrets in which pkg/installer keeps its record.
const (
	recordIndex   = "record.json"
	recordEntries = "entries.json.gz"
)

// directs returns the direct installations recorded in some Secrets. A Secret with an index is a record; the others are shards.
func directs(secrets []corev1.Secret) []modulestatus.Direct {
	shards := map[string]*corev1.Secret{}
	for i := range secrets {
		shards[secrets[i].Name] = &secrets[i]
	}
	var all []modulestatus.Direct
	for i := range secrets {
		if secrets[i].Data[recordIndex] == nil {
			continue
		}
		d := modulestatus.DirectOf(&secrets[i])
		if entries, err := installed(&secrets[i], shards); err != nil {
			d.Unreadable = fmt.Sprintf("the record %s cannot be read: %v", d.Record, err)
		} else {
			d.Inventory = entries
		}
		all = append(all, d)
	}
	return all
}

// installed returns the inventory of a record.
func installed(record *corev1.Secret, shards map[string]*corev1.Secret) ([]inventory.Entry, error) {
	var index struct {
		Shards  []string          `json:"shards"`
		Created []inventory.Entry `json:"created"`
	}
	if err := json.Unmarshal(record.Data[recordIndex], &index); err != nil {
		return nil, fmt.Errorf("%s is no JSON", recordIndex)
	}
	entries, err := inventory.Decode(record.Data[recordEntries])
	if err != nil {
		return nil, err
	}
	for _, name := range index.Shards {
		shard := shards[name]
		if shard == nil {
			return nil, fmt.Errorf("its Secret %s is missing", name)
		}
		more, err := inventory.Decode(shard.Data[recordEntries])
		if err != nil {
			return nil, fmt.Errorf("secret %s: %w", name, err)
		}
		entries = append(entries, more...)
	}
	return inventory.Merge(entries, index.Created, nil), nil
}
