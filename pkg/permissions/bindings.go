package permissions

import (
	"maps"
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

const (
	kindRole               = "Role"
	kindClusterRole        = "ClusterRole"
	kindRoleBinding        = "RoleBinding"
	kindClusterRoleBinding = "ClusterRoleBinding"
	// maxRules bounds how many single rights all bindings together may have. A rule multiplies groups, resources, names and verbs.
	maxRules = 100_000
)

// rbac works out what roles and bindings allow.
type rbac struct {
	report *builder
	// roles by name: several where the content declares one differently in different clusters.
	roles map[string][]*role
	// sorted has the roles in the order of their objects, which does not depend on where they stood.
	sorted []*role
	held   ruleSet
	budget int
}

// analyseRBAC reports what the objects allow by RBAC.
func (b *builder) analyseRBAC() {
	a := &rbac{report: b, roles: map[string][]*role{}, held: ruleSet{}, budget: maxRules}
	for _, object := range b.ofKind(rbacv1.GroupName, kindRole, kindClusterRole) {
		a.addRole(object)
	}
	for _, object := range b.ofKind(rbacv1.GroupName, kindRoleBinding, kindClusterRoleBinding) {
		a.bind(object)
	}
	for _, r := range a.sorted {
		for _, holder := range r.aggregated() {
			r.used = true
			a.give(r.object, a.effective(r), "", holder, "subjects of ClusterRole "+strings.TrimPrefix(holder, prefixRole))
		}
	}
	a.reportUnbound()
	a.reportHeld()
}

func (a *rbac) addRole(object *unstructured.Unstructured) {
	r, err := readRole(object)
	if err != nil {
		a.report.unreadable(object, "what it allows is unknown")
		return
	}
	a.roles[r.name] = append(a.roles[r.name], r)
	a.sorted = append(a.sorted, r)
	if object.GetKind() == kindClusterRole && builtinRole(object.GetName()) {
		a.report.add(Finding{
			Key: joinKey("cluster", "role", escapes.Replace(object.GetName())), Category: CategoryCluster, Severity: High, Rule: place(object),
			Sentence: "Changes the ClusterRole " + short(object.GetName()) + ", which every cluster has and others are bound to.",
		})
	}
}

// bind gives the subjects of a binding what its role allows.
func (a *rbac) bind(object *unstructured.Unstructured) {
	binding := rbacv1.RoleBinding{} // a ClusterRoleBinding has the same fields
	if err := decode(object, &binding); err != nil {
		a.report.unreadable(object, "who gets which rights is unknown")
		return
	}
	namespace := ""
	if object.GetKind() == kindRoleBinding {
		namespace = namespaceOf(object)
	}
	target := binding.RoleRef.Kind + " " + binding.RoleRef.Name
	if binding.RoleRef.Kind == kindRole {
		target = kindRole + " " + namespace + "/" + binding.RoleRef.Name
	}
	for _, subject := range binding.Subjects {
		holder, text := a.holderOf(subject, namespace)
		a.giveRole(object, target, namespace, holder, text)
		if a.includesModule(holder) {
			a.giveRole(object, target, namespace, "", text)
		}
	}
}

// holderOf returns who a subject is. ServiceAccounts of the module count as one holder.
func (a *rbac) holderOf(subject rbacv1.Subject, namespace string) (holder, text string) {
	if account := accountOf(subject, namespace); account != "" {
		if a.report.accounts[account] {
			a.report.bound[account] = true
			a.reportDefault(account)
			return "", prefixAccount + account
		}
		return prefixAccount + account, prefixAccount + account
	}
	text = subject.Kind + " " + subject.Name
	return text, text
}

// includesModule reports whether a holder is all ServiceAccounts of a namespace, with some of the module's among them.
func (a *rbac) includesModule(holder string) bool {
	namespace, found := strings.CutPrefix(holder, groupServiceAccounts+":")
	return found && slices.ContainsFunc(slices.Collect(maps.Keys(a.report.accounts)), func(account string) bool {
		return strings.HasPrefix(account, namespace+"/")
	})
}

// giveRole gives a holder the rights of a role: of one among the objects, of one that every cluster has, or of an unknown one.
func (a *rbac) giveRole(binding *unstructured.Unstructured, target, namespace, holder, subject string) {
	if found := a.roles[target]; len(found) > 0 {
		for _, r := range found {
			r.used = true
			a.give(r.object, a.effective(r), namespace, holder, subject)
			a.giveGathered(r, namespace, holder, subject)
		}
		return
	}
	rules, known := expandedRoles[target]
	if !known {
		a.held.add(grant{holder: holder, namespace: namespace, role: target}, holds, place(binding), subject)
		return
	}
	placed := make([]placedRule, len(rules))
	for i, rule := range rules {
		placed[i] = placedRule{rule, place(binding) + " to " + target}
	}
	a.give(binding, placed, namespace, holder, subject)
}

// giveGathered gives a holder what a role gathers from ClusterRoles of the cluster that are not among the objects.
func (a *rbac) giveGathered(r *role, namespace, holder, subject string) {
	for _, selector := range selectors(r) {
		all := grant{holder: holder, namespace: namespace, role: gathered + selector.String()}
		a.held.add(all, holds, place(r.object)+" aggregationRule", subject)
	}
}

// gathered begins the role that stands for all ClusterRoles of the cluster with certain labels.
const gathered = "ClusterRoles with "

// give adds rules to what a holder has. More than can be compared is told instead.
func (a *rbac) give(of *unstructured.Unstructured, rules []placedRule, namespace, holder, subject string) {
	size := 0
	for i := range rules {
		size += ruleSize(&rules[i].PolicyRule)
		if size > a.budget {
			a.report.unreadable(of, "it has too many rules")
			return
		}
	}
	a.budget -= size
	for i := range rules {
		a.giveRule(&rules[i], namespace, holder, subject)
	}
}

// ruleSize returns how many single rights a rule has.
func ruleSize(rule *rbacv1.PolicyRule) int {
	size := len(rule.NonResourceURLs) * len(rule.Verbs)
	resources := len(rule.APIGroups) * max(len(rule.ResourceNames), 1) // each is bounded by the size of an object
	if resources > maxRules || len(rule.Resources) > maxRules || len(rule.Verbs) > maxRules {
		return maxRules + 1
	}
	if resources *= len(rule.Resources); resources > maxRules {
		return maxRules + 1
	}
	return size + resources*len(rule.Verbs)
}

func (a *rbac) giveRule(rule *placedRule, namespace, holder, subject string) {
	if namespace == "" {
		for _, url := range rule.NonResourceURLs {
			if strings.HasSuffix(url, wildcard) {
				url = strings.TrimRight(url, wildcard) + wildcard
			}
			a.giveGrant(grant{holder: holder, url: url}, rule, subject)
		}
	}
	names := rule.ResourceNames
	if len(names) == 0 {
		names = []string{""}
	}
	for _, group := range rule.APIGroups {
		for _, resource := range rule.Resources {
			if namespace != "" && beyondNamespaces(group, resource) {
				continue // a RoleBinding gives no right to what lives in no namespace
			}
			for _, name := range names {
				a.giveGrant(grant{holder: holder, namespace: namespace, group: group, resource: resource, name: name}, rule, subject)
			}
		}
	}
}

func (a *rbac) giveGrant(g grant, rule *placedRule, subject string) {
	text := rule.place + ": " + strings.Join(slices.SortedFunc(slices.Values(rule.Verbs), compareVerbs), ",")
	if g.url != "" {
		text += " " + g.url
	} else {
		text += " " + resourceText(g.group, g.resource)
	}
	for _, verb := range rule.Verbs {
		a.held.add(g, verb, text, subject)
	}
}

// reportUnbound tells of roles that nothing uses.
func (a *rbac) reportUnbound() {
	for _, r := range a.sorted {
		if r.used || builtinRole(r.object.GetName()) {
			continue
		}
		a.report.add(Finding{
			Key: joinKey("role", escapes.Replace(r.name)), Category: CategoryRole, Severity: Info, Rule: place(r.object),
			Sentence: "Brings the " + roleText(r.name) + " and binds it to no subject.",
		})
	}
}

// reportHeld makes findings of what is held.
func (a *rbac) reportHeld() {
	for _, held := range a.held.minimal().rights() {
		a.report.add(held.finding(a.report.own))
	}
}

// finding describes a right. own are the resources that the module defines, as "plural.group".
func (h *heldRight) finding(own map[string]bool) Finding {
	h.right.Own = own[h.right.definition()]
	severity, sentence := describe(&h.right)
	return Finding{
		Key: h.right.key(), Category: CategoryRights, Severity: severity, Sentence: sentence,
		Rule: enumerate(h.rules, "; "), Subject: enumerate(h.subjects, ", "), Right: &h.right,
	}
}

// reportDefault tells that the rights of the module reach other pods.
func (a *rbac) reportDefault(account string) {
	namespace, name, _ := strings.Cut(account, "/")
	if name != "default" {
		return
	}
	a.report.add(Finding{
		Key: joinKey("rights", "default", namespace), Category: CategoryRights, Severity: Medium, Subject: prefixAccount + account,
		Sentence: "Gives rights to the default ServiceAccount of namespace " + short(namespace) + ", which other Pods there use too.",
	})
}
