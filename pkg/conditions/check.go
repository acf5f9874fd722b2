package conditions

import (
	"fmt"
	"regexp"
	"unicode/utf8"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

var camelCase = regexp.MustCompile(`^[A-Z][A-Za-z0-9]*$`)

// Check returns every invariant that the conditions of an object of that generation break, as sentences; nil when there is none. Tests call
// it wherever they inspect a status.
func Check(generation int64, conds []metav1.Condition) []string {
	var broken []string
	add := func(format string, values ...any) { broken = append(broken, fmt.Sprintf(format, values...)) }
	for at, cond := range conds {
		if cond.Type == "" {
			add("condition %d has no type", at+1)
		}
		switch cond.Status {
		case metav1.ConditionTrue, metav1.ConditionFalse, metav1.ConditionUnknown:
		default:
			add("condition %s has the status %q, which is none of True, False and Unknown", cond.Type, cond.Status)
		}
		if !camelCase.MatchString(cond.Reason) {
			add("condition %s has the reason %q, which is no word in CamelCase", cond.Type, cond.Reason)
		}
		if cond.ObservedGeneration > generation {
			add("condition %s observed generation %d of an object at generation %d", cond.Type, cond.ObservedGeneration, generation)
		}
		if cond.LastTransitionTime.IsZero() {
			add("condition %s has no lastTransitionTime", cond.Type)
		}
		if length := utf8.RuneCountInString(cond.Message); length > MessageLimit {
			add("condition %s has a message of %d characters, more than %d", cond.Type, length, MessageLimit)
		}
		if at == 0 {
			continue
		}
		if Find(conds[:at], cond.Type) != nil {
			add("condition %s is there twice", cond.Type)
		} else if cond.Type < conds[at-1].Type {
			add("condition %s stands behind %s: not sorted by type", cond.Type, conds[at-1].Type)
		}
	}
	return broken
}
