package conditions

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The two conditions by which kstatus tells an object that is on its way, or has failed, from one that is current. They are there while
// they are True, and else not at all.
const (
	Reconciling = "Reconciling"
	Stalled     = "Stalled"
)

// SetAbnormal leaves one of Reconciling and Stalled, which is True, or with an empty kind neither. It reports whether anything changed.
func SetAbnormal(conds *[]metav1.Condition, kind, reason, message string, generation int64, now metav1.Time) bool {
	before := len(*conds)
	*conds = slices.DeleteFunc(*conds, func(c metav1.Condition) bool {
		return c.Type != kind && (c.Type == Reconciling || c.Type == Stalled)
	})
	changed := len(*conds) != before
	if kind == "" {
		return changed
	}
	return Set(conds, kind, metav1.ConditionTrue, reason, message, generation, now) || changed
}
