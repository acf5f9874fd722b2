package editcmd

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/dustin/go-humanize/english"
	"github.com/spf13/cobra"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/cli/console"
	"github.com/kyma-project/lifecycle-manager/internal/client/kymaedit"
	"github.com/kyma-project/lifecycle-manager/internal/client/modulestatus"
	"github.com/kyma-project/lifecycle-manager/internal/client/waitfor"
)

// deleting is one call of `kyma delete`.
type deleting struct {
	*change
	cascade string
	keep    bool
	// dependents are the modules that go, too, each with those that it needs.
	dependents map[string][]string
}

func remove(c *change) *cobra.Command {
	d := &deleting{change: c}
	command := &cobra.Command{
		Use:     "delete NAME...",
		Aliases: []string{"del", "disable", "remove"},
		Short:   "Disable modules",
		Long: "Takes modules out of the Kyma, and the lifecycle manager removes them. It is refused while custom resources exist that people\n" +
			"made with the module, since no operator would clean up after them, and while other modules of the Kyma need it: delete those first,\n" +
			"or use --cascade, which shows both before it deletes them. Modules that were installed directly are removed directly.\n\n" +
			"--selector, --state, --on-channel, --with-module and --all-kymas select many Kymas.\n\n" +
			"With --keep-resources everything that a module consists of stays as it is, without an owner: kyma add --adopt takes it over again.",
		Example: "  kyma delete notes\n" +
			"  kyma delete notes beacon --yes --wait=false\n" +
			"  kyma delete notes --cascade=preview\n" +
			"  kyma delete notes --selector ring=canary --with-module notes@1.0.0\n" +
			"  kyma delete notes --keep-resources",
		Args:              names(1, -1, "NAME"),
		ValidArgsFunction: c.completeEnabled,
		RunE:              func(command *cobra.Command, args []string) error { return d.run(command.Context(), args) },
	}
	c.flags(command)
	c.bulkFlag(command)
	flags := command.Flags()
	flags.StringVar(&d.cascade, "cascade", "false",
		"delete the users' objects of the module, and the modules that need it, too; --cascade=preview only shows them")
	flags.Lookup("cascade").NoOptDefVal = "true"
	flags.BoolVar(&d.keep, "keep-resources", false, "stop managing the module: everything it consists of stays where it is")
	return command
}

func (d *deleting) run(ctx context.Context, args []string) error {
	if err := d.valid(args); err != nil {
		return err
	}
	many, err := d.many()
	switch {
	case err != nil:
		return err
	case many:
		return d.runBulk(ctx, args)
	}
	managed, direct, s, err := d.sort(ctx, args)
	if err != nil {
		return err
	}
	if len(direct) > 0 {
		if err := d.deleteDirectly(ctx, direct); err != nil {
			return err
		}
	}
	if len(managed) == 0 {
		return nil
	}
	if managed, err = d.withDependents(s, managed); err != nil {
		return err
	}
	users, err := d.resources(ctx, s, managed)
	if err != nil || d.cascade == "preview" {
		return err
	}
	if err := d.confirm(ctx, s, managed, users); err != nil {
		return err
	}
	if d.keep {
		if err := d.unmanage(ctx, s, managed); err != nil {
			return err
		}
	}
	if err := d.cascadeNow(ctx, s, users); err != nil {
		return err
	}
	return d.disable(ctx, s, managed)
}

func (d *deleting) valid(args []string) error {
	switch d.cascade {
	case "true", "false", "preview":
	default:
		return console.Usage("--cascade=%s is unknown", d.cascade).With("use --cascade or --cascade=preview")
	}
	if d.keep && d.cascade != "false" {
		return console.Usage("--keep-resources and --cascade exclude each other")
	}
	for _, name := range args {
		if wish, err := kymaedit.ParseWish(name); err != nil || wish.Name != name {
			return console.Usage("%q is not a module name", name)
		}
	}
	return nil
}

// sort separates modules of the Kyma from those that were installed directly. A cluster without a Kyma can have only the latter.
func (d *deleting) sort(ctx context.Context, args []string) (managed, direct []string, s *session, err error) {
	s, err = d.open(ctx)
	noKyma := console.Code(err) == console.CodeNotFound
	if err != nil && !noKyma {
		return nil, nil, nil, err
	}
	if !noKyma {
		if err := s.Load(ctx, s); err != nil {
			return nil, nil, nil, err
		}
	}
	cluster, clientErr := d.target.Client()
	if clientErr != nil {
		return nil, nil, nil, clientErr
	}
	installed := d.directHere(ctx, cluster, s)
	for _, name := range args {
		switch {
		case !noKyma && s.Theirs(name):
			return nil, nil, nil, d.elsewhere(s, name)
		case !noKyma && (kymaedit.Entry(&s.Asked, name) != nil || s.StatusOf(name) != nil):
			managed = append(managed, name)
		case slices.Contains(installed, name):
			direct = append(direct, name)
		case noKyma:
			return nil, nil, nil, notInstalled(name, err)
		case s.Offers[name].Module == "":
			return nil, nil, nil, d.unknown(s, name)
		default:
			managed = append(managed, name) // it is available and not enabled: nothing to change
		}
	}
	return managed, direct, s, nil
}

