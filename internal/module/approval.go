package module

import (
	"path"
	"slices"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

// ApprovalTrigger is what makes a version need consent.
type ApprovalTrigger string

const (
	// ApprovalAlways asks for consent to every version.
	ApprovalAlways ApprovalTrigger = "Always"
	// ApprovalNewRights asks for consent to a version that may do what the installed one may not.
	ApprovalNewRights ApprovalTrigger = "NewRights"
	// ApprovalNewWebhook asks for consent to a version with a new webhook, or one that intercepts more than before.
	ApprovalNewWebhook ApprovalTrigger = "NewWebhook"
	// ApprovalDefinitionChange asks for consent to a version that adds, changes or removes a CustomResourceDefinition.
	ApprovalDefinitionChange ApprovalTrigger = "DefinitionChange"
)

// ApprovalPolicy says which versions need consent, and who gives it. It is the operator's: neither hub entries nor runtimes weaken it.
type ApprovalPolicy struct {
	// Rules that match a module and a Kyma all apply, each for itself.
	Rules []ApprovalRule
}

// ApprovalRule asks for consent to versions of some modules in some Kymas.
type ApprovalRule struct {
	// Modules are names or patterns as in path.Match; "*" is every module.
	Modules []string
	// Kymas selects by the labels of the Kyma on the hub; nil selects all.
	Kymas labels.Selector
	// When lists what makes a version need consent; one of them is enough.
	When []ApprovalTrigger
	// By are the sides that may consent; one of them is enough.
	By []v1beta2.ConsentSide
	// FirstInstallation is true when a module that is not installed yet needs consent, too: then all that it may do is new.
	FirstInstallation bool
}

// rulesFor returns the rules for a module of a Kyma with these labels. first is true for a module that is not installed.
func (p *ApprovalPolicy) rulesFor(module string, kyma map[string]string, first bool) []*ApprovalRule {
	if p == nil {
		return nil
	}
	var found []*ApprovalRule
	for i := range p.Rules {
		rule := &p.Rules[i]
		if (rule.FirstInstallation || !first) && rule.matches(module) && (rule.Kymas == nil || rule.Kymas.Matches(labels.Set(kyma))) {
			found = append(found, rule)
		}
	}
	return found
}

func (rule *ApprovalRule) matches(module string) bool {
	return slices.ContainsFunc(rule.Modules, func(pattern string) bool {
		matched, err := path.Match(pattern, module)
		return pattern == "*" || err != nil || matched // a pattern that cannot be read holds back rather than lets through
	})
}

// triggeredBy reports whether a change needs the consent of the rule.
func (rule *ApprovalRule) triggeredBy(change *Change) bool {
	return slices.ContainsFunc(rule.When, func(trigger ApprovalTrigger) bool {
		switch trigger {
		case ApprovalNewRights:
			return change.NewRights
		case ApprovalNewWebhook:
			return change.NewWebhook
		case ApprovalDefinitionChange:
			return change.DefinitionChange
		case ApprovalAlways:
		}
		return true
	})
}

// always reports whether the rule asks for consent whatever a version may do.
func (rule *ApprovalRule) always() bool { return slices.Contains(rule.When, ApprovalAlways) }
