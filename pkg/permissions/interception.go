package permissions

import (
	"slices"
	"strings"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
)

// maxInterceptions bounds how many interceptions are compared with each other.
const maxInterceptions = 1000

// Interception is what a webhook or an admission policy intercepts: requests for one resource.
type Interception struct {
	// Mutates means that it can change what it intercepts.
	Mutates bool `json:"mutates,omitempty"`
	// Policy means that the API server judges by rules: no program sees the request.
	Policy bool `json:"policy,omitempty"`
	// Operations are CREATE, UPDATE, DELETE and CONNECT.
	Operations []string `json:"operations,omitempty"`
	// Group is the API group, or "*".
	Group string `json:"group,omitempty"`
	// Resource is the plural name with its subresource; "*" is all without subresources, "*/*" all with them.
	Resource string `json:"resource,omitempty"`
	// Scope is Cluster, Namespaced or "*".
	Scope string `json:"scope,omitempty"`
	// Limits are selectors and conditions that all have to hold, sorted.
	Limits []string `json:"limits,omitempty"`
	// Blocks means that requests fail while it does not answer.
	Blocks bool `json:"blocks,omitempty"`
	// Outside is the host outside the cluster that gets the requests.
	Outside string `json:"outside,omitempty"`
	// Own means that the module defines the resource itself.
	Own bool `json:"own,omitempty"`
}

// allOperations are what "*" stands for.
var allOperations = []string{"CONNECT", "CREATE", "DELETE", "UPDATE"}

// intercept records what a rule of a webhook or policy intercepts.
func (b *builder) intercept(
	object *unstructured.Unstructured, base *Interception, rule *admissionregistrationv1.Rule,
	operations []admissionregistrationv1.OperationType, name, target string,
) {
	if len(b.intercepted)+len(rule.APIGroups)*len(rule.Resources) > maxInterceptions {
		b.unreadable(object, "it has too many rules")
		return
	}
	var words []string
	for _, operation := range operations {
		if operation == admissionregistrationv1.OperationAll {
			words = append(words, allOperations...)
		}
		words = append(words, string(operation))
	}
	words = slices.DeleteFunc(distinct(words), func(word string) bool { return word == wildcard })
	for _, group := range rule.APIGroups {
		for _, resource := range rule.Resources {
			i := *base
			i.Operations, i.Group, i.Resource, i.Scope = words, group, resource, wildcard
			if rule.Scope != nil {
				i.Scope = string(*rule.Scope)
			}
			i.Own = b.own[i.definition()]
			text := strings.Join(words, ",") + " " + resourceText(group, resource)
			b.intercepted = append(b.intercepted, placedInterception{i, []string{name + ": " + text}, []string{target}})
		}
	}
}

func (i *Interception) definition() string {
	base, _, _ := strings.Cut(i.Resource, "/")
	return base + "." + i.Group
}

// limitsOf returns the single requirements of selectors and conditions.
func limitsOf(namespaces, objects *metav1.LabelSelector, conditions []admissionregistrationv1.MatchCondition) []string {
	var limits []string
	for _, selected := range []struct {
		of       string
		selector *metav1.LabelSelector
	}{{"namespaces", namespaces}, {"objects", objects}} {
		if selected.selector == nil {
			continue
		}
		parsed, err := metav1.LabelSelectorAsSelector(selected.selector)
		if err != nil {
			continue // the API server refuses it
		}
		requirements, _ := parsed.Requirements()
		for _, requirement := range requirements {
			limits = append(limits, limit(selected.of, requirement.String()))
		}
	}
	for _, condition := range conditions {
		limits = append(limits, limit("condition", condition.Expression))
	}
	return distinct(limits)
}

// limit writes a requirement. A long one is kept as a hash.
func limit(of, text string) string {
	const long = 80
	if len(text) > long {
		text = "#" + hashOf(text)
	}
	return of + ": " + text
}

