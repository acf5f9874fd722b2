package editcmd

import (
	"context"
	"fmt"
	"time"

	"github.com/go-logr/logr"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/kyma-project/lifecycle-manager/internal/cli/console"
	"github.com/kyma-project/lifecycle-manager/internal/client/directinstall"
	"github.com/kyma-project/lifecycle-manager/internal/client/kymaedit"
	"github.com/kyma-project/lifecycle-manager/internal/client/modulestatus"
	"github.com/kyma-project/lifecycle-manager/pkg/apply"
	"github.com/kyma-project/lifecycle-manager/pkg/component/descriptor"
	"github.com/kyma-project/lifecycle-manager/pkg/installer"
)

// install installs modules directly.
func (d *directFlags) install(ctx context.Context, a *adding, asked []kymaedit.ModuleRequest) error {
	if err := a.checked(); err != nil {
		return err
	}
	cluster, err := a.target.Client()
	if err != nil {
		return err
	}
	where, err := a.target.Where()
	if err != nil {
		return err
	}
	a.console.Sayf("Cluster: %s", where)
	for _, wish := range asked {
		before := recorded(ctx, cluster, wish.Name)
		module, err := d.find(ctx, a.console, cluster, before, wish)
		if err != nil {
			return err
		}
		a.console.Sayf("%s", module.describe())
		asks := modulestatus.InstallInput{
			Module: wish.Name, Type: typeOf(module), Direct: before != nil,
			WantsCommunity: d.community && !d.unmanaged, WantsUnmanaged: d.unmanaged,
		}
		if err := d.allowed(ctx, a.change, asks); err != nil {
			return err
		}
		plan, err := d.plan(a.change, module)
		if err != nil {
			return err
		}
		plan.DefaultCR, plan.CR, plan.Adopt = directinstall.WantsDefault(wish.Policy, before), a.cr, a.adopt
		if err := a.directly(ctx, plan, directinstall.Install); err != nil {
			return err
		}
	}
	return nil
}

// allowed applies the flowchart of package modulestatus, and asks for confirmation if that requires one.
func (d *directFlags) allowed(ctx context.Context, c *change, asks modulestatus.InstallInput) error {
	way, why := modulestatus.WayToInstall(asks)
	switch way {
	case modulestatus.Directly:
		if asks.Type == modulestatus.Community {
			c.console.Sayf("%s is a community module: it comes without guarantees; %s.", asks.Module, why)
		}
	case modulestatus.DirectlyConfirmed:
		if c.dry() {
			return nil
		}
		question := fmt.Sprintf("%s without the lifecycle manager: %s.", asks.Module, why)
		deed := fmt.Sprintf("installing %s without the lifecycle manager (%s)", asks.Module, why)
		return c.console.ConfirmTyped(ctx, deed, question, asks.Module, "--unmanaged --yes", c.console.Yes)
	case modulestatus.ViaKyma, modulestatus.NoWay:
		return &console.Failure{Code: console.CodeError, Err: fmt.Errorf("%s", why)}
	}
	return nil
}

// plan returns the plan for package directinstall.
func (d *directFlags) plan(c *change, module found) (directinstall.Plan, error) {
	config, err := c.target.Config()
	if err != nil {
		return directinstall.Plan{}, err
	}
	access, err := d.access(c.console)
	if err != nil {
		return directinstall.Plan{}, err
	}
	signatures, err := console.ReadSignatures(d.signatures, logr.Discard())
	if err != nil {
		return directinstall.Plan{}, err
	}
	return directinstall.Plan{
		Signatures: signatures.For,
		Config:     config, Template: module.template, Origin: module.origin, Release: module.release, Access: access,
		Unmanaged: d.unmanaged, DryRun: c.dry(), Wait: c.patience(), Component: d.component(),
	}, nil
}

// patience returns how long to wait, 0 for not at all.
func (c *change) patience() time.Duration {
	if !c.wait {
		return 0
	}
	return c.timeout
}

