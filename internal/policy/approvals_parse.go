package policy

import (
	"errors"
	"fmt"
	"path"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/module"
)

const (
	// maxApprovalRules bounds the rules, and maxApprovalModules the patterns of one: all are tried for each module of each Kyma.
	maxApprovalRules   = 100
	maxApprovalModules = 100
	// maxPattern is the length of a pattern: that of the longest name.
	maxPattern = 253
)

// approvalsFile is the file as users write it.
type approvalsFile struct {
	Rules []approvalEntry `json:"rules"`
}

type approvalEntry struct {
	// Modules are names or patterns: * stands for any characters, ? for one, [a-z] for one of some. "*" is every module.
	Modules []string `json:"modules"`
	// KymaSelector selects Kymas by the labels that they have on the hub; without it the rule is for all.
	KymaSelector *metav1.LabelSelector `json:"kymaSelector"`
	// When lists what makes a version need consent: Always, NewRights, NewWebhook, DefinitionChange.
	When []module.ApprovalTrigger `json:"when"`
	// By lists who may consent: Hub, Runtime. One of them is enough.
	By []v1beta2.ConsentSide `json:"by"`
	// FirstInstallation asks for consent to the first installation, too.
	FirstInstallation bool `json:"firstInstallation"`
}

// CheckApprovals returns why an approval file is invalid.
func CheckApprovals(data []byte) error {
	_, err := ParseApprovals(data)
	return err
}

// ParseApprovals parses an approval file. The error lists all problems at once.
func ParseApprovals(data []byte) (*module.ApprovalPolicy, error) {
	file, err := decodeApprovals(data)
	if err != nil {
		return nil, err
	}
	policy := &module.ApprovalPolicy{}
	var problems []error
	for i := range file.Rules {
		rule, err := file.Rules[i].rule()
		if err != nil {
			problems = append(problems, fmt.Errorf("rules[%d]: %w", i, err))
		}
		policy.Rules = append(policy.Rules, rule)
	}
	if err := errors.Join(problems...); err != nil {
		return nil, err
	}
	return policy, nil
}

func decodeApprovals(data []byte) (*approvalsFile, error) {
	document, err := onlyDocument(data)
	if err != nil {
		return nil, err
	}
	var file approvalsFile
	if err := strictly(document, &file); err != nil {
		const form = "rules: [{modules, kymaSelector, when, by, firstInstallation}]"
		return nil, fmt.Errorf("it does not have the form %q: %w", form, err)
	}
	if file.Rules == nil {
		// An editor that truncates before it writes must not let every version through for a moment.
		return nil, errors.New(`it is empty: write "rules: []" if no version needs consent`)
	}
	if len(file.Rules) > maxApprovalRules {
		return nil, fmt.Errorf("it has %d rules and %d are accepted", len(file.Rules), maxApprovalRules)
	}
	return &file, nil
}

func (e *approvalEntry) rule() (module.ApprovalRule, error) {
	rule := module.ApprovalRule{Modules: e.Modules, When: e.When, By: e.By, FirstInstallation: e.FirstInstallation}
	problems := []error{
		checkModules(e.Modules),
		checkWords("when", e.When, module.ApprovalAlways, module.ApprovalNewRights, module.ApprovalNewWebhook, module.ApprovalDefinitionChange),
		checkWords("by", e.By, v1beta2.ConsentHub, v1beta2.ConsentRuntime),
	}
	if e.KymaSelector != nil {
		var err error
		if rule.Kymas, err = selectorOf(e.KymaSelector); err != nil {
			problems = append(problems, fmt.Errorf("kymaSelector: %w", err))
		}
	}
	return rule, errors.Join(problems...)
}

// selectorOf refuses an empty selector: elsewhere it selects everything or nothing, so that a reader cannot know.
func selectorOf(written *metav1.LabelSelector) (labels.Selector, error) {
	selector, err := metav1.LabelSelectorAsSelector(written)
	if err == nil && selector.Empty() {
		err = errors.New("it is empty: leave it out if the rule is for every Kyma")
	}
	return selector, err
}

func checkModules(patterns []string) error {
	switch {
	case len(patterns) == 0:
		return errors.New(`modules is missing: write the names of modules, or "*" for all`)
	case len(patterns) > maxApprovalModules:
		return fmt.Errorf("modules has %d names and %d are accepted", len(patterns), maxApprovalModules)
	}
	for _, pattern := range patterns {
		if _, err := path.Match(pattern, ""); err != nil || pattern == "" || len(pattern) > maxPattern {
			return fmt.Errorf("modules has %q, which is neither a name nor a pattern such as \"istio-*\"", pattern)
		}
	}
	return nil
}

// checkWords accepts one or more known words, each once.
func checkWords[T ~string](field string, written []T, known ...T) error {
	if len(written) == 0 {
		return fmt.Errorf("%s is missing: write one or more of %q", field, known)
	}
	for i, word := range written {
		if !slices.Contains(known, word) || slices.Contains(written[:i], word) {
			return fmt.Errorf("%s has %q, which is unknown or written twice: write one or more of %q", field, word, known)
		}
	}
	return nil
}
