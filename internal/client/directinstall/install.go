package directinstall

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/dustin/go-humanize/english"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kyma-project/lifecycle-manager/internal/client/modulestatus"
	"github.com/kyma-project/lifecycle-manager/pkg/apply"
	"github.com/kyma-project/lifecycle-manager/pkg/content"
	"github.com/kyma-project/lifecycle-manager/pkg/installer"
	"github.com/kyma-project/lifecycle-manager/pkg/moduleversion"
)

// Install installs a module in the version of the Plan. A second call with the same Plan writes nothing; a call after an interruption
// continues where it stopped.
//
//  1. The module's type: refused if a Kyma manages the module, or could and Unmanaged is not set.
//  2. The installed version: refused if it is being deleted, or is higher than the requested one.
//  3. The content is fetched and verified. It is refused if it does not have the digest in the template, or has changed under the same
//     version.
//  4. The API server is queried by dry runs. If it would refuse a part, nothing is written.
//  5. pkg/installer does the rest. Objects that a new version no longer has are deleted when the new version is ready.
func Install(ctx context.Context, plan Plan) (Report, error) { return install(ctx, plan, false) }

// Upgrade is Install for an installed module, with ReasonNotInstalled for any other. It creates no custom resource.
func Upgrade(ctx context.Context, plan Plan) (Report, error) { return install(ctx, plan, true) }

// installing is one call of Install.
type installing struct {
	*job
	plan    Plan
	version string
	kind    modulestatus.Type
	upgrade bool
	loaded  loaded
}

func install(ctx context.Context, plan Plan, upgrade bool) (Report, error) {
	call := &installing{plan: plan, upgrade: upgrade}
	report, err := call.run(ctx)
	if err != nil && report.State == "" {
		report.State, report.Reason, report.Message = installer.StateError, ReasonOf(err), err.Error()
	}
	return report, err
}

func (c *installing) run(ctx context.Context) (Report, error) {
	module, version, err := identify(&c.plan)
	c.version = version
	report := Report{Module: module, Version: version}
	if err != nil {
		return report, err
	}
	if c.job, err = open(ctx, c.plan.Config, module); err != nil {
		return report, err
	}
	report.Previous = c.installed()
	if c.kind, err = c.guard(ctx, &c.plan); err != nil {
		return report, err
	}
	report.Type = c.kind
	if err := c.allowed(); err != nil {
		return report, err
	}
	store, done, err := storeOf(c.plan.Store)
	if err != nil {
		return report, err
	}
	report, err = c.bring(ctx, store, report)
	return report, errors.Join(err, done())
}

// allowed refuses a call that does not fit the installed state.
func (c *installing) allowed() error {
	before := c.installed()
	switch {
	case c.upgrade && c.record == nil:
		return refuse(ReasonNotInstalled, "module %s is not installed here: add it instead", c.module)
	case c.record != nil && c.note.Disowning:
		return disowningError(c.module)
	case c.record != nil && c.note.Deleting:
		return refuse(ReasonBeingDeleted, "module %s is being deleted: let that end, by deleting it again", c.module)
	case !c.plan.AllowDowngrade && moduleversion.IsLower(c.version, before):
		return refuse(ReasonDowngrade, "module %s is installed in version %s, which is higher than %s: that may not read its data",
			c.module, before, c.version)
	}
	return nil
}

// bring fetches the content and applies it.
func (c *installing) bring(ctx context.Context, store *content.Store, report Report) (Report, error) {
	var err error
	if c.loaded, err = c.load(ctx, store); err != nil {
		return report, c.trouble(ctx, err)
	}
	inst, err := c.installation(ctx)
	if err != nil {
		return report, err
	}
	if report.Differences, err = installer.Diff(ctx, inst); err != nil {
		return report, c.trouble(ctx, err)
	}
	if err := errors.Join(c.covered(inst.CustomResources), refusedOf(c.module, report.Differences)); err != nil {
		return report, c.trouble(ctx, err)
	}
	if err := c.annotate(&inst); err != nil { // again, since covered may have changed the note on the signatures
		return report, err
	}
	if c.plan.DryRun {
		report.Report = installer.Report{State: installer.StateProcessing, Reason: ReasonDryRun, Resolved: c.loaded.pinned}
		report.Message = "nothing was written"
		return report, nil
	}
	report.Report, err = installer.Install(ctx, inst)
	report.Changed = slices.ContainsFunc(report.Objects, func(o installer.ObjectReport) bool {
		return o.Action != "" && o.Action != apply.Unchanged && o.Action != apply.Shared
	})
	return report, c.trouble(ctx, err)
}

