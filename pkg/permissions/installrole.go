package permissions

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

// installVerbs are what an installer does with each object: it looks whether it is there, applies it, watches it, and deletes it.
var installVerbs = []string{"get", "list", "watch", "create", "update", "patch", "delete"}

// InstallRole returns the roles that an installer needs to apply and to delete the objects: a ClusterRole for what lives in no
// namespace, and a Role for each namespace, all with the given name. They allow whole kinds, because lists, watches and creations
// cannot be limited to names. Before a definition is changed or deleted all objects of its kind are listed, and before a Namespace is
// deleted everything in it.
//
// An API server lets a client grant only rights that it has itself. The installer therefore gets the verb escalate on the roles that
// the module brings, and bind on those that its bindings name, each limited to these names: it can install what it was told to, and
// grant nothing else. An API server knows the name at a creation only by server-side apply, as kyma and the manager do it; a POST would
// be refused.
//
// The kinds and scopes are those of Kubernetes and of the definitions among the objects. An object of another kind is namespaced if it
// names a namespace, and its resource is called by the plural of its kind.
func InstallRole(objects []*unstructured.Unstructured, name string) ([]*unstructured.Unstructured, error) {
	if name == "" {
		return nil, errors.New("the role needs a name")
	}
	needs := installNeeds{kinds: learnKinds(objects), rules: map[string]map[installRule]map[string]bool{}}
	for _, object := range unpack(objects) {
		if err := needs.add(object); err != nil {
			return nil, err
		}
	}
	var roles []*unstructured.Unstructured
	for _, namespace := range sortedKeys(needs.rules) {
		roles = append(roles, needs.role(namespace, name))
	}
	return roles, nil
}

// installRule is a rule without what it applies to: resources of a group, for the verbs of installers or only to list them, or names of
// roles for the other verbs.
type installRule struct{ group, resource, verb string }

// installNeeds collects what an installer has to be allowed, by namespace ("" is the cluster) and rule.
type installNeeds struct {
	kinds map[schema.GroupKind]definedKind
	rules map[string]map[installRule]map[string]bool
}

// definedKind is what a CustomResourceDefinition among the objects says about its kind.
type definedKind struct {
	plural     string
	namespaced bool
}

func learnKinds(objects []*unstructured.Unstructured) map[schema.GroupKind]definedKind {
	kinds := map[schema.GroupKind]definedKind{}
	for _, object := range unpack(objects) {
		if inventory.IDOf(object).GroupKind() != inventory.CRDKind {
			continue
		}
		group, _, _ := unstructured.NestedString(object.Object, "spec", "group")
		kind, _, _ := unstructured.NestedString(object.Object, "spec", "names", "kind")
		plural, _, _ := unstructured.NestedString(object.Object, "spec", "names", "plural")
		scope, _, _ := unstructured.NestedString(object.Object, "spec", "scope")
		if plural != "" {
			kinds[schema.GroupKind{Group: group, Kind: kind}] = definedKind{plural, scope == "Namespaced"}
		}
	}
	return kinds
}

// add records what an object needs.
func (n *installNeeds) add(object *unstructured.Unstructured) error {
	id := inventory.IDOf(object)
	if id.Kind == "" || id.Name == "" {
		return fmt.Errorf("%s has no kind or no name: nothing can be allowed for it", id)
	}
	defined, known := n.kinds[id.GroupKind()]
	namespaced := defined.namespaced
	if !known {
		defined.plural = pluralOf(id.GroupKind())
		if namespaced, known = inventory.BuiltinScope(id.GroupKind()); !known {
			namespaced = id.Namespace != ""
		}
	}
	namespace := ""
	if namespaced {
		if namespace = id.Namespace; namespace == "" {
			return fmt.Errorf("%s names no namespace: name the one that it is installed into", id)
		}
	}
	n.allow(namespace, installRule{group: id.Group}, defined.plural)
	if id.Group == rbacv1.GroupName {
		n.addGrants(object, namespace)
	}
	if namespace, group, resource := lookedInto(id); resource != "" {
		n.allow(namespace, installRule{group: group, verb: verbList}, resource)
	}
	return nil
}

