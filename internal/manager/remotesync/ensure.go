package remotesync

import (
	"context"
	"fmt"
	"slices"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/pkg/apply"
	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

const (
	// workers bounds the calls to one runtime at a time: copies are never urgent.
	workers = 4
	// fewReads is how many objects of one kind are read one by one; more of them cost one list.
	fewReads = 4
	// pageSize bounds one page of a list.
	pageSize = 200
	// maxPages ends a list whose continue tokens never end.
	maxPages = 1000
)

type object = *unstructured.Unstructured

// pendingCopy is a copy that is not known to be in place.
type pendingCopy struct {
	*DesiredObject
	id     inventory.ID
	absent bool // known not to exist
	live   object
	read   bool // live is what there is
	failed bool // it could not be read
}

// Ensure writes copies to a runtime:
//
//  1. What was seen to be equal, and has not changed since, costs no call.
//  2. What is known not to exist is created. Everything else is read first: one by one, or by one list where there are many of a kind.
//  3. What is equal is remembered. What differs is applied with force, and what others added to its content is removed.
//  4. What is being deleted is left alone until it is gone, though a definition that stays is helped (Sweep), and what others keep changing
//     is put back in growing intervals.
//
// Namespaces and definitions come first, in the order of copies; everything else follows in no order. One object that fails stops no other;
// the error joins an *apply.Error for each. Nothing else is deleted.
func (m *Syncer) Ensure(ctx context.Context, runtime Runtime, copies []DesiredObject) (Outcome, error) {
	p := m.pass(runtime)
	first, rest := p.due(copies)
	for _, one := range first {
		p.settle(ctx, []*pendingCopy{one})
	}
	p.settle(ctx, rest)
	return p.result(ctx)
}

// due returns the copies that are not known to be in place, those that others need first.
func (p *pass) due(copies []DesiredObject) (first, rest []*pendingCopy) {
	for i := range copies {
		one := &pendingCopy{DesiredObject: &copies[i], id: inventory.IDOf(copies[i].Object)}
		stamp, known := p.runtime.ObjectVersion(one.id)
		if known && stamp != "" && p.memory.has(one.id, one.Hash, stamp) {
			continue
		}
		if p.held(one.id, one.Hash) {
			continue
		}
		one.absent = known && stamp == ""
		if isDefinition(one.id) || isNamespace(one.id) {
			first = append(first, one)
		} else {
			rest = append(rest, one)
		}
	}
	return first, rest
}

func (p *pass) settle(ctx context.Context, tasks []*pendingCopy) {
	p.readMany(ctx, tasks)
	each(tasks, func(one *pendingCopy) {
		switch {
		case one.failed:
		case p.stopped():
			p.skip()
		default:
			p.syncOne(ctx, one)
		}
	})
}

// syncOne reads an object that was not read yet, compares it and writes it.
func (p *pass) syncOne(ctx context.Context, one *pendingCopy) {
	client, err := p.client(ctx, one.Object.GroupVersionKind(), one.id)
	if err != nil {
		p.failed("find", one.id, err)
		return
	}
	if !one.absent && !one.read {
		if one.live, err = get(ctx, client, one.id.Name); err != nil {
			p.failed("read", one.id, err, one.Object)
			return
		}
	}
	switch {
	case one.live != nil && one.live.GetDeletionTimestamp() != nil:
		p.fail(one.passing("is being deleted; it is recreated when it is gone"))
		if ofOurs(one.id) {
			p.sweep(ctx, one.id, one.live.GetUID())
		}
	case one.live != nil && one.holds(one.live):
		p.memory.keep(one.id, one.Hash, one.live)
	default:
		p.write(ctx, client, one)
	}
}

// readMany reads the objects of a kind by one list where there are many of them. The list misses objects without the label; they are
// applied as if they did not exist, which gives them the label.
func (p *pass) readMany(ctx context.Context, tasks []*pendingCopy) {
	type place struct {
		gvk       schema.GroupVersionKind
		namespace string
	}
	unread := map[place][]*pendingCopy{}
	for _, one := range tasks {
		if !one.absent && one.Object.GetLabels()[v1beta2.LabelManagedBy] == v1beta2.ManagedByKyma {
			at := place{one.Object.GroupVersionKind(), one.id.Namespace}
			unread[at] = append(unread[at], one)
		}
	}
	for at, some := range unread {
		if len(some) <= fewReads || p.stopped() {
			continue
		}
		found, err := p.list(ctx, at.gvk, some)
		if err != nil {
			p.failed("list", some[0].id, err)
		}
		for _, one := range some {
			one.live, one.read, one.failed = found[one.id], err == nil, err != nil
		}
	}
}

// list reads all objects of a kind and namespace that carry the label, in pages, and keeps those that are requested: users of the runtime
// can label any number of others.
func (p *pass) list(ctx context.Context, gvk schema.GroupVersionKind, some []*pendingCopy) (map[inventory.ID]object, error) {
	client, err := p.client(ctx, gvk, some[0].id)
	if err != nil {
		return nil, err
	}
	options := metav1.ListOptions{
		Limit: pageSize, LabelSelector: labels.Set{v1beta2.LabelManagedBy: v1beta2.ManagedByKyma}.String(),
	}
	found := make(map[inventory.ID]object, len(some))
	for _, one := range some {
		found[one.id] = nil
	}
	for range maxPages {
		page, err := client.List(ctx, options)
		if err != nil {
			return nil, err
		}
		for _, item := range page.Items {
			id := inventory.IDOf(&item)
			if _, asked := found[id]; asked {
				found[id] = &item
			}
		}
		if options.Continue = page.GetContinue(); options.Continue == "" {
			return found, nil
		}
	}
	return nil, fmt.Errorf("the list of %s has more than %d pages", gvk.GroupKind(), maxPages)
}

// client returns the client for an object's resource.
func (p *pass) client(ctx context.Context, gvk schema.GroupVersionKind, id inventory.ID) (dynamic.ResourceInterface, error) {
	resource, err := p.Resource(ctx, gvk)
	if err != nil {
		return nil, err
	}
	if !resource.Namespaced {
		return p.Dynamic.Resource(resource.GroupVersionResource), nil
	}
	return p.Dynamic.Resource(resource.GroupVersionResource).Namespace(id.Namespace), nil
}

// get reads an object, nil when there is none.
func get(ctx context.Context, client dynamic.ResourceInterface, name string) (object, error) {
	live, err := client.Get(ctx, name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) && apply.Classify(err) != apply.ClassKindUnknown {
		return nil, nil //nolint:nilnil // none is an answer
	}
	return live, err
}

// each calls do for every item, in a few goroutines.
func each[T any](items []T, do func(T)) {
	var group sync.WaitGroup
	for chunk := range min(workers, len(items)) {
		group.Go(func() {
			for i := chunk; i < len(items); i += workers {
				do(items[i])
			}
		})
	}
	group.Wait()
}

func isNamespace(id inventory.ID) bool { return id.Group == "" && id.Kind == "Namespace" }

func isDefinition(id inventory.ID) bool {
	return id.GroupKind() == inventory.CRDKind
}

func (p *pass) learned(answer object) {
	if p.Learn != nil {
		p.Learn(answer)
	}
}

// versionsOf returns the names of a definition's versions; storage is the one in which objects are stored.
func versionsOf(definition object) (names []string, storage string) {
	versions, _, _ := unstructured.NestedFieldNoCopy(definition.Object, "spec", "versions") // their schemas are large
	list, _ := versions.([]any)
	for _, version := range list {
		fields, _ := version.(map[string]any)
		name, _, _ := unstructured.NestedString(fields, "name")
		if stored, _, _ := unstructured.NestedBool(fields, "storage"); stored {
			storage = name
		}
		names = append(names, name)
	}
	return slices.Clip(names), storage
}
