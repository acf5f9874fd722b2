package editcmd

import (
	"context"

	"github.com/dustin/go-humanize/english"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/cli/console"
	"github.com/kyma-project/lifecycle-manager/internal/client/bulk"
	"github.com/kyma-project/lifecycle-manager/internal/client/kymaedit"
	"github.com/kyma-project/lifecycle-manager/internal/client/modulestatus"
	"github.com/kyma-project/lifecycle-manager/internal/client/statusreader"
	"github.com/kyma-project/lifecycle-manager/internal/client/waitfor"
	"github.com/kyma-project/lifecycle-manager/internal/module"
)

// runBulk marks many Kymas, or their Manifests of some modules.
func (m *marked) runBulk(ctx context.Context, args []string) error {
	b, err := m.openBulk(ctx, false)
	if err != nil {
		return err
	}
	if m.did == reconciled {
		b.repeat = "" // each call asks anew
	}
	what := english.WordSeries(args, "and")
	if m.all {
		what = "everything"
	}
	b.doing, b.question = m.doing+" "+what+" in", m.title+" "+what+" in"
	if m.all {
		return b.carryOut(ctx, b.edits(ctx, m.markKyma, nil))
	}
	manifests, err := b.manifestsOf(ctx, args)
	if err != nil {
		return err
	}
	var steps []kymaStep
	for i := range b.kymas {
		s := b.session(&b.kymas[i])
		steps = append(steps, m.markModules(s, manifests[s.Key()], args))
	}
	return b.carryOut(ctx, steps)
}

// errCopy refuses the Kyma that the user of a runtime edits.
var errCopy = console.Usage("it is the one that the user of a runtime edits: this is for the cluster of the lifecycle manager")

// markKyma marks one of many Kymas.
func (m *marked) markKyma(s *session, kyma *v1beta2.Kyma) ([]kymaedit.Change, string, error) {
	if modulestatus.IsCopy(s.Kyma) && m.did != reconciled {
		return nil, "", errCopy
	}
	if !m.mark(kyma) {
		return []kymaedit.Change{{Action: kymaedit.Unchanged}}, m.idle, nil
	}
	return []kymaedit.Change{{Action: kymaedit.Action(m.did)}}, m.verb, nil
}

// manifestsOf returns the Manifests of some modules by Kyma and module. It lists them in pages.
func (b *bulkCall) manifestsOf(ctx context.Context, modules []string) (map[client.ObjectKey]map[string]*v1beta2.Manifest, error) {
	requirement, err := labels.NewRequirement(v1beta2.LabelModuleName, selection.In, modules)
	if err != nil {
		return nil, console.Usage("%w", err)
	}
	options := []client.ListOption{client.MatchingLabelsSelector{Selector: labels.NewSelector().Add(*requirement)}}
	if namespaces := namespacesOf(b.kymas); len(namespaces) == 1 {
		options = append(options, client.InNamespace(namespaces[0]))
	}
	found := map[client.ObjectKey]map[string]*v1beta2.Manifest{}
	var page v1beta2.ManifestList
	_, err = statusreader.Pages(ctx, b.cluster, &page, func() {
		for i := range page.Items {
			manifest := &page.Items[i]
			manifest.ManagedFields = nil
			key := client.ObjectKey{Namespace: manifest.Namespace, Name: module.KymaName(manifest)}
			if found[key] == nil {
				found[key] = map[string]*v1beta2.Manifest{}
			}
			found[key][manifest.Labels[v1beta2.LabelModuleName]] = manifest
		}
		page.Items = nil
	}, options...)
	return found, err
}

// markModules returns the step that marks the Manifests of modules of one Kyma.
func (m *marked) markModules(s *session, manifests map[string]*v1beta2.Manifest, names []string) kymaStep {
	step := kymaStep{key: s.Key(), planned: effect{outcome: bulk.Unchanged, message: "does not have " + english.WordSeries(names, "or")}}
	if modulestatus.IsCopy(s.Kyma) {
		step.planned = effect{outcome: bulk.Refused, message: errCopy.Error()}
		return step
	}
	open := map[string]*v1beta2.Manifest{}
	for _, name := range names {
		manifest := manifests[name]
		switch {
		case manifest == nil && s.Has(name):
			step.planned = effect{outcome: bulk.Refused, message: "module " + name + " has no Manifest yet"}
			return step
		case manifest == nil:
			continue
		case m.mark(manifest.DeepCopy()):
			open[name] = manifest
		}
		step.planned.message = m.idle
		step.planned.items = append(step.planned.items, m.row("module/"+name, s, open[name] != nil))
	}
	if len(open) == 0 {
		return step
	}
	step.planned.outcome, step.planned.message = bulk.Planned, m.verb
	if kymaedit.DryRun(m.dryRun) != kymaedit.DryRunClient {
		step.do = func(ctx context.Context) effect { return m.patchAll(ctx, s, step.planned, open) }
	}
	return step
}

// patchAll marks some Manifests of a Kyma.
func (m *marked) patchAll(ctx context.Context, s *session, planned effect, manifests map[string]*v1beta2.Manifest) effect {
	made := planned
	if !m.dry() {
		made.outcome = bulk.Done
	}
	made.awaited = &waitfor.Options{Kyma: s.Key(), Generation: s.Kyma.Generation, Again: m.again}
	for name, manifest := range manifests {
		if _, err := m.patch(ctx, s, manifest); err != nil {
			return failed(err, s.Key())
		}
		made.awaited.Modules = append(made.awaited.Modules, waitfor.Expectation{Module: name})
	}
	return made
}
