package permissions_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// request is a question to an authorizer: what RBAC is asked, and who asks.
type request struct {
	who, verb, group, resource, namespace, name, url string
}

// who asks, with the groups that Kubernetes puts each into. The module has two ServiceAccounts.
var callers = map[string][]string{
	"module":                        nil,
	"system:serviceaccount:y:other": {"system:serviceaccounts", "system:serviceaccounts:y", "system:authenticated"},
	"system:serviceaccount:x:fresh": {"system:serviceaccounts", "system:serviceaccounts:x", "system:authenticated"},
	"system:serviceaccount:y:fresh": {"system:serviceaccounts", "system:serviceaccounts:y", "system:authenticated"},
	"system:serviceaccount:z:fresh": {"system:serviceaccounts", "system:serviceaccounts:z", "system:authenticated"},
	"bob":                           {"system:authenticated"},
	"fresh":                         {"system:authenticated"},
	"dev":                           {"devs", "system:authenticated"},
	"system:anonymous":              {"system:unauthenticated"},
	"nameless":                      {"system:unauthenticated"},
}

var moduleAccounts = map[string][]string{
	"system:serviceaccount:x:a": {"system:serviceaccounts", "system:serviceaccounts:x", "system:authenticated"},
	"system:serviceaccount:w:b": {"system:serviceaccounts", "system:serviceaccounts:w", "system:authenticated"},
}

// universe has every combination of a few values, and of one more of each that no rule names.
func universe() []request {
	var all []request
	for who := range callers {
		for _, verb := range []string{"get", "list", "create", "escalate", "fresh"} {
			for _, url := range []string{"/metrics", "/healthz", "/healthz/etcd", "/healthzfresh", "/fresh"} {
				all = append(all, request{who: who, verb: verb, url: url})
			}
			for _, group := range []string{"", "apps", "fresh"} {
				for _, resource := range []string{"pods", "pods/log", "secrets", "fresh", "fresh/log"} {
					for _, namespace := range []string{"x", "y", "fresh"} {
						for _, name := range []string{"one", "two", "fresh"} {
							all = append(all, request{who, verb, group, resource, namespace, name, ""})
						}
					}
				}
			}
		}
	}
	return all
}

// version is the RBAC of a module, as typed objects.
type version struct {
	roles    map[string][]rbacv1.PolicyRule // "" or namespace, "/", name
	bindings []binding
}

type binding struct {
	namespace string
	role      string // key of roles
	subjects  []rbacv1.Subject
}

// allows answers a request as the authorizer of an API server does.
func (v *version) allows(r request) bool {
	if r.who != "module" {
		return v.allowsUser(r.who, callers[r.who], r)
	}
	for user, groups := range moduleAccounts {
		if v.allowsUser(user, groups, r) {
			return true
		}
	}
	return false
}

func (v *version) allowsUser(user string, groups []string, r request) bool {
	for _, b := range v.bindings {
		if b.namespace != "" && (b.namespace != r.namespace || r.url != "") {
			continue
		}
		bound := slices.ContainsFunc(b.subjects, func(s rbacv1.Subject) bool {
			switch s.Kind {
			case rbacv1.GroupKind:
				return slices.Contains(groups, s.Name)
			case rbacv1.UserKind:
				return user == s.Name
			default:
				return user == "system:serviceaccount:"+s.Namespace+":"+s.Name
			}
		})
		if bound && slices.ContainsFunc(v.roles[b.role], func(rule rbacv1.PolicyRule) bool { return ruleAllows(&rule, r) }) {
			return true
		}
	}
	return false
}

func ruleAllows(rule *rbacv1.PolicyRule, r request) bool {
	has := func(list []string, value string) bool {
		return slices.Contains(list, value) || slices.Contains(list, "*")
	}
	if !has(rule.Verbs, r.verb) {
		return false
	}
	if r.url != "" {
		return slices.ContainsFunc(rule.NonResourceURLs, func(url string) bool {
			return url == "*" || url == r.url || strings.HasSuffix(url, "*") && strings.HasPrefix(r.url, strings.TrimRight(url, "*"))
		})
	}
	_, sub, found := strings.Cut(r.resource, "/")
	resource := has(rule.Resources, r.resource) || found && slices.Contains(rule.Resources, "*/"+sub)
	return has(rule.APIGroups, r.group) && resource && (len(rule.ResourceNames) == 0 || slices.Contains(rule.ResourceNames, r.name))
}

