package statusreader

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

func TestRead_OnlyKymasThatMatch(t *testing.T) {
	c := admin(t)
	const in = "matching"
	create(t, c, namespace(in))
	for _, name := range []string{"one", "two", "other"} {
		ring := map[string]string{"ring": "canary"}
		if name == "other" {
			ring = nil
		}
		kyma := &v1beta2.Kyma{ObjectMeta: metav1.ObjectMeta{Namespace: in, Name: name, Labels: ring}}
		kyma.Spec.Channel = "regular"
		manifest := &v1beta2.Manifest{ObjectMeta: metav1.ObjectMeta{Namespace: in, Name: name + "-notes", Labels: map[string]string{
			v1beta2.LabelKymaName: name, v1beta2.LabelModuleName: "notes", v1beta2.LabelManagedBy: v1beta2.ManagedByLifecycleManager,
		}}}
		manifest.Spec.Install.Name, manifest.Spec.Install.Source.Raw = "raw-manifest", []byte(`{}`)
		create(t, c, kyma, manifest)
	}
	canary := labels.SelectorFromSet(labels.Set{"ring": "canary"})
	for name, x := range map[string]struct {
		scope Scope
		want  string
	}{
		"all of a label":               {Scope{Labels: canary, Match: func(*v1beta2.Kyma) bool { return true }}, "one two"},
		"one of them":                  {Scope{Labels: canary, Match: func(k *v1beta2.Kyma) bool { return k.Name != "one" }}, "two"},
		"without a label":              {Scope{Match: func(k *v1beta2.Kyma) bool { return k.Name == "other" }}, "other"},
		"none has no Manifests either": {Scope{Match: func(*v1beta2.Kyma) bool { return false }}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			x.scope.Namespace, x.scope.Shallow = in, true
			inputs, err := Read(t.Context(), c, x.scope)
			if err != nil {
				t.Fatal(err)
			}
			kymas, manifests := "", ""
			for i := range inputs.Kymas {
				kymas += " " + inputs.Kymas[i].Name
			}
			for i := range inputs.Manifests {
				manifests += " " + inputs.Manifests[i].Labels[v1beta2.LabelKymaName]
			}
			if kymas != manifests || (" "+x.want) != kymas && x.want != kymas {
				t.Errorf("Kymas%s and the Manifests of%s, want those of %q", kymas, manifests, x.want)
			}
		})
	}
}
