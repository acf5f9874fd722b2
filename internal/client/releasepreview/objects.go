package releasepreview

import (
	"reflect"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kyma-project/lifecycle-manager/pkg/fielddiff"
	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

// maxFields is how many fields of one object are listed; the others are counted.
const maxFields = 200

// Field is a field that changes. From and To are empty where it is absent, and hidden for what a Secret holds.
type Field struct {
	Path string `json:"path"`
	From string `json:"from,omitempty"`
	To   string `json:"to,omitempty"`
}

// ChangedObject is an object that both versions have, with other content.
type ChangedObject struct {
	inventory.ID

	// Fields that change, by path; MoreFields counts those that are not listed.
	Fields     []Field `json:"fields,omitempty"`
	MoreFields int     `json:"moreFields,omitempty"`
}

// ObjectChanges is how the objects of two versions differ. All lists are sorted.
type ObjectChanges struct {
	Added   []inventory.ID  `json:"added,omitempty"`
	Removed []inventory.ID  `json:"removed,omitempty"`
	Changed []ChangedObject `json:"changed,omitempty"`
	// Unchanged counts the objects that are the same in both.
	Unchanged int `json:"unchanged"`
	// Restarts are the workloads whose pods are replaced, because the description of their pods changes.
	Restarts []inventory.ID `json:"restarts,omitempty"`
}

// Empty reports whether nothing differs.
func (c *ObjectChanges) Empty() bool { return len(c.Added)+len(c.Removed)+len(c.Changed) == 0 }

// DiffObjects returns how two lists of objects differ. Of two objects with the same identity in one list the last counts. What the API
// server maintains is no difference, and values of Secrets are hidden wherever they stand, those of others too.
func DiffObjects(before, after []*unstructured.Unstructured, others ...*unstructured.Unstructured) ObjectChanges {
	secrets := fielddiff.SecretsOf(slices.Concat(before, after, others)...)
	old, next := byID(before), byID(after)
	made := ObjectChanges{}
	for id := range old {
		if next[id] == nil {
			made.Removed = append(made.Removed, id)
		}
	}
	for id, object := range next {
		had := old[id]
		if had == nil {
			made.Added = append(made.Added, id)
			continue
		}
		fields := fieldsOf(secrets.Compare(had, object))
		if len(fields) == 0 {
			made.Unchanged++
			continue
		}
		shown := fields[:min(len(fields), maxFields)]
		made.Changed = append(made.Changed, ChangedObject{ID: id, Fields: shown, MoreFields: len(fields) - len(shown)})
		if restarts(had, object) {
			made.Restarts = append(made.Restarts, id)
		}
	}
	for _, ids := range [][]inventory.ID{made.Added, made.Removed, made.Restarts} {
		slices.SortFunc(ids, inventory.ID.Compare)
	}
	slices.SortFunc(made.Changed, func(a, b ChangedObject) int { return a.Compare(b.ID) })
	return made
}

func byID(objects []*unstructured.Unstructured) map[inventory.ID]*unstructured.Unstructured {
	all := make(map[inventory.ID]*unstructured.Unstructured, len(objects))
	for _, object := range objects {
		all[inventory.IDOf(object)] = object
	}
	return all
}

func fieldsOf(differences []fielddiff.Field) []Field {
	var fields []Field
	for _, difference := range differences {
		fields = append(fields, Field(difference))
	}
	return fields
}

// replacesPods are the kinds that replace their pods when the description of them changes. A Job or CronJob runs what is new next time.
var replacesPods = []schema.GroupKind{
	{Group: "apps", Kind: "Deployment"}, {Group: "apps", Kind: "StatefulSet"}, {Group: "apps", Kind: "DaemonSet"},
}

// restarts reports whether a change of an object replaces pods by itself.
func restarts(before, after *unstructured.Unstructured) bool {
	if !slices.Contains(replacesPods, after.GroupVersionKind().GroupKind()) {
		return false
	}
	if strategy, _, _ := unstructured.NestedString(after.Object, "spec", "updateStrategy", "type"); strategy == "OnDelete" {
		return false
	}
	old, _, _ := unstructured.NestedFieldNoCopy(before.Object, "spec", "template")
	next, _, _ := unstructured.NestedFieldNoCopy(after.Object, "spec", "template")
	return !reflect.DeepEqual(old, next)
}
