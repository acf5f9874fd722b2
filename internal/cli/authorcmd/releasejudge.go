package authorcmd

import (
	"context"
	"errors"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/client/directinstall"
	"github.com/kyma-project/lifecycle-manager/internal/client/packaging"
	"github.com/kyma-project/lifecycle-manager/pkg/component"
	"github.com/kyma-project/lifecycle-manager/pkg/crdsafety"
)

// errUnlocated reports that neither the template nor a flag leads to the component versions.
var errUnlocated = errors.New("set --registry")

// upgrades compares the versions between which channels move. Each version is read once.
type upgrades struct {
	author *author
	where  *releasing
	store  releases
	read   map[string]upgraded
}

// upgraded holds the objects of a version, and the rules of CRD safety that an upgrade to it may break.
type upgraded struct {
	objects []*unstructured.Unstructured
	allowed []string
	err     error
}

// judgeUpgrades compares the definitions of the versions that channels offer with those that they are to offer, by the rules of clusters.
// Changes that clusters would refuse are printed, and a user must confirm them. Versions that cannot be read are printed too: clusters
// compare them in any case.
func (a *author) judgeUpgrades(ctx context.Context, r *releasing, store releases, moves []packaging.Move) error {
	u := &upgrades{author: a, where: r, store: store, read: map[string]upgraded{}}
	var unsafe []string
	for i := range moves {
		move := &moves[i]
		if !move.Changes() || move.From == "" {
			continue
		}
		left, err := u.breaks(ctx, move)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			a.console.Sayf("The CustomResourceDefinitions of %s and %s are not compared: %v.", move.From, move.To, err)
			continue
		}
		if len(left) == 0 {
			continue
		}
		for _, finding := range left {
			if !slices.Contains(move.UnsafeCRDChanges, finding.Rule) {
				move.UnsafeCRDChanges = append(move.UnsafeCRDChanges, finding.Rule)
			}
		}
		a.console.Sayf("The upgrade from %s to %s is refused (CRDChangeRefused) %s: %s.", move.From, move.To,
			crdsafety.RefusedWhere(left), crdsafety.Describe(left))
		unsafe = append(unsafe, move.Channel+"="+move.To)
	}
	if len(unsafe) == 0 || r.dryRun != "none" {
		return nil
	}
	what := store.meta().Name + " " + strings.Join(unsafe, " ")
	return a.console.Confirm(ctx, "releasing "+what, "Release "+what+" anyway?")
}

// breaks returns the findings that the new version does not allow by name.
func (u *upgrades) breaks(ctx context.Context, move *packaging.Move) ([]crdsafety.Finding, error) {
	before, after := u.version(ctx, move.From), u.version(ctx, move.To)
	for _, read := range []upgraded{before, after} {
		if read.err != nil {
			return nil, read.err
		}
	}
	return crdsafety.Refuse(crdsafety.CompareAll(before.objects, after.objects), after.allowed), nil
}

func (u *upgrades) version(ctx context.Context, version string) upgraded {
	if known, ok := u.read[version]; ok {
		return known
	}
	found := upgraded{}
	found.err = u.fill(ctx, version, &found)
	u.read[version] = found
	return found
}

// fill reads a version. The allowed rules are in the ModuleTemplate in the cluster, or in the one that the component contains.
func (u *upgrades) fill(ctx context.Context, version string, into *upgraded) error {
	template, err := u.store.template(ctx, version)
	if err != nil {
		return err
	}
	ref, err := u.ref(template, version)
	if err != nil {
		return err
	}
	err = opened(ctx, ref, func(found *component.Opened) error {
		if into.objects, err = packaging.Declared(ctx, found); err != nil {
			return err
		}
		if template == nil {
			template, err = templateIn(ctx, found, "")
		}
		return err
	})
	if err != nil {
		return u.where.place.login.Explain(err, u.where.place.registry)
	}
	for _, rule := range template.Spec.AllowCRDChanges {
		into.allowed = append(into.allowed, string(rule))
	}
	return nil
}

// ref returns the component version in the registry that a flag names, or otherwise in the one of the template.
func (u *upgrades) ref(template *v1beta2.ModuleTemplate, version string) (component.Ref, error) {
	place := &u.where.place
	if place.registry != "" {
		return place.ref(u.author, u.store.meta().Spec.OCMComponentName, version)
	}
	if template == nil {
		return component.Ref{}, errUnlocated
	}
	at, mapping, err := directinstall.Located(template, u.store.meta())
	if err != nil {
		return component.Ref{}, err
	}
	if at == nil {
		return component.Ref{}, errUnlocated
	}
	_, registry, found := strings.Cut(at.Registry, "://") // flags determine whether TLS is used
	if !found {
		registry = at.Registry
	}
	ref, err := place.at(u.author, registry, at.Name, at.Version)
	if err == nil && mapping != "" {
		ref.Registry.Mapping = mapping
	}
	return ref, err
}
