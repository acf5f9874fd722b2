package kyma

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/module"
	"github.com/kyma-project/lifecycle-manager/pkg/conditions"
)

// observe reads everything that the decisions may depend on. Releases, templates and Manifests come from the cache; only a component
// version that was never read before costs a call to the registry. refused are values that the merge of two specs did not accept.
func (r *Reconciler) observe(
	ctx context.Context, kyma *v1beta2.Kyma, refused map[string]string,
) (module.Snapshot, time.Duration, error) {
	manifests, err := r.manifestsOf(ctx, kyma)
	if err != nil {
		return module.Snapshot{}, 0, err
	}
	world := module.Snapshot{
		Kyma:       kyma,
		Releases:   map[string]*v1beta2.ModuleReleaseMeta{},
		Templates:  map[string]*v1beta2.ModuleTemplate{},
		Components: map[module.ComponentKey]module.Component{},
		Manifests:  manifests,
		Rollouts:   map[string]*v1beta2.ModuleRollout{},
		Restricted: r.Restricted,
		Now:        r.Now(),

		RefusedValues: refused,
	}
	world.Progress = r.progressOf(ctx, &world)
	r.readValues(ctx, &world)
	if r.Windows != nil {
		world.Windows = r.Windows.Policy()
	}
	if err := r.mandatory(ctx, &world); err != nil {
		return world, 0, err
	}
	if err := r.readRelease(ctx, &world); err != nil {
		return world, 0, err
	}
	if err := r.catalog(ctx, &world); err != nil {
		return world, 0, err
	}
	if err := r.namesakes(ctx, &world); err != nil {
		return world, 0, err
	}
	return world, r.describe(ctx, &world), nil
}

// describe requests all component versions at once: a slow one delays no other. Those that cannot be installed are requested again from
// time to time.
func (r *Reconciler) describe(ctx context.Context, world *module.Snapshot) time.Duration {
	var retry time.Duration
	needed, doubted := module.Needed(*world), module.SuspectComponents(*world)
	for _, key := range needed {
		if doubted[key] {
			retry = soonest(retry, r.Components.MarkSuspect(key))
		}
	}
	components := make([]module.Component, len(needed))
	pauses := make([]time.Duration, len(needed))
	var group sync.WaitGroup
	for i, key := range needed {
		group.Go(func() { components[i], pauses[i] = r.Components.Describe(ctx, key) })
	}
	group.Wait()
	for i, key := range needed {
		world.Components[key] = components[i]
		retry = soonest(retry, pauses[i])
	}
	return retry
}

// catalog reads the releases of the Kyma's modules and every version of them that the decisions may consider.
func (r *Reconciler) catalog(ctx context.Context, world *module.Snapshot) error {
	for name, versions := range versionsByModule(world) {
		release := &v1beta2.ModuleReleaseMeta{}
		found, err := r.get(ctx, client.ObjectKey{Namespace: world.Kyma.Namespace, Name: name}, release)
		if err != nil {
			return err
		}
		if found {
			world.Releases[name] = release
			for _, offered := range release.Spec.Channels {
				versions[offered.Version] = true
			}
			before, err := r.rolloutOf(ctx, world, release)
			if err != nil {
				return err
			}
			for _, version := range before {
				versions[version] = true
			}
		}
		for version := range versions {
			template, key := &v1beta2.ModuleTemplate{}, client.ObjectKey{Namespace: world.Kyma.Namespace, Name: name + "-" + version}
			if found, err = r.get(ctx, key, template); err != nil {
				return err
			}
			if found {
				world.Templates[template.Name] = template
			}
		}
	}
	return nil
}

// versionsByModule returns the versions that spec, release, status, Manifests and their revisions, and mandatory releases name.
func versionsByModule(world *module.Snapshot) map[string]map[string]bool {
	versions := map[string]map[string]bool{}
	add := func(name, version string) {
		if versions[name] == nil {
			versions[name] = map[string]bool{}
		}
		if version != "" {
			versions[name][version] = true
		}
	}
	for i := range world.Kyma.Spec.Modules {
		name := world.Kyma.Spec.Modules[i].Name
		add(name, world.Kyma.Spec.Modules[i].Version)
		if world.Release != nil {
			add(name, world.Release.VersionOf(name))
		}
	}
	for i := range world.Kyma.Status.Modules {
		add(world.Kyma.Status.Modules[i].Name, world.Kyma.Status.Modules[i].Version)
	}
	for i := range world.Manifests {
		name := world.Manifests[i].Labels[v1beta2.LabelModuleName]
		add(name, world.Manifests[i].Spec.Version)
		for _, revision := range world.Manifests[i].Status.Revisions {
			add(name, revision.Version) // it may be the way back
		}
	}
	for _, release := range world.Mandatory {
		if release.Spec.Mandatory != nil {
			add(release.Name, release.Spec.Mandatory.Version)
		}
	}
	return versions
}

// namesakes adds Manifests that have the name of one of ours and belong to another owner, so that the conflict is seen.
func (r *Reconciler) namesakes(ctx context.Context, world *module.Snapshot) error {
	known := map[string]bool{}
	for i := range world.Manifests {
		known[world.Manifests[i].Name] = true
	}
	for _, name := range module.Names(*world) {
		if known[name] {
			continue
		}
		other := &v1beta2.Manifest{}
		found, err := r.get(ctx, client.ObjectKey{Namespace: world.Kyma.Namespace, Name: name}, other)
		if err != nil {
			return err
		}
		if found {
			world.Manifests = append(world.Manifests, *other)
		}
	}
	return nil
}

// get reads one object; a name that no object can have (a module called "ns/name") is simply not found.
func (r *Reconciler) get(ctx context.Context, key client.ObjectKey, into client.Object) (bool, error) {
	if key.Name == "" || strings.ContainsAny(key.Name, "/%") {
		return false, nil
	}
	err := r.Client.Get(ctx, key, into)
	if apierrors.IsNotFound(err) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("read %T %s: %w", into, key, err)
	}
	return true, nil
}

func (r *Reconciler) manifestsOf(ctx context.Context, kyma *v1beta2.Kyma) ([]v1beta2.Manifest, error) {
	list := &v1beta2.ManifestList{}
	err := r.Client.List(ctx, list, client.InNamespace(kyma.Namespace), client.MatchingFields{indexKyma: kyma.Name})
	if err != nil {
		return nil, fmt.Errorf("list the Manifests of Kyma %s: %w", client.ObjectKeyFromObject(kyma), err)
	}
	return list.Items, nil
}

func readyReason(kyma *v1beta2.Kyma) (reason, message string) {
	if ready := conditions.Find(kyma.Status.Conditions, v1beta2.ConditionReady); ready != nil {
		return ready.Reason, ready.Message
	}
	return v1beta2.ReasonPending, ""
}

// soonest returns the shorter positive duration; zero means never.
func soonest(a, b time.Duration) time.Duration {
	if a == 0 || (b > 0 && b < a) {
		return b
	}
	return a
}
