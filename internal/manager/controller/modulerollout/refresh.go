package modulerollout

import (
	"context"
	"fmt"
	"maps"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/module"
)

// refresh brings the records up to date: those of the Kymas that changed, or all when what they were made by has changed.
func (r *Reconciler) refresh(ctx context.Context, w *inputs, known *count) error {
	known.expect(w.mandatory())
	touched := known.take() // before anything is read, so that an event that comes meanwhile counts for the next pass
	names := maps.Keys(touched)
	if basis := w.basis(); basis != known.basis {
		all, err := r.kymas(ctx, w)
		if err != nil {
			known.restart()
			return err
		}
		maps.Copy(all, known.names) // those that are gone, too
		names, known.basis = maps.Keys(all), basis
	}
	common := w.snapshot(r.Restricted)
	for name := range names {
		found, err := r.look(ctx, w, common, name, known.records[name])
		if err != nil {
			known.restart()
			return err
		}
		known.keep(name, found)
	}
	return nil
}

// kymas returns the names of the Kymas that may have the module.
func (r *Reconciler) kymas(ctx context.Context, w *inputs) (map[string]struct{}, error) {
	list := &v1beta2.KymaList{}
	options := []client.ListOption{
		client.InNamespace(w.rollout.Namespace), client.UnsafeDisableDeepCopy, client.DisableReadYourWritesConsistency,
	}
	if !w.mandatory() {
		options = append(options, client.MatchingFields{r.Indexes.Module: w.rollout.Name})
	}
	if err := r.Client.List(ctx, list, options...); err != nil {
		return nil, fmt.Errorf("list the Kymas with module %s: %w", w.rollout.Name, err)
	}
	names := make(map[string]struct{}, len(list.Items))
	for i := range list.Items {
		names[list.Items[i].Name] = struct{}{}
	}
	return names, nil
}

// look returns what the cache holds of one Kyma and the module, nil when it is no member of any channel.
func (r *Reconciler) look(ctx context.Context, w *inputs, common module.Snapshot, name string, before *record) (*record, error) {
	kyma := &v1beta2.Kyma{}
	switch err := r.Client.Get(ctx, client.ObjectKey{Namespace: w.rollout.Namespace, Name: name}, kyma, stale...); {
	case apierrors.IsNotFound(err):
		return nil, nil //nolint:nilnil // nil stands for no member
	case err != nil:
		return nil, fmt.Errorf("read Kyma %s: %w", name, err)
	}
	channel, refusal, member := w.membership(kyma, common)
	if !member {
		return nil, nil //nolint:nilnil // nil stands for no member
	}
	offered := w.targets[channel]
	found := candidate{kyma: kyma, module: w.rollout.Name, mandatory: w.mandatory()}
	if !found.mandatory {
		found.entry = entryOf(kyma, w.rollout.Name)
	}
	var err error
	if found.manifest, err = r.manifest(ctx, w, &found); err != nil {
		return nil, err
	}
	if before != nil && (before.channel != channel || before.version != offered.Version || before.member.UID != string(kyma.UID)) {
		before = nil
	}
	return newRecord(found, channel, offered, before, refusal, w.now), nil
}

// entryOf returns the entry of a module in a Kyma's status, nil when there is none.
func entryOf(kyma *v1beta2.Kyma, name string) *v1beta2.ModuleStatus {
	for i := range kyma.Status.Modules {
		if kyma.Status.Modules[i].Name == name {
			return &kyma.Status.Modules[i]
		}
	}
	return nil
}

// manifest reads the Manifest of the module, nil when there is none: by the name that the Kyma's status gives it, by the name that it would
// get, and among all of the Kyma when a component was renamed meanwhile.
func (r *Reconciler) manifest(ctx context.Context, w *inputs, c *candidate) (*v1beta2.Manifest, error) {
	names := []string{module.ManifestName(c.kyma.Name, w.release.Spec.OCMComponentName, w.rollout.Name)}
	if c.entry != nil && c.entry.Manifest != nil {
		names = append([]string{c.entry.Manifest.Name}, names...)
	}
	for _, name := range slices.Compact(names) {
		manifest := &v1beta2.Manifest{}
		err := r.Client.Get(ctx, client.ObjectKey{Namespace: c.kyma.Namespace, Name: name}, manifest, stale...)
		switch {
		case err == nil && module.KymaName(manifest) == c.kyma.Name:
			return manifest, nil
		case err != nil && !apierrors.IsNotFound(err):
			return nil, fmt.Errorf("read Manifest %s: %w", name, err)
		}
	}
	list := &v1beta2.ManifestList{}
	err := r.Client.List(ctx, list, client.InNamespace(c.kyma.Namespace), client.MatchingFields{r.Indexes.Kyma: c.kyma.Name},
		client.UnsafeDisableDeepCopy, client.DisableReadYourWritesConsistency)
	if err != nil {
		return nil, fmt.Errorf("list the Manifests of Kyma %s: %w", c.kyma.Name, err)
	}
	for i := range list.Items {
		if list.Items[i].Labels[v1beta2.LabelModuleName] == w.rollout.Name {
			return &list.Items[i], nil
		}
	}
	return nil, nil //nolint:nilnil // nil stands for a module that is not installed
}