// directly runs one call of package directinstall, shows its progress, and prints the result.
func (c *change) directly(
	ctx context.Context, plan directinstall.Plan, call func(context.Context, directinstall.Plan) (directinstall.Report, error),
) error {
	progress := c.console.Progress()
	plan.Progress = func(o installer.ObjectReport) { progress.Set(o.ID.String(), word(o), o.Message) }
	report, err := call(ctx, plan)
	progress.End()
	if err != nil {
		return taken(directError(err, report), &plan)
	}
	if c.dry() {
		c.foretell(&plan, report.Differences)
	}
	i := c.direct(report)
	if i.Action == kymaedit.Unchanged && c.unchanged != nil {
		i.word = c.unchanged(nil, nil, report.Module)
	}
	if plan.Template.Namespace != "" {
		i.Template = plan.Template.Namespace + "/" + plan.Template.Name
	}
	if plan.Origin != nil {
		i.Origin = plan.Origin.URL
	}
	if err := c.print([]item{i}); err != nil {
		return err
	}
	if c.dry() || !c.wait {
		return nil
	}
	return directEnd(report, c.timeout)
}

// foretell shows what a dry run would change; where objects are taken over, in each of their fields.
func (c *change) foretell(plan *directinstall.Plan, differences []apply.Difference) {
	for i := range differences {
		if plan.Adopt {
			writeDifference(c.console.Err, &differences[i])
		} else {
			c.console.Sayf("%s %s", differences[i].Change, differences[i].ID)
		}
	}
}

// word returns what happened to an object, in one word.
func word(o installer.ObjectReport) string {
	if o.Action != "" {
		return string(o.Action)
	}
	return string(o.Health)
}

// direct returns the result of a direct installation.
func (c *change) direct(report directinstall.Report) item {
	i := item{Name: "module/" + report.Module, Action: kymaedit.Unchanged, Version: report.Version}
	switch {
	case report.State == installer.StateGone || report.State == installer.StateDeleting:
		i.Action = kymaedit.Disabled
	case c.dry() && len(changes(report)) > 0, report.Changed && report.Previous == "":
		i.Action = kymaedit.Enabled
	case report.Changed:
		i.Action = kymaedit.Changed
	}
	if c.dry() {
		i.DryRun = c.dryRun
	}
	return i
}

// changes returns the differences that are changes.
func changes(report directinstall.Report) []apply.Difference {
	var all []apply.Difference
	for _, difference := range report.Differences {
		if difference.Change != apply.ChangeUnchanged && difference.Change != "" {
			all = append(all, difference)
		}
	}
	return all
}

// directEnd returns the error that a report means, nil for success.
func directEnd(report directinstall.Report, timeout time.Duration) error {
	switch {
	case report.Ready, report.State == installer.StateReady, report.State == installer.StateGone:
		return nil
	case report.State == installer.StateError:
		return fmt.Errorf("module %s: %s: %s", report.Module, report.Reason, report.Message)
	}
	return console.TimedOut("module %s is still %s within %s: %s: %s", report.Module, report.State, timeout, report.Reason, report.Message).
		With("run it again: it continues where it stopped")
}

// directError gives an error of package directinstall an exit code and a hint.
func directError(err error, report directinstall.Report) error {
	switch directinstall.ReasonOf(err) {
	case directinstall.ReasonNotInstalled, descriptor.ReasonNotFound:
		return console.NotFound("%w", err)
	case directinstall.ReasonManaged:
		return (&console.Failure{Code: console.CodeError, Err: err}).With("kyma delete %s takes it out of the Kyma", report.Module)
	case directinstall.ReasonManageable:
		return (&console.Failure{Code: console.CodeError, Err: err}).With("use --unmanaged")
	case directinstall.ReasonNoContent:
		return (&console.Failure{Code: console.CodeError, Err: err}).With("--registry HOST//COMPONENT names its component")
	case directinstall.ReasonBlocked:
		return (&console.Failure{Code: console.CodeError, Err: err}).With("--cascade=preview shows what would be deleted")
	}
	return err
}

