package simruntime

import (
	"maps"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/uuid"
)

// moment is what a cluster's own controllers need: to serve a kind that was defined, or to empty a Namespace.
const moment = 30 * time.Millisecond

// lingering is how long the streams of a kind outlive it: API servers wait for what is under way.
const lingering = 5 * time.Second

// The kinds that hold others are these and namespaces.
var crds = schema.GroupResource{Group: "apiextensions.k8s.io", Resource: "customresourcedefinitions"}

// beginLocked makes what every cluster has. No one wrote it, so it is no revision that counts. The caller holds the lock.
func (r *Runtime) beginLocked() {
	before := r.counter.revisions.Load()
	t := r.findLocked(namespaces)
	for _, name := range []string{"default", "kube-node-lease", "kube-public", "kube-system"} {
		d := &document{Unstructured: unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "v1", "kind": "Namespace",
			"metadata": map[string]any{"name": name, "uid": string(uuid.NewUUID()), "creationTimestamp": now()},
		}}}
		settle(d)
		if _, err := r.putLocked(t, nil, d); err != nil {
			r.fleet.options.Logf("%s: namespace %s: %v", r.Name(), name, err)
		}
	}
	r.counter.revisions.Store(before)
}

// settle makes a new Namespace one.
func settle(d *document) {
	labels := d.GetLabels()
	if labels == nil {
		labels = map[string]string{}
	}
	labels["kubernetes.io/metadata.name"] = d.GetName()
	d.SetLabels(labels)
	d.Object["spec"] = map[string]any{"finalizers": []any{"kubernetes"}}
	d.Object["status"] = map[string]any{"phase": "Active"}
}

// ID returns the UID of its namespace kube-system.
func (r *Runtime) ID() string {
	defer r.lock()()
	if home := r.findLocked(namespaces).objects[place{name: "kube-system"}]; home != nil {
		if d, err := home.open(); err == nil {
			return string(d.GetUID())
		}
	}
	return ""
}

// storedLocked sees to what a written object means for others. The caller holds the lock.
func (r *Runtime) storedLocked(t *table, o *object, d *document) {
	if t.kind.gr() == crds && !o.leaving {
		r.defineLocked(t, o, d)
	}
	r.scheduleRunLocked(t.kind, o, d)
}

// droppedLocked sees to what the end of an object means for others. The caller holds the lock.
func (r *Runtime) droppedLocked(t *table, o *object, d *document) {
	if t.kind.gr() == crds {
		gr := definedBy(d)
		if gone := r.tables[gr]; gone != nil && len(gone.kind.shapes) > 0 {
			delete(r.tables, gr)
			r.endStreams(gone, lingering)
		}
		return
	}
	if t.kind.namespaced {
		r.vacate(namespaces, place{name: o.namespace})
	}
	if len(t.kind.shapes) > 0 {
		r.vacate(crds, place{name: t.kind.resource + "." + t.kind.group})
	}
}

// endStreams ends the streams of a kind whose definition has changed or gone, a while later.
func (r *Runtime) endStreams(t *table, after time.Duration) {
	r.later(after, func() {
		for w := range t.watchers {
			w.over = true
			w.wake()
		}
	})
}

func definedBy(d *document) schema.GroupResource {
	group, _, _ := unstructured.NestedString(d.Object, "spec", "group")
	plural, _, _ := unstructured.NestedString(d.Object, "spec", "names", "plural")
	return schema.GroupResource{Group: group, Resource: plural}
}

// occupied reports whether an object holds others: a Namespace its content, a definition the objects of its kind.
func (r *Runtime) occupied(k *kind, at place) bool {
	for range r.inhabitants(k.gr(), at) {
		return true
	}
	return false
}

// inhabitants returns the objects that an object holds, with their tables.
func (r *Runtime) inhabitants(gr schema.GroupResource, at place) map[*object]*table {
	found := make(map[*object]*table)
	for _, t := range r.tables {
		defined := len(t.kind.shapes) > 0 && gr == crds && at.name == t.kind.resource+"."+t.kind.group
		if !defined && (gr != namespaces || !t.kind.namespaced) {
			continue
		}
		for where, o := range t.objects {
			if defined || where.namespace == at.name {
				found[o] = t
			}
		}
	}
	return found
}

