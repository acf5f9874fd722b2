package apply

import (
	"context"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/kyma-project/lifecycle-manager/pkg/fielddiff"
	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

// Change is what an apply or a delete would do with an object.
type Change string

// Changes.
const (
	// ChangeCreate: it does not exist and would be created.
	ChangeCreate Change = "Create"
	// ChangeUpdate: it exists and some of its fields would change.
	ChangeUpdate Change = "Update"
	// ChangeDelete: it would be deleted.
	ChangeDelete Change = "Delete"
	// ChangeUnchanged: it would stay as it is.
	ChangeUnchanged Change = "Unchanged"
	// ChangeRefused: it could not be written or deleted, or that could not be determined; Err holds the reason.
	ChangeRefused Change = "Refused"
)

// FieldDiff is one field that would change.
type FieldDiff = fielddiff.Field

// Difference is what would happen to one object.
type Difference struct {
	ID     inventory.ID
	Change Change
	// Fields that would change, ordered by path; only for ChangeUpdate. There, too, it is empty where the definition of the kind would change
	// as well: then the API server cannot compute the fields yet.
	Fields []FieldDiff
	// Note explains the change in a sentence: why an object stays, or what an Outcome holds in its other fields.
	Note string
	// Err is an *Error, nil unless Change is ChangeRefused.
	Err error
}

// Diff returns what Apply of the steps and Delete of the pruned entries would do, without doing it. It makes the same calls, each with
// dry-run=All, and a read ahead of every change, so that admission runs and defaults are filled in. Differences come in the order of steps,
// then of prune. An object that only the apply itself makes possible, because its kind or namespace is among the steps, is not checked.
// The values of the Secrets among the steps are hidden in the fields of all, those that the cluster has and those that it would have.
func (c *Cluster) Diff(ctx context.Context, steps []inventory.Step, prune []inventory.Entry, opts Options) []Difference {
	r := &run{Cluster: c, Options: opts, dry: true}
	brings := broughtBy(steps)
	found := make([]Difference, len(steps)+len(prune))
	compared := make([]states, len(steps))
	r.each(len(found), func(i int) {
		if i < len(steps) {
			found[i], compared[i] = r.compare(ctx, steps[i], brings)
		} else {
			found[i] = r.comparePruned(ctx, prune[i-len(steps)])
		}
	})
	secrets := secretsOf(steps, compared)
	for i, is := range compared {
		if is.result == nil {
			continue
		}
		if found[i].Fields = secrets.Compare(is.live, is.result); len(found[i].Fields) > 0 {
			found[i].Change = ChangeUpdate
		}
	}
	return found
}

// states are an object as the cluster has it and as it would be; nil where that was not read, or is not compared.
type states struct{ live, result *unstructured.Unstructured }

// secretsOf returns the values of all Secrets that the steps declare, replace or result in.
func secretsOf(steps []inventory.Step, compared []states) fielddiff.Secrets {
	var objects []*unstructured.Unstructured
	for i := range steps {
		for _, object := range []*unstructured.Unstructured{steps[i].Object, compared[i].live, compared[i].result} {
			if object != nil {
				objects = append(objects, object)
			}
		}
	}
	return fielddiff.SecretsOf(objects...)
}

// brought holds what the steps add to the cluster and other steps need.
type brought struct {
	kinds      sets.Set[schema.GroupKind]
	namespaces sets.Set[string]
}

func broughtBy(steps []inventory.Step) brought {
	b := brought{kinds: sets.New[schema.GroupKind](), namespaces: sets.New[string]()}
	for _, step := range steps {
		switch id := inventory.IDOf(step.Object); {
		case isNamespace(id):
			b.namespaces.Insert(id.Name)
		case isDefinition(id):
			group, _, _ := unstructured.NestedString(step.Object.Object, "spec", "group")
			kind, _, _ := unstructured.NestedString(step.Object.Object, "spec", "names", "kind")
			b.kinds.Insert(schema.GroupKind{Group: group, Kind: kind})
		}
	}
	return b
}

// excuses reports whether a failure is due to a kind or namespace that the steps have yet to add.
func (b brought) excuses(outcome Outcome) bool {
	switch outcome.Class {
	case ClassKindUnknown, ClassRefused:
		return b.kinds.Has(outcome.ID.GroupKind())
	case ClassNamespaceMissing:
		return b.namespaces.Has(outcome.ID.Namespace)
	default:
		return false
	}
}

// compare returns what a step would do, and the states of its object; their fields are not compared yet.
func (r *run) compare(ctx context.Context, step inventory.Step, brings brought) (told Difference, is states) {
	w, outcome := r.begin(ctx, step)
	if w != nil {
		outcome = w.finish(ctx)
		is.live = w.live
	}
	told = Difference{ID: outcome.ID, Note: outcome.Note, Err: outcome.Err}
	switch {
	case outcome.Err != nil && !brings.excuses(outcome):
		told.Change = ChangeRefused
	case outcome.Err != nil && w != nil && w.live != nil:
		told.Change, told.Err, told.Note = ChangeUpdate, nil, "its fields are not compared, because its definition changes too"
	case outcome.Err != nil || outcome.Action == Created:
		told.Change, told.Err = ChangeCreate, nil
	case outcome.Action == Shared:
		told.Change, told.Note = ChangeUnchanged, "it belongs to "+shortened(r.mark(outcome.Object), maxMark)+", which keeps it"
	default:
		result, err := w.withoutDropped(ctx, outcome)
		if err != nil {
			told.Change, told.Err = ChangeRefused, w.failed(w.id, "apply", err, w.object, w.live).Err
			return told, is
		}
		if outcome.Yielded {
			told.Note = strings.TrimPrefix(told.Note+"; its replicas are left to the autoscaler that targets it", "; ")
		}
		told.Change, is.result = ChangeUnchanged, result
	}
	return told, is
}

// comparePruned returns what a delete would do.
func (r *run) comparePruned(ctx context.Context, entry inventory.Entry) Difference {
	var live inventory.Live
	if r.Live != nil {
		live = r.Live(entry.ID)
	}
	outcome := r.remove(ctx, entry, live)
	told := Difference{ID: entry.ID, Change: ChangeUnchanged, Note: outcome.Note, Err: outcome.Err}
	switch {
	case outcome.Err != nil:
		told.Change = ChangeRefused
	case outcome.Action == Deleted:
		told.Change = ChangeDelete
	}
	return told
}
