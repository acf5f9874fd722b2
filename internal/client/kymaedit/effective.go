package kymaedit

import (
	"slices"

	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

// EditEffective runs an edit of a Kyma as if its spec had all requested modules, including those that only the user of its runtime
// requests. Entries that the edit does not change stay out of the spec: the runtime keeps control of them.
func EditEffective(kyma *v1beta2.Kyma, asked *v1beta2.KymaSpec, do func(*v1beta2.Kyma) error) error {
	lent := map[string]*v1beta2.Module{}
	for i := range asked.Modules {
		if m := &asked.Modules[i]; find(&kyma.Spec, m.Name) == nil {
			lent[m.Name] = m
			kyma.Spec.Modules = append(kyma.Spec.Modules, *m.DeepCopy())
		}
	}
	if err := do(kyma); err != nil {
		return err
	}
	if len(lent) > 0 {
		kyma.Spec.Modules = slices.DeleteFunc(kyma.Spec.Modules, func(m v1beta2.Module) bool {
			return lent[m.Name] != nil && equality.Semantic.DeepEqual(*lent[m.Name], m)
		})
	}
	return nil
}
