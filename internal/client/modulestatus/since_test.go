package modulestatus

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

func TestModules_SinceWithoutManifest(t *testing.T) {
	created := time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)
	at := func(minutes int) metav1.Time {
		return metav1.NewTime(created.Add(time.Duration(minutes) * time.Minute))
	}
	by := func(minutes int, subresource string) metav1.ManagedFieldsEntry {
		time := at(minutes)
		return metav1.ManagedFieldsEntry{Time: &time, Subresource: subresource}
	}
	ready := func(minutes int, status metav1.ConditionStatus) []metav1.Condition {
		return []metav1.Condition{{Type: v1beta2.ConditionReady, Status: status, LastTransitionTime: at(minutes)}}
	}
	for name, c := range map[string]struct {
		fields     []metav1.ManagedFieldsEntry
		conditions []metav1.Condition
		want       int
	}{
		"a Kyma without other information waits since its creation": {want: 0},
		"the last change of the Kyma may have requested the module": {fields: []metav1.ManagedFieldsEntry{by(3, ""), by(5, "")}, want: 5},
		"a change of the status requests nothing":                   {fields: []metav1.ManagedFieldsEntry{by(3, ""), by(9, "status")}, want: 3},
		"the Kyma was Ready until then":                             {fields: []metav1.ManagedFieldsEntry{by(3, "")}, conditions: ready(7, "False"), want: 7},
		"in a Ready Kyma the module was requested later":            {fields: []metav1.ManagedFieldsEntry{by(9, "")}, conditions: ready(7, "True"), want: 9},
	} {
		t.Run(name, func(t *testing.T) {
			kyma := v1beta2.Kyma{ObjectMeta: metav1.ObjectMeta{
				Namespace: "kcp-system", Name: "k", CreationTimestamp: at(0), ManagedFields: c.fields,
			}}
			kyma.Spec.Modules = []v1beta2.Module{{Name: "notes"}}
			kyma.Status.Conditions = c.conditions
			modules := Modules(Inputs{Kymas: []v1beta2.Kyma{kyma}})
			if len(modules) != 1 || modules[0].Since == nil || !modules[0].Since.Time.Equal(at(c.want).Time) {
				t.Errorf("got %+v, want since minute %d", modules, c.want)
			}
		})
	}
}