// randomVersion draws roles and bindings.
func randomVersion(random *rand.Rand) *version {
	v := &version{roles: map[string][]rbacv1.PolicyRule{}}
	for i := range 1 + random.IntN(4) {
		namespace := []string{"", "", "x", "y"}[random.IntN(4)]
		role := fmt.Sprintf("%s/r%d", namespace, i)
		v.roles[role] = nil
		for range random.IntN(4) {
			v.roles[role] = append(v.roles[role], randomRule(random))
		}
		for range random.IntN(3) {
			b := binding{namespace: namespace, role: role}
			if namespace == "" && random.IntN(2) == 0 {
				b.namespace = []string{"x", "y"}[random.IntN(2)] // a RoleBinding to a ClusterRole
			}
			for range 1 + random.IntN(2) {
				b.subjects = append(b.subjects, subjects[random.IntN(len(subjects))])
			}
			v.bindings = append(v.bindings, b)
		}
	}
	return v
}

var subjects = []rbacv1.Subject{
	{Kind: "ServiceAccount", Namespace: "x", Name: "a"}, {Kind: "ServiceAccount", Namespace: "w", Name: "b"},
	{Kind: "ServiceAccount", Namespace: "x", Name: "a"}, {Kind: "User", Name: "system:serviceaccount:x:a"},
	{Kind: "ServiceAccount", Namespace: "y", Name: "other"}, {Kind: "User", Name: "bob"}, {Kind: "Group", Name: "devs"},
	{Kind: "Group", Name: "system:authenticated"}, {Kind: "Group", Name: "system:serviceaccounts"},
	{Kind: "Group", Name: "system:serviceaccounts:x"}, {Kind: "Group", Name: "system:serviceaccounts:y"},
	{Kind: "Group", Name: "system:unauthenticated"}, {Kind: "User", Name: "system:anonymous"},
}

func randomRule(random *rand.Rand) rbacv1.PolicyRule {
	some := func(values ...string) []string {
		var chosen []string
		for range 1 + random.IntN(2) {
			chosen = append(chosen, values[random.IntN(len(values))])
		}
		return chosen
	}
	rule := rbacv1.PolicyRule{Verbs: some("get", "list", "create", "escalate", "get", "list", "*")}
	if random.IntN(5) == 0 {
		rule.NonResourceURLs = some("/metrics", "/healthz", "/healthz/*", "/healthz*", "*")
		return rule
	}
	rule.APIGroups = some("", "", "apps", "*")
	rule.Resources = some("pods", "pods", "pods/log", "secrets", "*/log", "*")
	if random.IntN(3) == 0 {
		rule.ResourceNames = some("one", "two")
	}
	return rule
}

// objects writes the version as it would be rendered, in random order.
func (v *version) objects(random *rand.Rand) []*unstructured.Unstructured {
	objects := []*unstructured.Unstructured{object("v1", "ServiceAccount", "x", "a"), object("v1", "ServiceAccount", "w", "b")}
	for key, rules := range v.roles {
		namespace, name, _ := strings.Cut(key, "/")
		role := rbac(namespace, "Role", name)
		role.Object["rules"] = toAny(map[string]any{}, &rbacv1.Role{Rules: rules})["rules"]
		objects = append(objects, role)
	}
	for i, b := range v.bindings {
		roleNamespace, name, _ := strings.Cut(b.role, "/")
		made := rbac(b.namespace, "RoleBinding", fmt.Sprintf("b%d", i))
		kind := "ClusterRole"
		if roleNamespace != "" {
			kind = "Role"
		}
		made.Object["roleRef"] = map[string]any{"kind": kind, "name": name, "apiGroup": rbacv1.GroupName}
		made.Object["subjects"] = toAny(map[string]any{}, &rbacv1.RoleBinding{Subjects: b.subjects})["subjects"]
		objects = append(objects, made)
	}
	random.Shuffle(len(objects), func(i, j int) { objects[i], objects[j] = objects[j], objects[i] })
	return objects
}

func rbac(namespace, kind, name string) *unstructured.Unstructured {
	if namespace == "" {
		kind = "Cluster" + kind
	}
	return object("rbac.authorization.k8s.io/v1", kind, namespace, name)
}

func object(version, kind, namespace, name string) *unstructured.Unstructured {
	o := &unstructured.Unstructured{Object: map[string]any{}}
	o.SetAPIVersion(version)
	o.SetKind(kind)
	o.SetNamespace(namespace)
	o.SetName(name)
	return o
}

func toAny(_ map[string]any, typed any) map[string]any {
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(typed)
	if err != nil {
		panic(err)
	}
	return fields
}
