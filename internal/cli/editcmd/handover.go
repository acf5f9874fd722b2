package editcmd

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/dustin/go-humanize/english"
	"k8s.io/client-go/rest"

	"github.com/kyma-project/lifecycle-manager/internal/cli/console"
	"github.com/kyma-project/lifecycle-manager/internal/cli/target"
	"github.com/kyma-project/lifecycle-manager/internal/client/directinstall"
	"github.com/kyma-project/lifecycle-manager/internal/client/kymaedit"
	"github.com/kyma-project/lifecycle-manager/internal/client/releaseoutlook"
	"github.com/kyma-project/lifecycle-manager/internal/installable"
	"github.com/kyma-project/lifecycle-manager/pkg/apply"
	"github.com/kyma-project/lifecycle-manager/pkg/installer"
	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
	"github.com/kyma-project/lifecycle-manager/pkg/moduleversion"
)

// handOver lets go of the direct installations of modules that a Kyma is to have: its lifecycle manager takes over what has no owner.
// Whether it may and would is found out for all of them before the first is without an owner. After a failure a module runs without one,
// and the same call continues from there.
func (a *adding) handOver(ctx context.Context, s *session, all []kymaedit.ModuleRequest, installed []string) error {
	asked := slices.DeleteFunc(slices.Clone(all), func(wish kymaedit.ModuleRequest) bool {
		return !a.adopt || !slices.Contains(installed, wish.Name)
	})
	if len(asked) == 0 {
		return nil
	}
	if _, err := edit(ctx, s, s.enable(all), kymaedit.Options{DryRun: kymaedit.DryRunServer}); err != nil {
		return err
	}
	config, err := a.clusterOf(ctx, s)
	if err != nil {
		return err
	}
	var names []string
	for _, wish := range asked {
		if err := a.foresee(ctx, s, wish, config); err != nil {
			return err
		}
		names = append(names, wish.Name)
	}
	if !a.dry() {
		what := fmt.Sprintf("%s over to Kyma %s", strings.Join(names, ", "), s.Key())
		question := "Hand " + what + "? What runs stays, and is upgraded and repaired from then on."
		if err := a.console.Confirm(ctx, "handing "+what, question); err != nil {
			return err
		}
	}
	for _, name := range names {
		removal := directinstall.Removal{Config: config, Module: name, Wait: a.patience(), DryRun: a.dry(), Keep: true}
		if err := a.disown(ctx, removal); err != nil {
			return err
		}
	}
	return nil
}

// foresee shows what the Kyma would change in the objects of a module, by a dry run in their cluster, and names those that it would not
// take over. A lower version, and what would be refused, is an error: the module would be left without an owner.
func (a *adding) foresee(ctx context.Context, s *session, wish kymaedit.ModuleRequest, config *rest.Config) error {
	cluster, err := target.Of(config).Client()
	if err != nil {
		return err
	}
	record, err := directinstall.Find(ctx, cluster, wish.Name)
	if err != nil || record == nil {
		return err
	}
	after := s.Asked.DeepCopy()
	kymaedit.Enable(after, wish)
	version := s.Version(after, wish.Name)
	if moduleversion.IsDowngrade(record.Version, version) {
		lower := &kymaedit.LowerError{Module: wish.Name, Version: version, Installed: record.Version}
		return (&console.Failure{Code: console.CodeError, Err: lower}).
			With("it may not read the data of that: choose that version, or a channel that has it, as in kyma add %s@%s --adopt",
				wish.Name, record.Version)
	}
	d := &differing{change: a.change, direct: a.direct, all: true}
	text, err := d.rendered(ctx, s, wish.Name, "", version)
	if err != nil {
		return err
	}
	if a.dry() && text != "" {
		a.console.Sayf("%s", text)
	}
	if d.answer == nil {
		return nil
	}
	if err := wouldBeRefused(wish.Name, version, d.answer); err != nil {
		return err
	}
	for _, id := range notTaken(record.Inventory, d.answer.Objects, installable.GeneratedName(installable.DirectPrefix+wish.Name)) {
		a.console.Sayf("Warning: %s stays without an owner, since version %s in the Kyma does not have it.", id, version)
	}
	return nil
}

