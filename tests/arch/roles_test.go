package arch

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/yaml"
)

// granted are the exact rules of the manager's Role on the hub, and nothing else is. The one who changes internal/manager/setup/rbac.go
// changes this, and says in docs/compatibility.md why.
var granted = map[string]string{
	"configmaps":                     "get list watch",
	"secrets":                        "create delete get list update watch",
	"events.events.k8s.io":           "create patch",
	"kymas.operator.kyma-project.io": "get list patch update watch",
	"kymas/finalizers.operator.kyma-project.io":              "update",
	"kymas/status.operator.kyma-project.io":                  "get patch update",
	"manifests.operator.kyma-project.io":                     "create delete deletecollection get list patch update watch",
	"manifests/finalizers.operator.kyma-project.io":          "update",
	"manifests/status.operator.kyma-project.io":              "get patch update",
	"modulereleasemetas.operator.kyma-project.io":            "get list update watch",
	"modulereleasemetas/finalizers.operator.kyma-project.io": "update",
	"modulerollouts.operator.kyma-project.io":                "get list patch update watch",
	"kymareleases.operator.kyma-project.io":                  "get list watch",
	"kymareleases/status.operator.kyma-project.io":           "get patch update",
	"modulerollouts/finalizers.operator.kyma-project.io":     "update",
	"modulerollouts/status.operator.kyma-project.io":         "get patch update",
	"moduletemplates.operator.kyma-project.io":               "get list watch",
	"namespaces": "get", // in a Role: only its own
}

// dispensable are resources that upstream's Role does not name: the manager starts without the rights to them.
var dispensable = []string{
	"namespaces",
	"modulerollouts.operator.kyma-project.io", "modulerollouts/finalizers.operator.kyma-project.io",
	"modulerollouts/status.operator.kyma-project.io", "kymareleases.operator.kyma-project.io",
	"kymareleases/status.operator.kyma-project.io",
}

// ceiling are upstream's rules in the same namespace: a deployment that swaps the image must not need more rights. What it has beyond that
// for gateways, services and watchers is not needed here.
var ceiling = map[string]string{
	"configmaps":                     "get list watch",
	"secrets":                        "create delete get list update watch",
	"events.events.k8s.io":           "create get list patch update watch",
	"kymas.operator.kyma-project.io": "get list patch update watch",
	"kymas/finalizers.operator.kyma-project.io":              "update",
	"kymas/status.operator.kyma-project.io":                  "get patch update",
	"manifests.operator.kyma-project.io":                     "create delete deletecollection get list patch update watch",
	"manifests/finalizers.operator.kyma-project.io":          "update",
	"manifests/status.operator.kyma-project.io":              "get patch update",
	"modulereleasemetas.operator.kyma-project.io":            "get list update watch",
	"modulereleasemetas/finalizers.operator.kyma-project.io": "update",
	"moduletemplates.operator.kyma-project.io":               "get list patch update watch",
	"moduletemplates/finalizers.operator.kyma-project.io":    "update",
}

func TestRoles_TheManagerMayDoExactlyThis(t *testing.T) {
	rules, kinds := rulesOf(t, "../../config/rbac/role.yaml")
	if diff := cmp.Diff(granted, rules); diff != "" {
		t.Errorf("config/rbac/role.yaml differs from what is pinned here (-want +got):\n%s", diff)
	}
	if slices.Contains(kinds, "ClusterRole") {
		t.Error("config/rbac/role.yaml has a ClusterRole: the manager has no rights outside its namespace")
	}
	for resource, verbs := range rules {
		if slices.Contains(dispensable, resource) {
			continue
		}
		for verb := range strings.FieldsSeq(verbs) {
			if !slices.Contains(strings.Fields(ceiling[resource]), verb) {
				t.Errorf("%s %s: upstream's Role does not have it, so that swapping the image would need more rights", verb, resource)
			}
		}
	}
}

// rulesOf reads roles as resource.group -> sorted verbs.
func rulesOf(t *testing.T, file string) (rules map[string]string, kinds []string) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	verbs := map[string][]string{}
	for document := range strings.SplitSeq(string(data), "\n---\n") {
		role := &rbacv1.Role{}
		if err := yaml.UnmarshalStrict([]byte(strings.TrimPrefix(document, "---\n")), role); err != nil {
			t.Fatal(err)
		}
		kinds = append(kinds, role.Kind)
		for _, rule := range role.Rules {
			if len(rule.ResourceNames)+len(rule.NonResourceURLs) > 0 {
				t.Errorf("a rule names objects or URLs, which this test does not read: %v", rule)
			}
			for _, group := range rule.APIGroups {
				for _, resource := range rule.Resources {
					key := strings.TrimSuffix(fmt.Sprintf("%s.%s", resource, group), ".")
					verbs[key] = append(verbs[key], rule.Verbs...)
				}
			}
		}
	}
	rules = map[string]string{}
	for key, all := range verbs {
		slices.Sort(all)
		rules[key] = strings.Join(slices.Compact(all), " ")
	}
	return rules, kinds
}
