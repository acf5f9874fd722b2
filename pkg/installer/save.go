package installer

import (
	"context"
	"errors"

	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

// conflictTries bounds how often what this call wrote is put into a record that others change meanwhile.
const conflictTries = 10

// save stores the record. It does so also when the caller has given up meanwhile, because what is in the cluster must be recorded; every
// call to the API server has an end of its own.
//
// When another call has changed the record, that call's word counts. But each object that this one wrote is put into it, as one whose
// content is not known: so it is applied again, or pruned, whichever the next call wants, and nothing is lost.
func (c *call) save(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), saveTimeout)
	defer cancel()
	err := c.record.save(ctx)
	if ReasonOf(err) != ReasonRecordConflict {
		return err
	}
	mine, created := c.record.entries, c.record.created
	for range conflictTries {
		other := c.record
		if loaded := other.load(ctx); loaded != nil {
			return errors.Join(err, loaded)
		}
		other.entries = inventory.Merge(other.entries, c.writtenIn(mine), nil)
		for _, entry := range created {
			if entry.Hash != "" && indexOf(other.created, entry.ID) < 0 {
				other.created = append(other.created, entry)
			}
		}
		saved := other.save(ctx)
		if saved == nil {
			return err
		}
		if ReasonOf(saved) != ReasonRecordConflict {
			return errors.Join(err, saved)
		}
	}
	return err
}

// writtenIn returns the entries of what this call wrote, as planned ones.
func (c *call) writtenIn(entries []inventory.Entry) []inventory.Entry {
	var written []inventory.Entry
	for _, entry := range entries {
		if c.touched[entry.ID] {
			entry.Hash = ""
			written = append(written, entry)
		}
	}
	return written
}