// wouldBeRefused returns the error for a version of which the cluster would refuse objects; nil when there are none.
func wouldBeRefused(module, version string, answer *releaseoutlook.Answer) error {
	at := slices.IndexFunc(answer.Objects, func(object releaseoutlook.Answered) bool { return object.Change == apply.ChangeRefused })
	if at < 0 {
		return nil
	}
	err := fmt.Errorf("module %s is not handed over, since its cluster would refuse %s of version %s, first %s",
		module, english.Plural(answer.Refused, "object", ""), version, answer.Objects[at].Note)
	return (&console.Failure{Code: console.CodeError, Err: err}).
		With("kyma delete %[1]s --keep-resources in its cluster, and then kyma add %[1]s, hand it over in any case", module)
}

// notTaken returns the recorded objects that the Kyma's version does not declare. Each one that it declares is in the answer, as it gets
// another mark at least. The Secret of that name goes along, although no content declares it.
func notTaken(recorded []inventory.Entry, answered []releaseoutlook.Answered, secret string) []inventory.ID {
	declared := map[inventory.ID]bool{}
	for i := range answered {
		declared[answered[i].ID] = true
	}
	var left []inventory.ID
	for _, entry := range recorded {
		kept := entry.Group == "" && entry.Kind == "Secret" && entry.Name == secret
		if !declared[entry.ID] && !entry.IsHook() && !kept {
			left = append(left, entry.ID)
		}
	}
	return left
}

// disown ends a direct installation, and keeps what it consists of.
func (c *change) disown(ctx context.Context, removal directinstall.Removal) error {
	progress := c.console.Progress()
	removal.Progress = func(o installer.ObjectReport) { progress.Set(o.ID.String(), word(o), o.Message) }
	report, err := directinstall.Delete(ctx, removal)
	progress.End()
	if err != nil {
		return directError(err, report)
	}
	if !c.dry() {
		return directEnd(report, c.timeout)
	}
	for _, object := range report.Objects {
		c.console.Sayf("%s %s: %s", object.Action, object.ID, object.Message)
	}
	return nil
}

// keepDirectly lets go of modules that were installed directly.
func (d *deleting) keepDirectly(ctx context.Context, modules []string) error {
	config, err := d.target.Config()
	if err != nil {
		return err
	}
	for _, name := range modules {
		if !d.dry() {
			question := fmt.Sprintf("Let go of module %s? What runs stays, and is neither upgraded nor repaired.", name)
			if err := d.console.Confirm(ctx, "letting go of module "+name, question); err != nil {
				return err
			}
		}
		removal := directinstall.Removal{Config: config, Module: name, Wait: d.patience(), DryRun: d.dry(), Keep: true}
		if err := d.disown(ctx, removal); err != nil {
			return err
		}
		i := item{Name: "module/" + name, Action: kymaedit.Disabled}
		if d.dry() {
			i.DryRun = d.dryRun
		}
		if err := d.print([]item{i}); err != nil {
			return err
		}
	}
	return nil
}

// taken gives the error about objects that exist already a hint, unless they were to be taken over.
func taken(err error, plan *directinstall.Plan) error {
	if plan.Adopt || directinstall.ReasonOf(err) != directinstall.ReasonOwnershipConflict {
		return err
	}
	return (&console.Failure{Code: console.CodeError, Err: err}).
		With("kyma add --adopt takes over what no installation owns; with --dry-run=client it shows what would change in each object")
}

// writeDifference writes a change of an object, field by field.
func writeDifference(to io.Writer, difference *apply.Difference) {
	fmt.Fprintf(to, "%s %s\n", difference.Change, difference.ID)
	if difference.Note != "" {
		fmt.Fprintf(to, "  (%s)\n", difference.Note)
	}
	for _, field := range difference.Fields {
		fmt.Fprintf(to, "  %s: %q -> %q\n", field.Path, field.From, field.To)
	}
}
