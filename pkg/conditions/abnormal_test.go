package conditions_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kyma-project/lifecycle-manager/pkg/conditions"
)

func TestSetAbnormal(t *testing.T) {
	kept := ready(func(*metav1.Condition) {})
	abnormal := func(kind, reason string, since metav1.Time) metav1.Condition {
		return metav1.Condition{Type: kind, Status: metav1.ConditionTrue, Reason: reason, Message: "text", ObservedGeneration: 2,
			LastTransitionTime: since}
	}
	list := func(conds ...metav1.Condition) []metav1.Condition { return conds }
	for _, test := range []struct {
		name         string
		conds        []metav1.Condition
		kind, reason string
		want         []metav1.Condition
		changed      bool
	}{
		{"none of none", list(kept), "", "", list(kept), false},
		{"the first", list(kept), conditions.Reconciling, "A", list(kept, abnormal(conditions.Reconciling, "A", now)), true},
		{"the same again", list(kept, abnormal(conditions.Reconciling, "A", earlier)), conditions.Reconciling, "A",
			list(kept, abnormal(conditions.Reconciling, "A", earlier)), false},
		{"another reason does not move the time", list(kept, abnormal(conditions.Stalled, "A", earlier)), conditions.Stalled, "B",
			list(kept, abnormal(conditions.Stalled, "B", earlier)), true},
		{"one in place of the other", list(kept, abnormal(conditions.Reconciling, "A", earlier)), conditions.Stalled, "B",
			list(kept, abnormal(conditions.Stalled, "B", now)), true},
		{"and back", list(kept, abnormal(conditions.Stalled, "A", earlier)), conditions.Reconciling, "B",
			list(kept, abnormal(conditions.Reconciling, "B", now)), true},
		{"none any more", list(kept, abnormal(conditions.Stalled, "A", earlier)), "", "", list(kept), true},
		{"both, as another client wrote them", list(kept, abnormal(conditions.Reconciling, "A", earlier),
			abnormal(conditions.Stalled, "A", earlier)), conditions.Stalled, "A", list(kept, abnormal(conditions.Stalled, "A", earlier)), true},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := test.conds
			changed := conditions.SetAbnormal(&got, test.kind, test.reason, "text", 2, now)
			if diff := cmp.Diff(test.want, got); diff != "" || changed != test.changed {
				t.Errorf("changed %v, want %v\n%s", changed, test.changed, diff)
			}
			if broken := conditions.Check(2, got); broken != nil {
				t.Error(broken)
			}
		})
	}
}
