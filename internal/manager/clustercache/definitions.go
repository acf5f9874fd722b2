package clustercache

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kyma-project/lifecycle-manager/internal/manager/runtimes"
	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

// DefinitionInterest tracks all CustomResourceDefinitions of a runtime, also those that others installed: the owner is enqueued when one
// comes, goes, or serves other versions. The stream is one of whole definitions, of which only their names and versions are kept; it costs a
// list of them, so that owners end the interest when they know enough.
var DefinitionInterest = runtimes.Interest{
	GroupVersionKind: inventory.CRDKind.WithVersion("v1"), Mode: runtimes.ModuleCR,
}

// Definitions returns the versions that each CustomResourceDefinition of the runtime serves, by name: none while it is not established, or
// is being deleted. known is false until all have been listed for an owner with DefinitionInterest.
func (r *Runtime) Definitions() (served map[string][]string, known bool) {
	definitions, known := r.ModuleCRs(inventory.CRDKind)
	if !known {
		return nil, false
	}
	served = make(map[string][]string, len(definitions))
	for i := range definitions {
		var versions []string
		if one := &definitions[i]; one.State != "" && !one.Terminating {
			versions = strings.Split(one.State, ",")
		}
		served[definitions[i].Name] = versions
	}
	return served, true
}

// servedVersions returns the versions that a definition serves as text, so that another list is another state; empty while it is not
// established.
func servedVersions(definition *unstructured.Unstructured) string {
	conditions, _, _ := unstructured.NestedSlice(definition.Object, "status", "conditions")
	if !slices.ContainsFunc(conditions, func(one any) bool {
		condition, _ := one.(map[string]any)
		return condition["type"] == "Established" && condition["status"] == "True"
	}) {
		return ""
	}
	versions, _, _ := unstructured.NestedFieldNoCopy(definition.Object, "spec", "versions") // their schemas are large
	list, _ := versions.([]any)
	var served []string
	for _, one := range list {
		version, _ := one.(map[string]any)
		if name, _ := version["name"].(string); version["served"] == true {
			served = append(served, name)
		}
	}
	return strings.Join(served, ",")
}
