package permissions

import (
	"strconv"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
)

// aggregateTo begins the labels by which a ClusterRole adds its rules to a role for users.
const aggregateTo = "rbac.authorization.k8s.io/aggregate-to-"

// role is a Role or ClusterRole of the objects.
type role struct {
	object *unstructured.Unstructured
	// name as a report writes it: "ClusterRole x", "Role ns/x".
	name        string
	labels      map[string]string
	rules       []rbacv1.PolicyRule
	aggregation *rbacv1.AggregationRule
	// used means that a binding or an aggregation makes use of it.
	used bool
}

// place says where one of its rules stands, counted from 1 as people do.
func (r *role) place(index int) string {
	kind, name, _ := strings.Cut(r.name, " ")
	return kind + " " + strconv.Quote(name) + " rule " + strconv.Itoa(index+1)
}

// readRole reads a Role or ClusterRole; the kind is the one that the object says.
func readRole(object *unstructured.Unstructured) (*role, error) {
	read := rbacv1.ClusterRole{} // a Role has a part of its fields
	if err := decode(object, &read); err != nil {
		return nil, err
	}
	r := &role{object: object, labels: read.Labels, rules: read.Rules, aggregation: read.AggregationRule}
	if object.GetKind() == kindRole {
		r.name, r.aggregation = "Role "+namespaceOf(object)+"/"+object.GetName(), nil
	} else {
		r.name = "ClusterRole " + object.GetName()
	}
	return r, nil
}

// placedRule is a rule with where it stands.
type placedRule struct {
	rbacv1.PolicyRule

	place string
}

// effective returns the rules of a role: its own, and those of the roles that it gathers. The API server overwrites the own rules of a role
// that gathers others, but only after they were in force for a moment: they count.
func (a *rbac) effective(r *role) []placedRule { return a.collectRules(r, map[*role]bool{}) }

func (a *rbac) collectRules(r *role, seen map[*role]bool) []placedRule {
	if seen[r] {
		return nil
	}
	seen[r] = true
	var all []placedRule
	for i, rule := range r.rules {
		all = append(all, placedRule{rule, r.place(i)})
	}
	for _, selector := range selectors(r) {
		for _, other := range a.sorted {
			if other != r && strings.HasPrefix(other.name, "ClusterRole ") && selector.Matches(labels.Set(other.labels)) {
				other.used = true
				all = append(all, a.collectRules(other, seen)...)
			}
		}
	}
	return all
}

// selectors returns what a role gathers others by. One that cannot be read gathers none, as in the API server.
func selectors(r *role) []labels.Selector {
	if r.aggregation == nil {
		return nil
	}
	var all []labels.Selector
	for i := range r.aggregation.ClusterRoleSelectors {
		if selector, err := metav1.LabelSelectorAsSelector(&r.aggregation.ClusterRoleSelectors[i]); err == nil {
			all = append(all, selector)
		}
	}
	return all
}

// aggregated returns the roles for users that a ClusterRole adds its rules to, as holders.
func (r *role) aggregated() []string {
	var holders []string
	for _, to := range []string{"view", "edit", "admin"} {
		if r.labels[aggregateTo+to] == "true" && strings.HasPrefix(r.name, "ClusterRole ") {
			holders = append(holders, prefixRole+to)
		}
	}
	return holders
}