// notInstalled returns the error for a missing module in a cluster without a Kyma.
func notInstalled(name string, err error) error {
	if failure, ok := errors.AsType[*console.Failure](err); ok {
		return &console.Failure{Code: failure.Code, Err: fmt.Errorf("module %s is not installed: %w", name, failure.Err), Hint: failure.Hint}
	}
	return err
}

// elsewhere returns the error for a module that only its runtime requests: the Kyma here has no entry that could be removed.
func (d *deleting) elsewhere(s *session, name string) error {
	return (&console.Failure{
		Code: console.CodeError, Err: fmt.Errorf("kyma %s does not ask for module %s: the user of its runtime does", s.Key(), name),
	}).With("call kyma delete %s in the runtime, for Kyma %s/%s", name, v1beta2.RuntimeNamespace, v1beta2.RuntimeKymaName)
}

// unknown returns the error for a module that neither the Kyma nor the catalog has.
func (d *deleting) unknown(s *session, name string) error {
	var have []string
	for i := range s.Asked.Modules {
		have = append(have, s.Asked.Modules[i].Name)
	}
	failure := console.NotFound("Kyma %s has no module %s", s.Key(), name)
	if len(have) > 0 {
		return failure.Known("modules of it", kymaedit.Similar(name, have), have)
	}
	return failure.With("it has no modules")
}

// confirm asks before anything is deleted.
func (d *deleting) confirm(ctx context.Context, s *session, modules []string, users []userObject) error {
	if d.dry() {
		return nil
	}
	there := false
	for _, name := range modules {
		there = there || kymaedit.Entry(&s.Asked, name) != nil
	}
	if !there {
		return nil
	}
	named := strings.Join(modules, ", ")
	deed, question := fmt.Sprintf("deleting %s from Kyma %s", named, s.Key()), fmt.Sprintf("Delete %s from Kyma %s", named, s.Key())
	switch {
	case d.keep:
		deed = fmt.Sprintf("removing %s from Kyma %s and keeping its resources", named, s.Key())
		question = fmt.Sprintf("Remove %s from Kyma %s and keep what runs", named, s.Key())
	case len(users) > 0:
		question += fmt.Sprintf(", and the %s above", english.Plural(len(users), "object", ""))
	}
	return d.console.Confirm(ctx, deed, question+"?")
}

// disable removes the entries and waits until the modules are gone.
func (d *deleting) disable(ctx context.Context, s *session, modules []string) error {
	done, err := d.apply(ctx, s, func(kyma *v1beta2.Kyma) (changes []kymaedit.Change, err error) {
		for _, name := range modules {
			changes = append(changes, kymaedit.Disable(&kyma.Spec, name))
		}
		return changes, nil
	})
	if err != nil {
		return err
	}
	var wants []waitfor.Expectation
	for _, name := range modules {
		wants = append(wants, waitfor.Expectation{Module: name, Gone: true})
	}
	return d.follow(ctx, s, done.After, wants)
}

// unmanage makes the modules unmanaged first, so that their objects stay when the entries are removed.
func (d *deleting) unmanage(ctx context.Context, s *session, modules []string) error {
	if d.dry() {
		return nil
	}
	if !d.wait {
		return console.Usage("--keep-resources waits until the modules are no longer managed").With("leave out --wait=false")
	}
	result, err := kymaedit.Apply(ctx, s.WithWatch, s.Key(), func(kyma *v1beta2.Kyma) error {
		for _, name := range modules {
			kymaedit.Manage(&kyma.Spec, name, false, "")
		}
		return nil
	}, kymaedit.Options{})
	if err != nil {
		return refusal(err, s.Key().String())
	}
	var wants []waitfor.Expectation
	for _, name := range modules {
		if kymaedit.Entry(&result.After.Spec, name) != nil {
			wants = append(wants, waitfor.Expectation{Module: name, Unmanaged: true})
		}
	}
	return d.follow(ctx, s, result.After, wants)
}

// next decides by the flowchart of package modulestatus whether one module can be deleted.
func (d *deleting) next(name string, users []userObject, unread []modulestatus.Unread) error {
	refs := make([]modulestatus.Ref, 0, len(users))
	for _, u := range users {
		refs = append(refs, u.ref)
	}
	return d.step(modulestatus.DeleteInput{Module: name, Managed: true, Resources: refs, Unread: unread, Cascade: d.cascade != "false"})
}

// step returns the error of a deletion that is blocked.
func (d *deleting) step(leaving modulestatus.DeleteInput) error {
	if step, why := modulestatus.NextToDelete(leaving); step == modulestatus.Blocked {
		hint := "--cascade=preview shows what would be deleted"
		if len(leaving.Dependents) == 0 { // what needs the module would not be asked about
			hint += "; --keep-resources removes the module and keeps what runs"
		}
		return (&console.Failure{Code: console.CodeError, Err: fmt.Errorf("module %s cannot be deleted: %s", leaving.Module, why)}).
			With("%s", hint)
	}
	return nil
}