const verbList = "list"

// addGrants records what the escalation prevention of the API server asks for.
func (n *installNeeds) addGrants(object *unstructured.Unstructured, namespace string) {
	switch object.GetKind() {
	case kindRole, kindClusterRole:
		n.allow(namespace, installRule{rbacv1.GroupName, strings.ToLower(object.GetKind()) + "s", "escalate"}, object.GetName())
	case kindRoleBinding, kindClusterRoleBinding:
		kind, _, _ := unstructured.NestedString(object.Object, "roleRef", "kind")
		name, _, _ := unstructured.NestedString(object.Object, "roleRef", "name")
		if name != "" && (kind == kindRole || kind == kindClusterRole) {
			n.allow(namespace, installRule{rbacv1.GroupName, strings.ToLower(kind) + "s", "bind"}, name)
		}
	}
}

func (n *installNeeds) allow(namespace string, rule installRule, what string) {
	if n.rules[namespace] == nil {
		n.rules[namespace] = map[installRule]map[string]bool{}
	}
	if n.rules[namespace][rule] == nil {
		n.rules[namespace][rule] = map[string]bool{}
	}
	n.rules[namespace][rule][what] = true
}

// role writes the rules of a namespace, or of the cluster, as an object.
func (n *installNeeds) role(namespace, name string) *unstructured.Unstructured {
	rules := []any{}
	order := func(a, b installRule) int {
		return cmp.Or(cmp.Compare(a.group, b.group), cmp.Compare(a.verb, b.verb), cmp.Compare(a.resource, b.resource))
	}
	for _, rule := range slices.SortedFunc(maps.Keys(n.rules[namespace]), order) {
		names := sortedKeys(n.rules[namespace][rule])
		verbs := []string{rule.verb}
		switch rule.verb {
		case verbList:
			installed := n.rules[namespace][installRule{group: rule.group}]
			names = slices.DeleteFunc(names, func(resource string) bool { return installed[resource] })
		case "":
			verbs = installVerbs
		}
		what := listOf(names)
		if rule.resource == "" {
			if len(what) > 0 {
				rules = append(rules, map[string]any{"apiGroups": listOf([]string{rule.group}), "resources": what, "verbs": listOf(verbs)})
			}
			continue
		}
		rules = append(rules, map[string]any{
			"apiGroups": listOf([]string{rule.group}), "resources": listOf([]string{rule.resource}), "resourceNames": what,
			"verbs": listOf([]string{rule.verb}),
		})
	}
	role := &unstructured.Unstructured{Object: map[string]any{"rules": rules}}
	role.SetAPIVersion(rbacv1.SchemeGroupVersion.String())
	role.SetKind(kindClusterRole)
	if namespace != "" {
		role.SetKind(kindRole)
		role.SetNamespace(namespace)
	}
	role.SetName(name)
	return role
}

func listOf(texts []string) []any {
	list := make([]any, len(texts))
	for i, text := range texts {
		list[i] = text
	}
	return list
}

// pluralOf returns the resource of a kind: of a known one, or the plural of its name.
func pluralOf(kind schema.GroupKind) string {
	for text, noun := range nouns {
		resource, group, _ := strings.Cut(text, ".")
		if noun == kind.Kind && group == kind.Group && resource != "bindings" {
			return resource
		}
	}
	name := strings.ToLower(kind.Kind)
	for _, ending := range []string{"ay", "ey", "oy", "uy"} {
		if strings.HasSuffix(name, ending) {
			return name + "s"
		}
	}
	for _, ending := range []string{"ch", "sh", "x"} {
		if strings.HasSuffix(name, ending) {
			return name + "es"
		}
	}
	plural, _ := meta.UnsafeGuessKindToResource(kind.WithVersion(""))
	return plural.Resource
}