// selective reports whether the limits choose what is intercepted, instead of leaving something out.
func (i *Interception) selective() bool {
	return slices.ContainsFunc(i.Limits, func(limit string) bool {
		of, text, _ := strings.Cut(limit, ": ")
		switch of {
		case "condition", "names", "rules":
			return true
		case "except":
			return false
		}
		requirements, err := labels.ParseToRequirements(text)
		if err != nil || len(requirements) != 1 {
			return err != nil
		}
		return !strings.HasPrefix(text, "!") && !slices.Contains(excluding, string(requirements[0].Operator()))
	})
}

var excluding = []string{"notin", "!=", "!"}

// covers reports whether an interception includes another one, apart from its operations.
func (i *Interception) covers(other *Interception) bool {
	switch {
	case other.Mutates && !i.Mutates, other.Blocks && !i.Blocks, !other.Policy && i.Policy:
		return false
	case other.Outside != "" && other.Outside != i.Outside:
		return false
	case i.Scope != wildcard && i.Scope != other.Scope:
		return false
	case i.Group != wildcard && i.Group != other.Group:
		return false
	}
	return intercepts(i.Resource, other.Resource) &&
		!slices.ContainsFunc(i.Limits, func(limit string) bool { return !slices.Contains(other.Limits, limit) })
}

// intercepts reports whether a pattern for resources includes another one, by the rules of webhooks.
func intercepts(pattern, resource string) bool {
	if pattern == resource || pattern == "*/*" {
		return true
	}
	base, sub, hasSub := strings.Cut(resource, "/")
	patternBase, patternSub, patternHasSub := strings.Cut(pattern, "/")
	if hasSub != patternHasSub {
		return false
	}
	return (patternBase == wildcard || patternBase == base) && (!hasSub || patternSub == wildcard || patternSub == sub)
}

// without returns the operations that none of the others intercepts. An interception is none of the others to itself.
func (i *Interception) without(others []*Interception) []string {
	return slices.DeleteFunc(slices.Clone(i.Operations), func(operation string) bool {
		return slices.ContainsFunc(others, func(other *Interception) bool {
			return other != i && slices.Contains(other.Operations, operation) && other.covers(i)
		})
	})
}

// identity names everything but the operations.
func (i *Interception) identity() string {
	var flags strings.Builder
	for _, flag := range []struct {
		set  bool
		word string
	}{{i.Mutates, "mutates "}, {i.Policy, "policy "}, {i.Blocks, "blocks "}} {
		if flag.set {
			flags.WriteString(flag.word)
		}
	}
	return joinKey(
		"intercept", strings.TrimSpace(flags.String()), escapes.Replace(i.Group+":"+i.Resource), i.Scope, joinNames(i.Limits),
		escapes.Replace(i.Outside),
	)
}

// finding describes the interception.
func (p *placedInterception) finding() Finding {
	i := p.Interception
	severity, sentence := describeInterception(&i)
	return Finding{
		Key: joinKey(i.identity(), joinNames(i.Operations)), Category: CategoryWebhook, Severity: severity, Sentence: sentence,
		Rule: enumerate(p.rules, "; "), Subject: enumerate(p.subjects, ", "), Interception: &i,
	}
}

// mergeInterceptions joins the operations of equal interceptions, and leaves out what wider ones cover.
func mergeInterceptions(all []placedInterception) []placedInterception {
	byIdentity := map[string]*placedInterception{}
	for _, p := range all {
		same := byIdentity[p.identity()]
		if same == nil {
			byIdentity[p.identity()] = &p
			continue
		}
		same.Operations = distinct(slices.Concat(same.Operations, p.Operations))
		same.rules, same.subjects = append(same.rules, p.rules...), append(same.subjects, p.subjects...)
	}
	var each []*Interception
	for _, identity := range sortedKeys(byIdentity) {
		each = append(each, &byIdentity[identity].Interception)
	}
	var left []placedInterception
	for _, identity := range sortedKeys(byIdentity) {
		p := *byIdentity[identity]
		if p.Operations = byIdentity[identity].without(each); len(p.Operations) > 0 {
			left = append(left, p)
		}
	}
	return left
}

// reportInterceptions makes findings of what webhooks and policies intercept.
func (b *builder) reportInterceptions() {
	for _, p := range mergeInterceptions(b.intercepted) {
		b.add(p.finding())
	}
	b.out.Webhooks = sortNamed(b.out.Webhooks)
}
