package installer

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/dustin/go-humanize/english"

	"github.com/kyma-project/lifecycle-manager/pkg/apply"
	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

// did notes what was done with an object. That nothing had to be done does not overwrite what an earlier pass of the same call did.
func (c *call) did(id inventory.ID, action apply.Action, message string) {
	if before, ok := c.told[id]; ok && action == apply.Unchanged && before.Action != apply.Failed && before.Action != apply.Refused {
		return
	}
	c.told[id] = ObjectReport{ID: id, Action: action, Message: message}
	c.progress(c.told[id])
}

// progress tells the caller what is new about an object.
func (c *call) progress(report ObjectReport) {
	if c.inst.Progress != nil && c.passed[report.ID] != report {
		c.passed[report.ID] = report
		c.inst.Progress(report)
	}
}

// didNothing notes the objects that are in order.
func (c *call) didNothing(decision inventory.Decision) {
	open := map[inventory.ID]bool{}
	for _, step := range decision.Apply {
		open[step.Entry.ID] = true
	}
	for _, object := range c.desired {
		if id := inventory.IDOf(object); !open[id] {
			c.did(id, apply.Unchanged, "")
		}
	}
	for _, object := range c.custom {
		if at := indexOf(c.record.created, inventory.IDOf(object)); at >= 0 && c.record.created[at].Hash != "" {
			c.did(inventory.IDOf(object), apply.Unchanged, "")
		}
	}
}

func (c *call) didOutcome(outcome apply.Outcome) {
	var notes []string
	for _, conflict := range outcome.Overruled {
		notes = append(notes, fmt.Sprintf("%s was set by %s and is put back", conflict.Field, conflict.Manager))
	}
	if outcome.Yielded {
		notes = append(notes, "its replicas are left to the autoscaler that targets it")
	}
	if outcome.Note != "" {
		notes = append(notes, outcome.Note)
	}
	if outcome.Err != nil {
		notes = append(notes, outcome.Err.Error())
	}
	c.did(outcome.ID, outcome.Action, strings.Join(notes, "; "))
}

// expect notes what must be deleted, for the Report.
func (c *call) expect(entries []inventory.Entry) {
	for _, entry := range entries {
		if indexOf(c.gone, entry.ID) < 0 {
			c.gone = append(c.gone, entry)
		}
	}
}

// reported returns what the Report says of an object.
func (c *call) reported(id inventory.ID, version string) ObjectReport {
	told := c.told[id]
	told.ID, told.Version = id, version
	live, looked := c.lookedUp(id)
	custom := slices.ContainsFunc(c.record.created, func(entry inventory.Entry) bool { return entry.ID == id })
	switch {
	case live != nil:
		result := healthOf(live, custom)
		told.Health = result.Status
		if told.Message == "" && result.Status != "Ready" {
			told.Message = result.Message
		}
	case told.Message == "" && told.Action == "":
		told.Message = "is not yet applied"
	case looked && told.Message == "" && told.Action != apply.Gone && told.Action != apply.Deleted:
		told.Message = "is not there"
	}
	return told
}

// report returns the Report of an Install or a Check.
func (c *call) report(left *waiting, err error) (Report, error) {
	report := Report{Resolved: c.resolved}
	if c.record != nil {
		for _, object := range c.all() {
			report.Objects = append(report.Objects, c.reported(inventory.IDOf(object), object.GroupVersionKind().Version))
		}
		report.Objects = append(report.Objects, c.ranHooks()...)
		for _, entry := range c.gone {
			report.Objects = append(report.Objects, c.reported(entry.ID, entry.Version))
		}
	}
	switch {
	case err != nil:
		report.State, report.Reason, report.Message = StateError, ReasonOf(err), err.Error()
	case left != nil:
		report.State, report.Reason, report.Message = StateProcessing, left.reason, left.message
		if more := len(left.on) - 1; more > 0 {
			report.Message += fmt.Sprintf(" (and %d more %s)", more, english.PluralWord(more, "object", ""))
		}
		if left.failed {
			report.State = StateError
		}
	default:
		report.Ready, report.State, report.Reason = true, StateReady, ReasonInstalled
		report.Message = fmt.Sprintf("%s installed and ready", english.Plural(len(c.all()), "object", ""))
	}
	return report, err
}

// refused returns the error of objects that could not be written or deleted: the first, and how many there are.
func refused(bad []apply.Outcome) error {
	err := &Error{Reason: string(bad[0].Class), Err: bad[0].Err}
	for _, outcome := range bad { // what a user must fix is reported before what may resolve itself
		if outcome.Action == apply.Refused {
			err = &Error{Reason: string(outcome.Class), Err: outcome.Err}
			break
		}
	}
	if more := len(bad) - 1; more > 0 {
		err.Err = errors.Join(fmt.Errorf("%w (and %d more %s)", err.Err, more, english.PluralWord(more, "object", "")))
	}
	return err
}
