package rootcause

import (
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kyma-project/lifecycle-manager/internal/client/modulestatus"
)

// thing reads fields of an object without trusting their types: a field of an unexpected type counts as absent.
type thing struct{ *unstructured.Unstructured }

// fields are those of one item of a list, or of a structure.
type fields map[string]any

func (t thing) ref() modulestatus.Ref {
	return modulestatus.Ref{APIVersion: t.GetAPIVersion(), Kind: t.GetKind(), Namespace: t.GetNamespace(), Name: t.GetName()}
}

// isA reports whether the object has a kind of Kubernetes itself.
func (t thing) isA(group, kind string) bool {
	gvk := t.GroupVersionKind()
	return gvk.Kind == kind && gvk.Group == group
}

func (t thing) owners() []types.UID {
	var all []types.UID
	for _, owner := range t.GetOwnerReferences() {
		if owner.UID != "" {
			all = append(all, owner.UID)
		}
	}
	return all
}

func (t thing) at(path ...string) any {
	value, _, _ := unstructured.NestedFieldNoCopy(t.Object, path...)
	return value
}

func (t thing) text(path ...string) string {
	text, _ := t.at(path...).(string)
	return text
}

func (t thing) list(path ...string) []fields { return asList(t.at(path...)) }

func (t thing) condition(kind string) fields {
	for _, c := range t.list("status", "conditions") {
		if c.text("type") == kind {
			return c
		}
	}
	return nil
}

// created returns when the object was created.
func (t thing) created() time.Time { return t.GetCreationTimestamp().Time }

func asList(value any) []fields {
	items, _ := value.([]any)
	all := make([]fields, 0, len(items))
	for _, item := range items {
		if one, ok := item.(map[string]any); ok {
			all = append(all, one)
		}
	}
	return all
}

func (f fields) text(key string) string {
	text, _ := f[key].(string)
	return text
}

func (f fields) sub(key string) fields {
	sub, _ := f[key].(map[string]any)
	return sub
}

func (f fields) flag(key string) bool {
	flag, _ := f[key].(bool)
	return flag
}

func (f fields) number(key string) int64 {
	switch value := f[key].(type) {
	case int64:
		return value
	case int:
		return int64(value)
	case float64:
		return int64(value)
	}
	return 0
}

func (f fields) has(key string) bool {
	_, found := f[key]
	return found
}

// changed returns when a condition last changed, or the zero time if that is not known.
func (f fields) changed() time.Time {
	at, err := time.Parse(time.RFC3339, f.text("lastTransitionTime"))
	if err != nil {
		return time.Time{}
	}
	return at
}