// upgrade installs a directly installed module in another version, the newest if none is named.
func (d *directFlags) upgrade(ctx context.Context, c *change, wish kymaedit.ModuleRequest) error {
	cluster, err := c.target.Client()
	if err != nil {
		return err
	}
	before := recorded(ctx, cluster, wish.Name)
	module, err := d.fresh(ctx, c.console, cluster, before, wish)
	if err != nil {
		return err
	}
	c.console.Sayf("%s", module.describe())
	if err := c.keep(ctx, module, before); err != nil {
		return err
	}
	plan, err := d.plan(c, module)
	if err != nil {
		return err
	}
	plan.Unmanaged = true // it was confirmed when it was installed
	return c.directly(ctx, plan, directinstall.Upgrade)
}

// diff writes what another version of a directly installed module would change.
func (d *directFlags) diff(ctx context.Context, c *change, wish kymaedit.ModuleRequest) (bool, error) {
	cluster, err := c.target.Client()
	if err != nil {
		return false, err
	}
	module, err := d.fresh(ctx, c.console, cluster, recorded(ctx, cluster, wish.Name), wish)
	if err != nil {
		return false, err
	}
	plan, err := d.plan(c, module)
	if err != nil {
		return false, err
	}
	plan.DryRun, plan.Unmanaged, plan.AllowDowngrade = true, true, true
	report, err := directinstall.Install(ctx, plan)
	if err != nil {
		return false, directError(err, report)
	}
	differences := changes(report)
	for i := range differences {
		writeDifference(c.console.Out, &differences[i])
	}
	return len(differences) > 0, nil
}

// deleteDirectly removes modules that were installed directly. The objects that users made with them are shown first, and only those
// shown are deleted.
func (d *deleting) deleteDirectly(ctx context.Context, modules []string) error {
	if d.keep {
		return d.keepDirectly(ctx, modules)
	}
	config, err := d.target.Config()
	if err != nil {
		return err
	}
	for _, name := range modules {
		removal := directinstall.Removal{Config: config, Module: name, Wait: d.patience(), DryRun: d.dry(), Cascade: d.cascade == "true"}
		if removal.Previewed, err = directinstall.Preview(ctx, removal); err != nil {
			return directError(err, directinstall.Report{Module: name})
		}
		users := d.previewed(name, removal.Previewed)
		if err := d.next(name, users, nil); err != nil {
			return err
		}
		if len(users) > 0 || d.cascade == "preview" {
			if err := d.preview(&session{}, users); err != nil || d.cascade == "preview" {
				return err
			}
		}
		if err := d.deleteOne(ctx, removal); err != nil {
			return err
		}
	}
	return nil
}

// previewed converts the objects of package directinstall for the output of this package.
func (d *deleting) previewed(module string, resources []directinstall.Resource) []userObject {
	var users []userObject
	for _, r := range resources {
		kind := r.GroupKind().WithVersion(r.Version)
		u := userObject{module: module, ref: modulestatus.Ref{
			APIVersion: kind.GroupVersion().String(), Kind: kind.Kind, Namespace: r.Namespace, Name: r.Name,
		}}
		u.object.Kind = kind
		users = append(users, u)
	}
	return users
}

func (d *deleting) deleteOne(ctx context.Context, removal directinstall.Removal) error {
	if !d.dry() {
		question := fmt.Sprintf("Delete module %s, which was installed directly?", removal.Module)
		if err := d.console.Confirm(ctx, "deleting module "+removal.Module, question); err != nil {
			return err
		}
	}
	progress := d.console.Progress()
	removal.Progress = func(o installer.ObjectReport) { progress.Set(o.ID.String(), word(o), o.Message) }
	report, err := directinstall.Delete(ctx, removal)
	progress.End()
	if err != nil {
		return directError(err, report)
	}
	i := d.direct(report)
	i.Action = kymaedit.Disabled
	if err := d.print([]item{i}); err != nil {
		return err
	}
	if d.dry() || !d.wait {
		return nil
	}
	return directEnd(report, d.timeout)
}

// unserved reports whether a cluster does not serve our kinds.
func unserved(err error) bool { return meta.IsNoMatchError(err) || apierrors.IsNotFound(err) }
