package testkit

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/module"
	"github.com/kyma-project/lifecycle-manager/pkg/conditions"
)

func TestKstatus_FindsWhatIsSaidTooSoon(t *testing.T) {
	then := metav1.NewTime(time.Unix(1000, 0))
	kymaWith := func(observed int64, state v1beta2.State, ready metav1.ConditionStatus) *v1beta2.Kyma {
		kyma := &v1beta2.Kyma{ObjectMeta: metav1.ObjectMeta{Name: "sample", Generation: 2}}
		kyma.Status.ObservedGeneration, kyma.Status.State = observed, state
		conditions.Set(&kyma.Status.Conditions, v1beta2.ConditionReady, ready, "Because", "text", max(observed, 0), then)
		module.SetAbnormal(&kyma.Status.Conditions, state, then)
		return kyma
	}
	without := func(kyma *v1beta2.Kyma, kind string) *v1beta2.Kyma {
		if kind == v1beta2.ConditionReady {
			kyma.Status.Conditions = nil
		}
		conditions.SetAbnormal(&kyma.Status.Conditions, "", "", "", 0, then)
		return kyma
	}
	for name, c := range map[string]struct {
		kyma *v1beta2.Kyma
		want string // part of the violation; "" for none
	}{
		"Ready is Current":                     {kymaWith(2, v1beta2.StateReady, metav1.ConditionTrue), ""},
		"Error is Failed":                      {kymaWith(2, v1beta2.StateError, metav1.ConditionFalse), ""},
		"Warning is InProgress":                {kymaWith(2, v1beta2.StateWarning, metav1.ConditionFalse), ""},
		"an edit is InProgress":                {kymaWith(1, v1beta2.StateReady, metav1.ConditionTrue), ""},
		"what was not looked at is InProgress": {kymaWith(-1, "", metav1.ConditionFalse), ""},
		"upstream's is not judged":             {kymaWith(0, v1beta2.StateProcessing, metav1.ConditionTrue), ""},
		"Error without Stalled is found":       {without(kymaWith(2, v1beta2.StateError, metav1.ConditionFalse), ""), "not Failed"},
		"Processing without anything is found": {without(kymaWith(2, v1beta2.StateProcessing, metav1.ConditionFalse), "Ready"), "not InProgress"},
		"Ready that is still Reconciling is, too": {func() *v1beta2.Kyma {
			kyma := kymaWith(2, v1beta2.StateProcessing, metav1.ConditionTrue)
			kyma.Status.State = v1beta2.StateReady
			return kyma
		}(), "not Current"},
	} {
		t.Run(name, func(t *testing.T) {
			now, err := subjectOf(c.kyma)
			if err != nil {
				t.Fatal(err)
			}
			got := misleads(now)
			if c.want == "" && len(got) > 0 || c.want != "" && (len(got) != 1 || !strings.Contains(got[0], c.want)) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}
