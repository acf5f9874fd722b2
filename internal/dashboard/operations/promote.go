package operations

import (
	"context"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/client/kymaedit"
	"github.com/kyma-project/lifecycle-manager/internal/client/modulestatus"
	"github.com/kyma-project/lifecycle-manager/internal/client/packaging"
	"github.com/kyma-project/lifecycle-manager/pkg/requirements"
)

// promote plans to let a channel of a release offer a version:
//
//  1. an invalid channel or version is refused
//  2. a lower version than before requires the name of the module, typed: clusters that have the higher one keep it
//  3. a version without a ModuleTemplate is refused: it cannot be installed
//  4. a version that no Kyma of the channel could install, since what it needs is not offered there, requires the name, too
func (p *planner) promote(ctx context.Context) (*plan, error) {
	c, err := connect(p.as.Config)
	if err != nil {
		return nil, err
	}
	namespace, name, _ := strings.Cut(p.deed.Release, "/")
	key := client.ObjectKey{Namespace: namespace, Name: name}
	release := &v1beta2.ModuleReleaseMeta{}
	err = c.Get(ctx, key, release)
	if unserved(err) {
		return nil, refuse(WhyNotFound, "there is no ModuleReleaseMeta %s", key)
	}
	if err != nil {
		return nil, err
	}
	made := &plan{way: wayRelease, why: "every Kyma that follows the channel gets the version, in its maintenance window if it has one"}
	move, err := p.move(ctx, c, release)
	if err != nil {
		return made.refuse(err), nil
	}
	if move.Downgrade {
		made.confirm = release.Name
		made.why = fmt.Sprintf("channel %s of %s offers %s, and %s is lower: clusters that have %s keep it, and their Kymas are in state Warning",
			move.Channel, release.Name, move.From, move.To, move.From)
		made.warnings = append(made.warnings, "installed modules are not downgraded: only new installations get "+move.To)
	}
	if lacking, err := c.unsatisfiable(ctx, release, move); err != nil {
		return nil, err
	} else if len(lacking) > 0 {
		made.confirm, made.why = release.Name, "the Kymas of the channel would wait for what the version needs"
		made.warnings = append(made.warnings, fmt.Sprintf("no Kyma of channel %s could install %s %s: %s", move.Channel, release.Name, move.To,
			strings.Join(lacking, "; ")))
	}
	ref := modulestatus.Ref{APIVersion: v1beta2.GroupVersion.String(), Kind: "ModuleReleaseMeta", Namespace: namespace, Name: name}
	made.steps = []step{{
		title: fmt.Sprintf("Let channel %s offer %s", move.Channel, move.To),
		try: func(ctx context.Context) ([]Change, error) {
			change, err := c.moveChannel(ctx, ref, move, true)
			return []Change{change}, err
		},
		do: func(ctx context.Context, r *reporter) error {
			change, err := c.moveChannel(ctx, ref, move, false)
			r.object(ref, string(change.Change), "")
			r.wrote(change)
			return err
		},
	}}
	return made, nil
}

// move returns the change of the channel; an error says why it must not change.
func (p *planner) move(ctx context.Context, c *cluster, release *v1beta2.ModuleReleaseMeta) (packaging.Move, error) {
	if release.Spec.Mandatory != nil {
		return packaging.Move{}, refuse(WhyRefused, "module %s is mandatory and has no channels", release.Name)
	}
	moves, err := packaging.Moves(release.Spec.Channels, []v1beta2.ChannelVersion{{Channel: p.deed.Channel, Version: p.deed.Version}})
	if err != nil {
		return packaging.Move{}, refuse(WhyInvalid, "%s", err)
	}
	move := moves[0]
	if !move.Changes() {
		return move, nil
	}
	template := client.ObjectKey{Namespace: release.Namespace, Name: packaging.TemplateName(release.Name, move.To)}
	err = c.Get(ctx, template, &v1beta2.ModuleTemplate{})
	if apierrors.IsNotFound(err) {
		return move, refuse(WhyRefused, "there is no ModuleTemplate %s: no cluster could install version %s", template, move.To)
	}
	return move, err
}

// unsatisfiable returns why no Kyma of the channel could install the version, as far as the user may read the releases of the modules
// that it needs.
func (c *cluster) unsatisfiable(ctx context.Context, release *v1beta2.ModuleReleaseMeta, move packaging.Move) ([]string, error) {
	template := &v1beta2.ModuleTemplate{}
	key := client.ObjectKey{Namespace: release.Namespace, Name: packaging.TemplateName(release.Name, move.To)}
	if err := c.Get(ctx, key, template); err != nil || !move.Changes() {
		return nil, client.IgnoreNotFound(err)
	}
	list := modulestatus.Requires(template)
	found := map[string]*v1beta2.ModuleReleaseMeta{}
	for _, name := range requirements.Modules(list) {
		needed := &v1beta2.ModuleReleaseMeta{}
		err := c.Get(ctx, client.ObjectKey{Namespace: release.Namespace, Name: name}, needed)
		switch {
		case err == nil:
			found[name] = needed
		case apierrors.IsForbidden(err):
			return nil, nil // it is not known
		case !apierrors.IsNotFound(err):
			return nil, err
		}
	}
	return packaging.Unsatisfiable(move.Channel, list, func(name string) *v1beta2.ModuleReleaseMeta { return found[name] }), nil
}

// moveChannel writes the move, and retries on a conflict as long as the channel still offers the version that was shown.
func (c *cluster) moveChannel(ctx context.Context, ref modulestatus.Ref, move packaging.Move, dry bool) (Change, error) {
	options := []client.UpdateOption{client.FieldOwner(kymaedit.FieldManager)}
	if dry {
		options = append(options, client.DryRunAll)
	}
	made := Change{Object: ref}
	err := retry.RetryOnConflict(retry.DefaultRetry, func() error {
		release := &v1beta2.ModuleReleaseMeta{}
		if err := c.Get(ctx, client.ObjectKey{Namespace: ref.Namespace, Name: ref.Name}, release); err != nil {
			return err
		}
		if offered := offeredBy(release, move.Channel); offered != move.From && offered != move.To {
			return refuse(WhyBusy, "channel %s was changed to %s in the meantime: check it and try again", move.Channel, offered)
		}
		before := release.Spec.DeepCopy()
		release.Spec.Channels = packaging.Apply(release.Spec.Channels, []packaging.Move{move})
		var err error
		if made, err = compared(ref, specOf(before), specOf(&release.Spec)); err != nil || len(made.Fields) == 0 {
			return err
		}
		return c.Update(ctx, release, options...)
	})
	if made.Fields == nil {
		made.Fields = []Field{}
	}
	return made, err
}

func specOf(spec *v1beta2.ModuleReleaseMetaSpec) any {
	return struct {
		Spec *v1beta2.ModuleReleaseMetaSpec `json:"spec"`
	}{spec}
}

func offeredBy(release *v1beta2.ModuleReleaseMeta, channel string) string {
	for _, offer := range release.Spec.Channels {
		if offer.Channel == channel {
			return offer.Version
		}
	}
	return ""
}
