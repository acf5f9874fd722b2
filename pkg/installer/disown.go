package installer

import (
	"context"
	"slices"

	"github.com/kyma-project/lifecycle-manager/pkg/apply"
)

// Disown ends an installation and keeps what it consists of: each object loses the owner mark, or gets that of the successor that lists
// it, too, and then the record goes. Nothing is deleted, and no hook runs. Only Name, Namespace and Config or Cluster are required;
// OwnerKey and FieldManager must be as they were at Install.
//
// Another installer may then take over the objects, as this library does with apply.AdoptIfUnowned. A call that was interrupted is
// continued by the next one, as the record stays until the last mark is gone.
func Disown(ctx context.Context, inst Installation) (Report, error) {
	c, err := begin(inst)
	if err == nil {
		err = c.load(ctx)
	}
	if err != nil {
		return c.removal(nil, err)
	}
	report, err := c.removal(c.repeated(ctx, func(ctx context.Context) (*waiting, error) { return nil, c.disown(ctx) }))
	if err == nil && len(report.Objects) > 0 {
		report.Message = "what was installed stays, without an owner"
	}
	return report, err
}

func (c *call) disown(ctx context.Context) error {
	if c.record.exists {
		if err := c.record.save(ctx); err != nil { // after a crash the record shows what has begun
			return err
		}
	}
	entries := slices.Concat(c.record.created, c.record.entries)
	c.expect(entries)
	var failed []apply.Outcome
	for _, outcome := range c.engine.Disown(ctx, entries, c.options()) {
		c.didOutcome(outcome)
		if outcome.Err != nil {
			failed = append(failed, outcome)
		}
	}
	if len(failed) > 0 {
		return refused(failed)
	}
	return c.record.remove(ctx)
}
