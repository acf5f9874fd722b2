package permissions

import (
	"cmp"
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/component-helpers/auth/rbac/validation"

	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

// Work is what an account is about to do in a cluster.
type Work struct {
	// Install are objects that are written, and deleted one day.
	Install []*unstructured.Unstructured
	// Delete are objects that are only deleted.
	Delete []inventory.ID
	// List are kinds of which all objects are read before something is deleted. Those that the cluster does not serve have none.
	List []schema.GroupKind
	// Namespaces are created where they are missing, and stay.
	Namespaces []string
	// Kept are Namespaces that are never deleted, also where they are among the objects.
	Kept []string
	// Known are roles of the cluster that bindings among the objects name, see BoundRoles.
	Known []*unstructured.Unstructured
	// Served is where the cluster serves kinds, as far as that is known.
	Served map[schema.GroupKind]Served
}

// Served is where a cluster serves a kind.
type Served struct {
	Resource   string
	Namespaced bool
}

// Need is one right that an account must have for its work: a verb, for one object or for all of a resource.
type Need struct {
	// Namespace that it is needed in; empty is the whole cluster.
	Namespace       string
	Group, Resource string
	// Name of the object; empty is all of them.
	Name string
	Verb string
	// Instead are rules that do as well: an account may write and bind a role also where it has all rights of that role itself.
	Instead []rbacv1.PolicyRule
}

// NeedsOf returns the rights that work needs, each once and in order. They are limited to names, which an API server knows at a creation
// only where it is a server-side apply.
func NeedsOf(work Work) []Need {
	c := &needsOfWork{work: work, defined: learnKinds(work.Install), roles: map[inventory.ID]*role{}, left: maxCompared}
	objects := unpack(work.Install)
	for i, object := range slices.Concat(work.Known, objects) {
		if read, err := readRole(object); err == nil && isRole(inventory.IDOf(object)) {
			if i < len(work.Known) {
				read.aggregation = nil // the cluster has put the rules together
			}
			c.roles[inventory.IDOf(object)] = read
		}
	}
	for _, object := range objects {
		c.install(object)
	}
	for _, id := range work.Delete {
		c.remove(id)
		if !c.keeps(id) {
			c.need(id, "get")
		}
	}
	for _, name := range work.Namespaces {
		c.need(inventory.ID{Kind: kindNamespace, Name: name}, "get", "create", "patch")
	}
	for _, kind := range work.List {
		if at, known := c.served(kind); known {
			c.add(Need{Group: kind.Group, Resource: at.Resource, Verb: verbList})
		}
	}
	slices.SortStableFunc(c.needs, compareNeeds)
	return slices.CompactFunc(c.needs, func(a, b Need) bool { return compareNeeds(a, b) == 0 })
}

const kindNamespace = "Namespace"

// needsOfWork collects the needs of work.
type needsOfWork struct {
	work    Work
	defined map[schema.GroupKind]definedKind
	roles   map[inventory.ID]*role
	left    int // single rights that may still be compared
	needs   []Need
}

func (c *needsOfWork) add(need Need) { c.needs = append(c.needs, need) }

// need adds verbs for one object.
func (c *needsOfWork) need(id inventory.ID, verbs ...string) {
	at, known := c.served(id.GroupKind())
	if !known {
		at = Served{Resource: pluralOf(id.GroupKind()), Namespaced: id.Namespace != ""}
	}
	if !at.Namespaced {
		id.Namespace = ""
	}
	for _, verb := range verbs {
		c.add(Need{Namespace: id.Namespace, Group: id.Group, Resource: at.Resource, Name: id.Name, Verb: verb})
	}
}

// served returns where a kind is served: by the definitions among the objects, else by the cluster.
func (c *needsOfWork) served(kind schema.GroupKind) (at Served, known bool) {
	if defined, own := c.defined[kind]; own {
		return Served{Resource: defined.plural, Namespaced: defined.namespaced}, true
	}
	if at, known = c.work.Served[kind]; known {
		return at, true
	}
	namespaced, builtin := inventory.BuiltinScope(kind)
	return Served{Resource: pluralOf(kind), Namespaced: namespaced}, builtin
}

// install adds what an object needs that is written, and deleted one day.
func (c *needsOfWork) install(object *unstructured.Unstructured) {
	id := inventory.IDOf(object)
	c.need(id, "get", "create", "patch")
	c.remove(id)
	switch {
	case isRole(id):
		c.escalate(id)
	case id.Group == rbacv1.GroupName:
		c.bind(object)
	}
}

// remove adds what the deletion of an object needs, and what is looked at before.
func (c *needsOfWork) remove(id inventory.ID) {
	if c.keeps(id) {
		return
	}
	c.need(id, "delete")
	if namespace, group, resource := lookedInto(id); resource != "" {
		c.add(Need{Namespace: namespace, Group: group, Resource: resource, Verb: verbList})
	}
}

// lookedInto returns what is listed before an object is deleted, so that nothing of others is lost with it: everything in a Namespace, and
// all objects that a definition defines, whose name is the one of the resource. Empty for all other objects.
func lookedInto(id inventory.ID) (namespace, group, resource string) {
	switch {
	case isNamespace(id):
		return id.Name, wildcard, wildcard
	case id.GroupKind() == inventory.CRDKind:
		resource, group, _ = strings.Cut(id.Name, ".")
	}
	return "", group, resource
}

// keeps reports whether an object is a Namespace that is never deleted.
func (c *needsOfWork) keeps(id inventory.ID) bool {
	return isNamespace(id) && slices.Contains(c.work.Kept, id.Name)
}

func isNamespace(id inventory.ID) bool { return id.Group == "" && id.Kind == kindNamespace }

// escalate adds what the escalation prevention of the API server asks of the author of a role: the verb, or the rights of the role. Who
// writes an aggregation, which can gather anything, must have everything.
func (c *needsOfWork) escalate(id inventory.ID) {
	need := Need{Namespace: id.Namespace, Group: id.Group, Resource: pluralOf(id.GroupKind()), Name: id.Name, Verb: "escalate"}
	switch read := c.roles[id]; {
	case read == nil:
	case read.aggregation != nil:
		need.Instead = everything
	case len(read.rules) == 0:
		return
	default:
		need.Instead = c.compared(read.rules)
	}
	c.add(need)
}

// maxCompared bounds how many single rights of roles are compared with those of an account, one by one: a short rule can stand for a great
// many.
const maxCompared = 100_000

// compared returns the rules of a role; nil for those that are too many to be compared. A rule multiplies its groups, resources, names and
// verbs.
func (c *needsOfWork) compared(rules []rbacv1.PolicyRule) []rbacv1.PolicyRule {
	for i := range rules {
		rule, rights := &rules[i], 1
		for _, n := range []int{len(rule.APIGroups), len(rule.Resources) + len(rule.NonResourceURLs), len(rule.ResourceNames), len(rule.Verbs)} {
			rights = min(rights*max(n, 1), c.left+1)
		}
		c.left -= rights
	}
	if c.left < 0 {
		return nil
	}
	return rules
}

// everything are the rules of who may do everything.
var everything = []rbacv1.PolicyRule{
	{APIGroups: []string{wildcard}, Resources: []string{wildcard}, Verbs: []string{wildcard}},
	{NonResourceURLs: []string{wildcard}, Verbs: []string{wildcard}},
}

// bind adds what it asks of the author of a binding: the verb, or the rights of the role. The rules of a role that gathers others, and is
// not there yet, are not known.
func (c *needsOfWork) bind(object *unstructured.Unstructured) {
	ref, bound := boundRole(object)
	if !bound {
		return
	}
	need := Need{Namespace: object.GetNamespace(), Group: ref.Group, Resource: pluralOf(ref.GroupKind()), Name: ref.Name, Verb: "bind"}
	switch read := c.roles[ref]; {
	case read == nil || read.aggregation != nil:
	case len(read.rules) == 0:
		return
	default:
		need.Instead = c.compared(read.rules)
	}
	c.add(need)
}

// isRole reports whether an object is a Role or a ClusterRole.
func isRole(id inventory.ID) bool {
	return id.Group == rbacv1.GroupName && (id.Kind == kindRole || id.Kind == kindClusterRole)
}

// boundRole returns the role that a binding names; false for any other object.
func boundRole(object *unstructured.Unstructured) (ref inventory.ID, bound bool) {
	id := inventory.IDOf(object)
	if id.Group != rbacv1.GroupName || id.Kind != kindRoleBinding && id.Kind != kindClusterRoleBinding {
		return ref, false
	}
	ref.Group = rbacv1.GroupName
	ref.Kind, _, _ = unstructured.NestedString(object.Object, "roleRef", "kind")
	ref.Name, _, _ = unstructured.NestedString(object.Object, "roleRef", "name")
	if ref.Kind == kindRole {
		ref.Namespace = id.Namespace
	}
	return ref, ref.Name != "" && isRole(ref)
}

// BoundRoles returns the roles that bindings among the objects name and that are not among the objects themselves, each once.
func BoundRoles(objects []*unstructured.Unstructured) []inventory.ID {
	objects = unpack(objects)
	known := map[inventory.ID]bool{}
	for _, object := range objects {
		known[inventory.IDOf(object)] = true
	}
	var found []inventory.ID
	for _, object := range objects {
		if ref, bound := boundRole(object); bound && !known[ref] {
			known[ref] = true
			found = append(found, ref)
		}
	}
	return found
}

// Missing returns the needs that rules do not cover. Rules are by namespace, together with those for the whole cluster; the latter alone
// are those of "".
func Missing(needs []Need, rules map[string][]rbacv1.PolicyRule) []Need {
	return slices.DeleteFunc(slices.Clone(needs), func(need Need) bool {
		has := rules[need.Namespace]
		covered, _ := validation.Covers(has, []rbacv1.PolicyRule{need.rule()})
		if !covered && len(need.Instead) > 0 {
			covered, _ = validation.Covers(has, need.Instead)
		}
		return covered
	})
}

func (n *Need) rule() rbacv1.PolicyRule {
	rule := rbacv1.PolicyRule{APIGroups: []string{n.Group}, Resources: []string{n.Resource}, Verbs: []string{n.Verb}}
	if n.Name != "" {
		rule.ResourceNames = []string{n.Name}
	}
	return rule
}

func compareNeeds(a, b Need) int {
	return cmp.Or(
		strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Group, b.Group), strings.Compare(a.Resource, b.Resource),
		strings.Compare(a.Name, b.Name), compareVerbs(a.Verb, b.Verb),
	)
}