// refusedOf returns an error for the objects that would be refused, by the API server or because another one owns them; nil when there are
// none.
func refusedOf(module string, differences []apply.Difference) error {
	var bad []string
	reason := ReasonOwnershipConflict
	for i := range differences {
		err := differences[i].Err
		if err == nil {
			continue
		}
		bad = append(bad, err.Error())
		if told, ok := errors.AsType[*apply.Error](err); !ok || told.Class != apply.ClassOwnershipConflict {
			reason = ReasonRefused
		}
	}
	if len(bad) == 0 {
		return nil
	}
	text := strings.Join(bad[:min(len(bad), 5)], "; ")
	if more := len(bad) - 5; more > 0 {
		text += fmt.Sprintf(" (and %d more %s)", more, english.PluralWord(more, "object", ""))
	}
	return &Error{Reason: reason, Err: fmt.Errorf("nothing of module %s was changed, since this would be refused: %s", module, text)}
}

// installation returns the request to pkg/installer.
func (c *installing) installation(ctx context.Context) (installer.Installation, error) {
	inst := c.job.installation()
	inst.CreateNamespace, inst.PruneWhenReady, inst.Wait, inst.Progress = true, true, c.plan.Wait, c.plan.Progress
	inst.CRDs, inst.Sources, inst.Pinned = c.loaded.definitions, c.loaded.sources, c.loaded.pinned
	inst.CustomResources = c.customResources()
	inst.Transforms = c.loaded.transforms()
	if c.plan.Adopt {
		inst.Ownership = apply.AdoptIfUnowned
	}
	for _, rule := range c.plan.Template.Spec.AllowCRDChanges {
		inst.AllowCRDChanges = append(inst.AllowCRDChanges, string(rule))
	}
	var err error
	if inst.GeneratedSecret, err = c.inheritedSecret(ctx); err != nil {
		return inst, err
	}
	if err := c.share(ctx, &inst); err != nil {
		return inst, err
	}
	if err := c.home(ctx, &inst); err != nil {
		return inst, err
	}
	return inst, c.annotate(&inst)
}

// customResources returns the custom resources that this call creates and those that were created before, since they count for readiness:
//
//  1. A custom resource that was created once is not created again.
//  2. One whose creation was interrupted is created.
//  3. Otherwise the Plan's is created, except by an upgrade of a complete installation.
func (c *installing) customResources() []*unstructured.Unstructured {
	var custom []*unstructured.Unstructured
	if c.record != nil {
		for _, entry := range c.record.Created {
			if entry.Hash != "" {
				known := &unstructured.Unstructured{}
				known.SetGroupVersionKind(entry.GroupKind().WithVersion(entry.Version))
				known.SetNamespace(entry.Namespace)
				known.SetName(entry.Name)
				custom = append(custom, known)
			}
		}
	}
	asked := c.requestedResource()
	if len(custom) > 0 || asked == nil || c.upgrade && c.installed() != "" {
		return custom
	}
	return append(custom, asked)
}

// requestedResource returns the custom resource that the Plan or an interrupted call requests.
func (c *installing) requestedResource() *unstructured.Unstructured {
	planned := c.record != nil && len(c.record.Created) > 0
	switch {
	case c.plan.CR != nil:
		return c.plan.CR.DeepCopy()
	case (c.plan.DefaultCR || planned) && c.plan.Template.Spec.Data != nil:
		return c.plan.Template.Spec.Data.DeepCopy()
	}
	return nil
}

// storeOf returns the store for the content, and a function that removes a temporary one.
func storeOf(dir string) (store *content.Store, done func() error, err error) {
	if dir != "" {
		return &content.Store{Dir: dir}, func() error { return nil }, nil
	}
	if dir, err = os.MkdirTemp("", "kyma-content-"); err != nil {
		return nil, nil, fmt.Errorf("make a temporary folder: %w", err)
	}
	return &content.Store{Dir: dir}, func() error { return os.RemoveAll(dir) }, nil
}
