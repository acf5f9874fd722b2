package directinstall

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/kyma-project/lifecycle-manager/pkg/apply"
	"github.com/kyma-project/lifecycle-manager/pkg/installer"
)

// maxNamed limits how many objects a message names.
const maxNamed = 10

// Delete removes a module by its record; no source has to be reachable. A second call continues an interrupted one, and a module that is
// not installed is Gone.
//
//  1. Objects that users made with the module block the deletion, if the module declared their kind or installed its definition. So does a
//     kind that may not be listed.
//  2. With Cascade, the previewed objects are deleted, each by its UID, while the module's operator still runs to handle them. Objects
//     that were created after the preview block the deletion.
//  3. The default custom resource is deleted, then everything else, with the operator after the objects that it cleans up. Objects that
//     other modules share are handed over to them.
//
// With Keep, nothing is deleted, whatever users made: each object loses the owner mark, and then the record goes.
func Delete(ctx context.Context, removal Removal) (Report, error) {
	report, err := remove(ctx, removal)
	if err != nil && report.State == "" {
		report.State, report.Reason, report.Message = installer.StateError, ReasonOf(err), err.Error()
	}
	return report, err
}

// removing is one call of Delete.
type removing struct {
	*job
	removal Removal
	inst    installer.Installation
}

func remove(ctx context.Context, removal Removal) (Report, error) {
	report := Report{Module: removal.Module}
	c, err := prepare(ctx, removal)
	if err != nil {
		return report, err
	}
	report.Previous, report.Type = c.installed(), c.note.Type
	if c.record == nil {
		report.Report = installer.Report{Ready: true, State: installer.StateGone, Reason: ReasonNotInstalled}
		report.Message = "module " + c.module + " is not installed directly"
		return report, nil
	}
	if err := c.fits(); err != nil {
		return report, err
	}
	if removal.Keep {
		return c.disown(ctx, report)
	}
	if report.Blocking, err = c.resources(ctx); err != nil {
		return report, err
	}
	if removal.DryRun {
		return c.preview(report), nil
	}
	if left, err := c.cascade(ctx, &report); left || err != nil {
		return report, err
	}
	report.Report, err = installer.Uninstall(ctx, c.inst)
	report.Changed = report.Changed || len(report.Objects) > 0
	return report, err
}

// prepare reads everything that the deletion requires.
func prepare(ctx context.Context, removal Removal) (*removing, error) {
	if removal.Config == nil || removal.Module == "" {
		return nil, refuse(ReasonPlanInvalid, "a Removal needs Config and Module")
	}
	j, err := open(ctx, removal.Config, removal.Module)
	if err != nil {
		return nil, err
	}
	c := &removing{job: j, removal: removal, inst: j.installation()}
	if j.record == nil {
		return c, nil
	}
	note := j.note
	note.Deleting, note.Disowning = note.Deleting || !removal.Keep, removal.Keep
	if c.inst.RecordAnnotations, err = note.Annotations(); err != nil {
		return nil, err
	}
	c.inst.Wait, c.inst.Progress = removal.Wait, removal.Progress
	return c, j.share(ctx, &c.inst)
}

// fits refuses what would leave a deletion, or letting go, half done.
func (c *removing) fits() error {
	switch {
	case c.note.Disowning && !c.removal.Keep:
		return disowningError(c.module)
	case c.note.Deleting && c.removal.Keep:
		return refuse(ReasonBeingDeleted,
			"module %s is being deleted, and a part of it may be gone: let that end, by deleting it again", c.module)
	}
	return nil
}

func disowningError(module string) error {
	return refuse(ReasonBeingDeleted,
		"module %s is being let go of, and a part of it may have another owner: let that end, by letting go of it again", module)
}

// disown ends the direct installation and keeps what it consists of.
func (c *removing) disown(ctx context.Context, report Report) (Report, error) {
	if c.removal.DryRun {
		return c.preview(report), nil
	}
	var err error
	report.Report, err = installer.Disown(ctx, c.inst)
	report.Changed = true
	return report, err
}

// preview returns the Report of a dry run: the objects that would be deleted or let go of, in no particular order.
func (c *removing) preview(report Report) Report {
	report.Report = installer.Report{State: installer.StateProcessing, Reason: ReasonDryRun, Message: "nothing was deleted"}
	for _, entry := range slices.Concat(c.record.Created, c.record.Entries) {
		object := installer.ObjectReport{ID: entry.ID, Version: entry.Version, Action: apply.Deleted}
		if c.removal.Keep {
			object.Action, object.Message = apply.Kept, "it stays as it is, without an owner"
		}
		if heir := c.inst.Successor(entry.ID); heir != "" {
			object.Action, object.Message = apply.Kept, heir+" has it too"
		}
		report.Objects = append(report.Objects, object)
	}
	return report
}

// Preview returns the objects that users made with a module. Delete deletes them with Cascade, and is blocked by them without. An error
// with ReasonForbidden means that there may be others.
func Preview(ctx context.Context, removal Removal) ([]Resource, error) {
	c, err := prepare(ctx, removal)
	if err != nil || c.record == nil {
		return nil, err
	}
	return c.resources(ctx)
}

// blocked returns an error that names the objects to delete first.
func blocked(module string, resources []Resource, what string) error {
	names := make([]string, 0, maxNamed)
	for _, resource := range resources[:min(len(resources), maxNamed)] {
		names = append(names, resource.String())
	}
	text := strings.Join(names, ", ")
	if more := len(resources) - maxNamed; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return refuse(ReasonBlocked, "module %s is not deleted, since %s: %s", module, what, text)
}
