package health

import "k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

// object reads fields of an object without trusting their types: a field of an unexpected type counts as absent.
type object struct{ *unstructured.Unstructured }

// condition is one entry of status.conditions.
type condition struct {
	kind, status, reason, message string
	observedGeneration            int64
}

func (o object) deleted() bool {
	return o.text("metadata", "deletionTimestamp") != ""
}

func (o object) text(path ...string) string {
	value, _, _ := unstructured.NestedFieldNoCopy(o.Object, path...)
	text, _ := value.(string)
	return text
}

func (o object) flag(path ...string) bool {
	value, _, _ := unstructured.NestedFieldNoCopy(o.Object, path...)
	flag, _ := value.(bool)
	return flag
}

func (o object) number(path ...string) (value int64, found bool) {
	field, _, _ := unstructured.NestedFieldNoCopy(o.Object, path...)
	return toInt(field)
}

// count returns a number, or zero when it is absent.
func (o object) count(path ...string) int64 {
	value, _ := o.number(path...)
	return value
}

func (o object) list(path ...string) []map[string]any {
	value, _, _ := unstructured.NestedFieldNoCopy(o.Object, path...)
	items, _ := value.([]any)
	list := make([]map[string]any, 0, len(items))
	for _, item := range items {
		if fields, ok := item.(map[string]any); ok {
			list = append(list, fields)
		}
	}
	return list
}

func (o object) conditions() []condition {
	items := o.list("status", "conditions")
	found := make([]condition, 0, len(items))
	for _, fields := range items {
		var c condition
		c.kind, _ = fields["type"].(string)
		c.status, _ = fields["status"].(string)
		c.reason, _ = fields["reason"].(string)
		c.message, _ = fields["message"].(string)
		c.observedGeneration, _ = toInt(fields["observedGeneration"])
		found = append(found, c)
	}
	return found
}

func (o object) condition(kind string) (condition, bool) {
	for _, c := range o.conditions() {
		if c.kind == kind {
			return c, true
		}
	}
	return condition{}, false
}

// is reports whether a condition has that status.
func (o object) is(kind, status string) (condition, bool) {
	c, found := o.condition(kind)
	return c, found && c.status == status
}

// why returns the text of a condition: "Reason: message", or the one of them that is set.
func (c condition) why() string {
	switch {
	case c.message == "":
		return c.reason
	case c.reason == "":
		return c.message
	}
	return c.reason + ": " + c.message
}

func toInt(value any) (int64, bool) {
	switch value := value.(type) {
	case int64:
		return value, true
	case int:
		return int64(value), true
	case float64:
		return int64(value), true
	}
	return 0, false
}
