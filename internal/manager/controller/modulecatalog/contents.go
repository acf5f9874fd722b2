package modulecatalog

import (
	"context"
	"fmt"
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/sets"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/manager/remotesync"
	"github.com/kyma-project/lifecycle-manager/internal/module"
	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

// kinds are the kinds of the catalog's objects.
var kinds = []schema.GroupVersionKind{
	v1beta2.GroupVersion.WithKind("ModuleReleaseMeta"), v1beta2.GroupVersion.WithKind("ModuleTemplate"),
}

// contents builds catalogs, each once for all Kymas that may see the same, until the hub's offers change.
type contents struct {
	mutex      sync.Mutex
	changes    map[string]uint64 // by namespace
	namespaces map[string]*offers
}

// offers are the objects of a namespace of the hub after a number of changes. They are the cache's and must not be changed.
type offers struct {
	changes   uint64
	releases  map[string]*v1beta2.ModuleReleaseMeta
	templates map[string]*v1beta2.ModuleTemplate

	mutex sync.Mutex
	views map[string]*view // by module.Visibility
}

// view is a catalog. It is shared and must not be changed.
type view struct {
	copies []remotesync.DesiredObject
	keep   map[schema.GroupVersionKind]sets.Set[inventory.ID]
}

// changed makes the next catalog of a namespace be built again.
func (c *contents) changed(namespace string) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if c.changes == nil {
		c.changes = map[string]uint64{}
	}
	c.changes[namespace]++
}

// of returns the catalog of a Kyma.
func (c *contents) of(ctx context.Context, reader client.Reader, kyma *v1beta2.Kyma, restricted []string) (*view, error) {
	held, err := c.offers(ctx, reader, kyma.Namespace)
	if err != nil {
		return nil, err
	}
	held.mutex.Lock()
	defer held.mutex.Unlock()
	key := module.Visibility(kyma, held.releases, restricted)
	if known := held.views[key]; known != nil {
		return known, nil
	}
	made, err := newView(module.Catalog(kyma, held.releases, held.templates, restricted))
	if err == nil {
		held.views[key] = made
	}
	return made, err
}

func newView(entries []module.Entry) (*view, error) {
	made := &view{copies: make([]remotesync.DesiredObject, 0, len(entries)), keep: map[schema.GroupVersionKind]sets.Set[inventory.ID]{}}
	for _, kind := range kinds {
		made.keep[kind] = sets.New[inventory.ID]()
	}
	for _, entry := range entries {
		one, err := remotesync.Make(entry.Object, v1beta2.FieldManagerCatalog)
		if err != nil {
			return nil, err
		}
		made.copies = append(made.copies, one)
		made.keep[one.Object.GroupVersionKind()].Insert(inventory.IDOf(one.Object))
	}
	return made, nil
}

// offers reads the objects of a namespace, unless they are known already. An event that comes meanwhile makes the next call read again.
func (c *contents) offers(ctx context.Context, reader client.Reader, namespace string) (*offers, error) {
	c.mutex.Lock()
	held, changes := c.namespaces[namespace], c.changes[namespace]
	c.mutex.Unlock()
	if held != nil && held.changes == changes {
		return held, nil
	}
	made, err := readOffers(ctx, reader, namespace)
	if err != nil {
		return nil, err
	}
	made.changes = changes
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if c.namespaces == nil {
		c.namespaces = map[string]*offers{}
	}
	if held = c.namespaces[namespace]; held != nil && held.changes >= made.changes {
		return held, nil
	}
	c.namespaces[namespace] = made
	return made, nil
}

// readOffers reads from the cache, without copies.
func readOffers(ctx context.Context, reader client.Reader, namespace string) (*offers, error) {
	releases, templates := &v1beta2.ModuleReleaseMetaList{}, &v1beta2.ModuleTemplateList{}
	for _, list := range []client.ObjectList{releases, templates} {
		if err := reader.List(ctx, list, client.InNamespace(namespace), client.UnsafeDisableDeepCopy,
			client.DisableReadYourWritesConsistency); err != nil {
			return nil, fmt.Errorf("list what namespace %s offers: %w", namespace, err)
		}
	}
	held := &offers{
		releases:  make(map[string]*v1beta2.ModuleReleaseMeta, len(releases.Items)),
		templates: make(map[string]*v1beta2.ModuleTemplate, len(templates.Items)),
		views:     map[string]*view{},
	}
	for i := range releases.Items {
		held.releases[releases.Items[i].Name] = &releases.Items[i]
	}
	for i := range templates.Items {
		held.templates[templates.Items[i].Name] = &templates.Items[i]
	}
	return held, nil
}
