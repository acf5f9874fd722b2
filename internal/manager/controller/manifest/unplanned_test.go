package manifest

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/pkg/installer/engine"
	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

func TestDoubtHashes(t *testing.T) {
	for sentence, test := range map[string]struct {
		applied, generation int64
		want                string
	}{
		"the hashes of this generation hold":                       {3, 3, "h"},
		"those of the one before tell what was applied last":       {2, 3, "h"},
		"the one in between may have been applied":                 {1, 3, doubted},
		"a manager that told no generation stored what it planned": {0, 3, "h"},
	} {
		t.Run(sentence, func(t *testing.T) {
			hook := inventory.Entry{ID: inventory.ID{Name: "hook"}, Hash: "ticket"}.AsHook()
			entries := []inventory.Entry{{ID: inventory.ID{Name: "applied"}, Hash: "h"}, {ID: inventory.ID{Name: "planned"}}, hook}
			want := []inventory.Entry{{ID: inventory.ID{Name: "applied"}, Hash: test.want}, {ID: inventory.ID{Name: "planned"}}, hook}
			if diff := cmp.Diff(want, doubtHashes(entries, test.applied, test.generation)); diff != "" {
				t.Errorf("differs (-want +got):\n%s", diff)
			}
		})
	}
}

func TestIsUpgradeTold(t *testing.T) {
	for sentence, test := range map[string]struct {
		change func(*scope)
		want   bool
	}{
		"the next generation of a Kyma's Manifest": {func(*scope) {}, true},
		"the same generation: a source moved":      {func(w *scope) { w.manifest.Status.AppliedGeneration = w.generation }, false},
		"a generation was left out":                {func(w *scope) { w.manifest.Status.AppliedGeneration = w.generation - 2 }, false},
		"nothing is known of what was applied":     {func(w *scope) { w.manifest.Status.AppliedGeneration = 0 }, false},
		"the content depends on the cluster":       {func(w *scope) { w.asked = true }, false},
		"a Secret of the hub is in it":             {func(w *scope) { w.injected = []v1beta2.InjectedSecret{{Name: "pull"}} }, false},
		"many objects":                             {func(w *scope) { w.desired = make([]*unstructured.Unstructured, mostPlanned+1) }, false},
		"a chart that runs hooks":                  {func(w *scope) { w.releases = engine.Releases{{}} }, false},
		"a way back, which has to know that it has begun": {func(w *scope) {
			w.manifest.Annotations = map[string]string{v1beta2.AnnotationRollback: "Avoided"}
		}, false},
		"a Manifest of no Kyma": {func(w *scope) { w.manifest.OwnerReferences = nil }, false},
	} {
		t.Run(sentence, func(t *testing.T) {
			manifest := newManifest(func(m *v1beta2.Manifest) {
				m.Generation, m.Status.AppliedGeneration = 7, 6
				m.OwnerReferences = []metav1.OwnerReference{{APIVersion: v1beta2.GroupVersion.String(), Kind: "Kyma", Name: "sample", Controller: new(true)}}
			})
			w := newScope(manifest, testTime)
			test.change(w)
			if got := w.isUpgradeTold(); got != test.want {
				t.Errorf("got %v, want %v", got, test.want)
			}
		})
	}
}
