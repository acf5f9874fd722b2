package getcmd

import (
	"context"

	"github.com/kyma-project/lifecycle-manager/internal/cli/catalogcmd"
	"github.com/kyma-project/lifecycle-manager/internal/client/communitycatalog"
	"github.com/kyma-project/lifecycle-manager/internal/client/modulestatus"
	"github.com/kyma-project/lifecycle-manager/internal/client/registryauth"
)

// sourceAnswers holds what the catalogs that modules came from have now, each asked once in a call of a command.
type sourceAnswers struct {
	// read reads a catalog again, as kyma upgrade does.
	read func(ctx context.Context, module string, origin modulestatus.Origin) (communitycatalog.Catalog, error)
	say  func(format string, args ...any)
	kept map[modulestatus.Origin]map[string][]string
}

// answersOf returns a sourceAnswers that asks catalogs, and writes nothing.
func (s *show) answersOf(again *catalogcmd.Again) *sourceAnswers {
	again.Dry = func() bool { return true }
	return &sourceAnswers{
		kept: map[modulestatus.Origin]map[string][]string{}, say: s.console.Sayf,
		read: func(ctx context.Context, module string, origin modulestatus.Origin) (communitycatalog.Catalog, error) {
			found, _, err := again.Read(ctx, registryauth.Options{}, module, origin)
			return found, err
		},
	}
}

// newer returns modules whose available versions are those of the catalogs that they came from. A catalog that cannot be read is a warning,
// and its modules stay as the cluster knows them.
func (a *sourceAnswers) newer(ctx context.Context, in *modulestatus.Inputs, modules []modulestatus.Module) []modulestatus.Module {
	available := map[modulestatus.Key]string{}
	for i := range in.Direct {
		d := &in.Direct[i]
		if d.Origin == nil {
			continue
		}
		installed := d.Version
		if !d.Complete {
			installed = d.Before
		}
		if newest := modulestatus.NewestFor(a.versions(ctx, d)[d.Module], installed); newest != "" {
			available[d.Record] = newest
		}
	}
	all, _ := modulestatus.WithAvailable(modules, available)
	return all
}

// versions returns the versions of each module in the catalog that a module came from.
func (a *sourceAnswers) versions(ctx context.Context, d *modulestatus.Direct) map[string][]string {
	if known, asked := a.kept[*d.Origin]; asked {
		return known
	}
	found, err := a.read(ctx, d.Module, *d.Origin)
	if err != nil {
		a.say("Warning: it is not known whether there is a newer version: %v", err)
	}
	known := map[string][]string{}
	for i := range found.Templates {
		t := &found.Templates[i]
		known[modulestatus.ModuleOf(t)] = append(known[modulestatus.ModuleOf(t)], t.ModuleVersion())
	}
	a.kept[*d.Origin] = known
	return known
}

// unasked reports whether there are modules whose catalogs were not asked.
func unasked(in *modulestatus.Inputs) bool {
	for i := range in.Direct {
		if in.Direct[i].Origin != nil {
			return true
		}
	}
	return false
}