// clearLocked deletes what an object holds that has begun to leave, and then itself. The caller holds the lock.
func (r *Runtime) clearLocked(gr schema.GroupResource, at place) {
	for o, t := range r.inhabitants(gr, at) {
		w := &writing{runtime: r, table: t, version: t.kind.stored, at: place{o.namespace, o.name}}
		if t.objects[w.at] == nil {
			continue
		}
		if _, _, err := w.removeLocked(nil); err != nil {
			r.fleet.options.Logf("%s: %s %s cannot be deleted: %v", r.Name(), t.kind.name, o.name, err)
		}
	}
	r.vacate(gr, at)
}

// vacate ends an object that leaves and holds nothing any more.
func (r *Runtime) vacate(gr schema.GroupResource, at place) {
	t := r.findLocked(gr)
	live := t.objects[at]
	if live == nil || !live.leaving || r.occupied(t.kind, at) {
		return
	}
	d, err := live.open()
	if err != nil || len(d.GetFinalizers()) > 0 {
		return
	}
	if err := r.dropLocked(t, live, d); err != nil {
		r.fleet.options.Logf("%s: %s cannot leave: %v", r.Name(), at.name, err)
	}
}

// defineLocked begins to serve what a definition defines: first its names are accepted, and a moment later it is established. The caller
// holds the lock.
func (r *Runtime) defineLocked(t *table, o *object, d *document) {
	k, err := r.fleet.defined.read(d.Object["spec"])
	if err != nil {
		r.fleet.options.Logf("%s: definition %s: %v", r.Name(), o.name, err)
		return
	}
	if r.fleet.own[k.gr()] != nil {
		return
	}
	if served := r.tables[k.gr()]; served != nil {
		if served.kind != k {
			served.kind = k
			r.endStreams(served, moment)
		}
		return
	}
	if conditions, _, _ := unstructured.NestedSlice(d.Object, "status", "conditions"); len(conditions) > 0 {
		return // its turn comes
	}
	at := place{name: o.name}
	accepted := condition("NamesAccepted", "NoConflicts", "no conflicts found")
	status := func(conditions ...any) map[string]any {
		names, _, _ := unstructured.NestedMap(d.Object, "spec", "names")
		return map[string]any{"acceptedNames": names, "storedVersions": []any{k.stored}, "conditions": conditions}
	}
	r.later(0, func() {
		r.sayLocked(t, at, status(accepted))
		r.later(moment, func() { r.establish(t, at, status) }) // after it, however late timers are
	})
}

// establish serves a kind, as its definition says now.
func (r *Runtime) establish(t *table, at place, status func(...any) map[string]any) {
	live := t.objects[at]
	if live == nil || live.leaving {
		return
	}
	d, err := live.open()
	if err != nil {
		return
	}
	k, err := r.fleet.defined.read(d.Object["spec"])
	if err != nil || r.tables[k.gr()] != nil {
		return
	}
	r.tables[k.gr()] = newTable(k)
	r.sayLocked(t, at, status(
		condition("NamesAccepted", "NoConflicts", "no conflicts found"),
		condition("Established", "InitialNamesAccepted", "the initial names have been accepted"),
	))
}

func condition(name, reason, message string) any {
	return map[string]any{"type": name, "status": "True", "reason": reason, "message": message, "lastTransitionTime": now()}
}

// controller is who writes the status of what the simulation looks after.
const controller = "simruntime"

// sayLocked writes a status as a controller of the cluster does. The caller holds the lock.
func (r *Runtime) sayLocked(t *table, at place, status map[string]any) {
	live := t.objects[at]
	if live == nil {
		return
	}
	before, err := live.open()
	if err == nil {
		w := &writing{runtime: r, table: t, version: t.kind.stored, at: at, subresource: "status", manager: controller}
		after := &document{Unstructured: unstructured.Unstructured{Object: maps.Clone(before.Object)}, managed: slices.Clone(before.managed)}
		after.Object["status"] = status
		_, err = w.updateLocked(live, before, after)
	}
	if err != nil {
		r.fleet.options.Logf("%s: the status of %s %s cannot be written: %v", r.Name(), t.kind.name, at.name, err)
	}
}
