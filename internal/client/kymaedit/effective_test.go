package kymaedit

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

func TestEffective_Over(t *testing.T) {
	ignore := v1beta2.CustomResourcePolicyIgnore
	for name, c := range map[string]struct {
		own, asked []v1beta2.Module
		edit       func(*v1beta2.KymaSpec)
		want       []v1beta2.Module
	}{
		"a module that only the runtime requests stays there": {
			[]v1beta2.Module{{Name: "a"}}, []v1beta2.Module{{Name: "a"}, {Name: "b", Channel: "fast"}},
			func(s *v1beta2.KymaSpec) { Enable(s, ModuleRequest{Name: "b"}) }, []v1beta2.Module{{Name: "a"}},
		},
		"a changed entry is added completely": {
			nil, []v1beta2.Module{{Name: "b", Channel: "fast", CustomResourcePolicy: ignore}},
			func(s *v1beta2.KymaSpec) { Enable(s, ModuleRequest{Name: "b", Version: "1.0.0"}) },
			[]v1beta2.Module{{Name: "b", Version: "1.0.0", CustomResourcePolicy: ignore}},
		},
		"the Kyma's own entry takes precedence": {
			[]v1beta2.Module{{Name: "a", Channel: "fast"}}, []v1beta2.Module{{Name: "a", Channel: "slow"}},
			func(s *v1beta2.KymaSpec) { Enable(s, ModuleRequest{Name: "c"}) }, []v1beta2.Module{{Name: "a", Channel: "fast"}, {Name: "c"}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			kyma := &v1beta2.Kyma{Spec: v1beta2.KymaSpec{Modules: c.own}}
			if err := EditEffective(kyma, &v1beta2.KymaSpec{Modules: c.asked}, func(k *v1beta2.Kyma) error { c.edit(&k.Spec); return nil }); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, kyma.Spec.Modules); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
