package module

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

func TestDoubted(t *testing.T) {
	made := func(reason string, generation int64) v1beta2.Manifest {
		return v1beta2.Manifest{
			ObjectMeta: metav1.ObjectMeta{Generation: 3, Annotations: map[string]string{v1beta2.AnnotationFQDN: "example.com/module/maps"}},
			Spec:       v1beta2.ManifestSpec{Version: "1.0.0"},
			Status: v1beta2.ManifestStatus{Conditions: []metav1.Condition{
				{Type: v1beta2.ConditionReady, Status: metav1.ConditionFalse, Reason: reason, ObservedGeneration: generation},
			}},
		}
	}
	maps := ComponentKey{Name: "example.com/module/maps", Version: "1.0.0"}
	for name, c := range map[string]struct {
		manifest v1beta2.Manifest
		want     map[ComponentKey]bool
	}{
		"an archive that was refused may have been published again": {made(v1beta2.ReasonArchiveRefused, 3), map[ComponentKey]bool{maps: true}},
		"so may content that is too large":                          {made(v1beta2.ReasonContentTooLarge, 3), map[ComponentKey]bool{maps: true}},
		"the refusal was for an earlier generation":                 {made(v1beta2.ReasonArchiveRefused, 2), map[ComponentKey]bool{}},
		"an unreachable registry is no doubt about the content":     {made(v1beta2.ReasonRegistryUnreachable, 3), map[ComponentKey]bool{}},
		"an object that the runtime refuses is none either":         {made(v1beta2.ReasonObjectRefused, 3), map[ComponentKey]bool{}},
		"the Manifest was not observed yet":                         {v1beta2.Manifest{}, map[ComponentKey]bool{}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, SuspectComponents(Snapshot{Manifests: []v1beta2.Manifest{c.manifest}})); diff != "" {
				t.Error("(-want +got):\n" + diff)
			}
		})
	}
}
