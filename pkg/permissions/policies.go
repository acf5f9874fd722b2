package permissions

import (
	"slices"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

const bindingSuffix = "Binding"

// policy has the fields that validating and mutating admission policies share.
type policy struct {
	Spec struct {
		MatchConstraints *admissionregistrationv1.MatchResources  `json:"matchConstraints"`
		MatchConditions  []admissionregistrationv1.MatchCondition `json:"matchConditions"`
	} `json:"spec"`
}

// policyBinding has the fields that the bindings of both share.
type policyBinding struct {
	Spec struct {
		PolicyName        string                                     `json:"policyName"`
		MatchResources    *admissionregistrationv1.MatchResources    `json:"matchResources"`
		ValidationActions []admissionregistrationv1.ValidationAction `json:"validationActions"`
	} `json:"spec"`
}

// placedBinding is a binding with its object.
type placedBinding struct {
	policyBinding

	object *unstructured.Unstructured
}

// analysePolicies reports what admission policies judge, and with it what webhooks intercept.
func (b *builder) analysePolicies() {
	for _, kind := range []string{"ValidatingAdmissionPolicy", "MutatingAdmissionPolicy"} {
		bindings := b.readPolicyBindings(kind + bindingSuffix)
		for _, object := range b.ofKind(admissionregistrationv1.GroupName, kind) {
			b.addPolicy(object, bindings[object.GetName()])
			delete(bindings, object.GetName())
		}
		for _, name := range sortedKeys(bindings) {
			b.addForeignPolicy(kind, name, bindings[name])
		}
	}
	b.reportInterceptions()
}

func (b *builder) readPolicyBindings(kind string) map[string][]placedBinding {
	bindings := map[string][]placedBinding{}
	for _, object := range b.ofKind(admissionregistrationv1.GroupName, kind) {
		binding := policyBinding{}
		if err := decode(object, &binding); err != nil {
			b.unreadable(object, "which policy it puts in force is unknown")
			continue
		}
		bindings[binding.Spec.PolicyName] = append(bindings[binding.Spec.PolicyName], placedBinding{binding, object})
	}
	return bindings
}

// addPolicy records a policy with its bindings. Without one it is not in force.
func (b *builder) addPolicy(object *unstructured.Unstructured, bindings []placedBinding) {
	read := policy{}
	if err := decode(object, &read); err != nil {
		b.unreadable(object, "which requests it judges is unknown")
		return
	}
	content := []any{object.Object["spec"]}
	for i := range bindings {
		content = append(content, bindings[i].object.Object["spec"])
	}
	name := object.GetKind() + " " + object.GetName()
	b.out.Webhooks = append(b.out.Webhooks, Named{name, hashOf(content...)})
	constraints := read.Spec.MatchConstraints
	if constraints == nil {
		return
	}
	for i := range bindings {
		if !bindings[i].denies() {
			continue
		}
		base := Interception{Policy: true, Mutates: object.GetKind() == "MutatingAdmissionPolicy"}
		base.Limits = limitsOf(constraints.NamespaceSelector, constraints.ObjectSelector, read.Spec.MatchConditions)
		base.Limits = append(base.Limits, exclusions(constraints)...)
		if more := bindings[i].Spec.MatchResources; more != nil {
			base.Limits = append(base.Limits, limitsOf(more.NamespaceSelector, more.ObjectSelector, nil)...)
			base.Limits = append(base.Limits, exclusions(more)...)
			if len(more.ResourceRules) > 0 {
				base.Limits = append(base.Limits, limit("rules", hashOf(more.ResourceRules)))
			}
		}
		b.interceptPolicy(object, &base, constraints.ResourceRules, name)
	}
}

func (b *builder) interceptPolicy(
	object *unstructured.Unstructured, base *Interception, rules []admissionregistrationv1.NamedRuleWithOperations, name string,
) {
	for i := range rules {
		rule, limited := &rules[i], *base
		if len(rule.ResourceNames) > 0 {
			limited.Limits = append(slices.Clone(base.Limits), limit("names", joinNames(distinct(rule.ResourceNames))))
		}
		limited.Limits = distinct(limited.Limits)
		b.intercept(object, &limited, &rule.Rule, rule.Operations, name, "")
	}
}

// exclusions returns the rules by which a policy leaves resources out, as limits.
func exclusions(match *admissionregistrationv1.MatchResources) []string {
	if len(match.ExcludeResourceRules) == 0 {
		return nil
	}
	return []string{limit("except", hashOf(match.ExcludeResourceRules))}
}

// denies reports whether a binding does more than to warn and to log. Those of mutating policies have no such actions.
func (p *policyBinding) denies() bool {
	return len(p.Spec.ValidationActions) == 0 || slices.Contains(p.Spec.ValidationActions, admissionregistrationv1.Deny)
}

// addForeignPolicy reports bindings that put a policy in force that is not part of the module.
func (b *builder) addForeignPolicy(kind, name string, bindings []placedBinding) {
	for i := range bindings {
		object := bindings[i].object
		b.out.Webhooks = append(b.out.Webhooks, Named{object.GetKind() + " " + object.GetName(), hashOf(object.Object["spec"])})
		b.add(Finding{
			Key: joinKey("policy", kind, escapes.Replace(name)), Category: CategoryWebhook, Severity: Medium, Rule: place(object),
			Sentence: "Puts the " + kind + " " + short(name) + " in force, which is not part of the module.",
		})
	}
}
