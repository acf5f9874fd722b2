package remotesync

import (
	"fmt"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

func TestEnsure_RemovesLabelsAndAnnotationsThatTheHubRemoved(t *testing.T) {
	m := &Syncer{}
	c := prepared(t, m)
	labelled := func(name string, labels, annotations map[string]string) DesiredObject {
		one := template(t, name)
		object := one.Object.DeepCopy()
		object.SetLabels(labels)
		object.SetAnnotations(annotations)
		return made(t, object, one.Manager)
	}
	ours := map[string]string{v1beta2.LabelManagedBy: v1beta2.ManagedByKyma}
	with := map[string]string{v1beta2.LabelManagedBy: v1beta2.ManagedByKyma, v1beta2.LabelBeta: "true", "team": "a"}
	for name, changed := range map[string]bool{"and nothing else changed": false, "and the content changed, too": true} {
		t.Run(name, func(t *testing.T) {
			first := labelled("unlabelled", with, map[string]string{"doc": "text"})
			t.Cleanup(func() { c.delete(first) })
			ensure(t, m, c, first) // by a create, whose fields no apply takes out
			c.edit(first, `{"metadata":{"labels":{"mine":"too"},"annotations":{"note":"theirs"}}}`)
			c.see(kind)
			second := labelled("unlabelled", ours, nil)
			if changed {
				object := second.Object.DeepCopy()
				if err := unstructured.SetNestedField(object.Object, "2.0.0", "spec", "version"); err != nil {
					t.Fatal(err)
				}
				second = made(t, object, second.Manager)
			}
			ensure(t, m, c, second)
			live := c.get(second)
			if got, want := fmt.Sprint(live.GetLabels()), fmt.Sprint(map[string]string{"mine": "too", v1beta2.LabelManagedBy: "kyma"}); got != want {
				t.Errorf("labels %s, want %s", got, want)
			}
			if got := fmt.Sprint(live.GetAnnotations()); got != "map[note:theirs]" {
				t.Errorf("annotations %s", got)
			}
			c.see(kind)
			if cost := c.costs(func() { ensure(t, m, c, second) }); cost != "" {
				t.Errorf("the next look costs %s", cost)
			}
		})
	}
}
