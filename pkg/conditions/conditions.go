package conditions

import (
	"cmp"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Set writes one condition and reports whether anything changed. The time is used only when the status changes. The list is kept sorted by
// type, and without duplicates, which the API server would refuse. It is changed in place: callers that compute a patch from it keep a deep
// copy.
func Set(conds *[]metav1.Condition, kind string, status metav1.ConditionStatus, reason, message string, generation int64,
	now metav1.Time) bool {
	next := metav1.Condition{
		Type: kind, Status: status, Reason: reason, Message: Cut(message), ObservedGeneration: generation,
		LastTransitionTime: now.Rfc3339Copy(), // serialised times have whole seconds
	}
	changed := normalise(conds)
	last := Find(*conds, kind)
	if last == nil {
		*conds = append(*conds, next)
		normalise(conds)
		return true
	}
	if last.Status == status && !last.LastTransitionTime.IsZero() {
		next.LastTransitionTime = last.LastTransitionTime
	}
	if *last == next {
		return changed
	}
	*last = next
	return true
}

// Find returns the condition of a type, which may be changed in place; nil when there is none.
func Find(conds []metav1.Condition, kind string) *metav1.Condition {
	for at := range conds {
		if conds[at].Type == kind {
			return &conds[at]
		}
	}
	return nil
}

// IsTrue reports whether the condition of a type exists and is true.
func IsTrue(conds []metav1.Condition, kind string) bool {
	found := Find(conds, kind)
	return found != nil && found.Status == metav1.ConditionTrue
}

// IsTrueAt reports whether the condition of a type is true, and was observed at that generation.
func IsTrueAt(conds []metav1.Condition, kind string, generation int64) bool {
	return IsTrue(conds, kind) && Find(conds, kind).ObservedGeneration == generation
}

// normalise sorts by type and keeps the first condition of each type; it reports whether it changed anything.
func normalise(conds *[]metav1.Condition) bool {
	ascending := true
	for at := 1; at < len(*conds); at++ {
		ascending = ascending && (*conds)[at-1].Type < (*conds)[at].Type
	}
	if ascending {
		return false
	}
	slices.SortStableFunc(*conds, func(a, b metav1.Condition) int { return cmp.Compare(a.Type, b.Type) })
	*conds = slices.CompactFunc(*conds, func(a, b metav1.Condition) bool { return a.Type == b.Type })
	return true
}
