package remotesync

import (
	"fmt"
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/config/crd"
)

// runtimeKinds are the kinds that users of a runtime work with, by their plurals.
var runtimeKinds = []string{"kymas", "moduletemplates", "modulereleasemetas"}

// RuntimeCRDs returns the definitions that a runtime needs: Kyma, ModuleTemplate and ModuleReleaseMeta as on the hub, in version v1beta2
// only and without conversion. They are shared and must not be changed.
func RuntimeCRDs() []DesiredObject { return runtimeCRDs() }

var runtimeCRDs = sync.OnceValue(func() []DesiredObject {
	copies := make([]DesiredObject, 0, len(runtimeKinds))
	for _, plural := range runtimeKinds {
		definition, err := runtimeCRD(plural)
		if err != nil {
			panic(err) // a file of this program: a test reads them all
		}
		copies = append(copies, definition)
	}
	return copies
})

func runtimeCRD(plural string) (DesiredObject, error) {
	file := "bases/" + v1beta2.GroupVersion.Group + "_" + plural + ".yaml"
	data, err := crd.Bases.ReadFile(file)
	if err != nil {
		return DesiredObject{}, err
	}
	base := map[string]any{}
	if err := yaml.Unmarshal(data, &base); err != nil {
		return DesiredObject{}, fmt.Errorf("%s: %w", file, err)
	}
	spec, ok := base["spec"].(map[string]any)
	if !ok {
		return DesiredObject{}, fmt.Errorf("%s holds no definition", file)
	}
	versions, _ := spec["versions"].([]any)
	for _, version := range versions {
		if fields, ok := version.(map[string]any); ok && fields["name"] == v1beta2.GroupVersion.Version {
			spec["versions"] = []any{fields}
		}
	}
	spec["conversion"] = map[string]any{"strategy": "None"}
	definition := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": base["apiVersion"], "kind": base["kind"], "spec": spec,
	}}
	definition.SetName(plural + "." + v1beta2.GroupVersion.Group)
	definition.SetLabels(map[string]string{v1beta2.LabelManagedBy: v1beta2.ManagedByKyma})
	return Make(definition, v1beta2.FieldManagerHub)
}
