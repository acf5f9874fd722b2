package permissions

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/kyma-project/lifecycle-manager/pkg/excerpt"
)

const (
	// maxSentence bounds a sentence, so that a list of them fits into a status.
	maxSentence = 160
	// maxRule bounds where a finding comes from.
	maxRule = 240
	// maxSubject bounds who gets a right.
	maxSubject = 160
)

// Report is what the objects of one version may do once they are applied. Equal objects give equal reports, in whatever order they come.
type Report struct {
	// Findings are sorted: the gravest first, then by key. Each key is there once.
	Findings []Finding `json:"findings,omitempty"`
	// Images are sorted by registry, repository, tag and digest.
	Images []Image `json:"images,omitempty"`
	// Definitions are the CustomResourceDefinitions, by name.
	Definitions []CustomDefinition `json:"definitions,omitempty"`
	// Webhooks are the webhooks and admission policies, by kind, configuration and name.
	Webhooks []Named `json:"webhooks,omitempty"`
	// APIServices are the served API groups, by name.
	APIServices []Named `json:"apiServices,omitempty"`
}

// Finding is one right, or one thing that concerns others than the module.
type Finding struct {
	// Key identifies the right: equal keys of two versions mean the same right. It depends neither on the order of objects nor on the names of
	// roles and bindings.
	Key string `json:"key"`
	// Category of the finding.
	Category Category `json:"category"`
	// Severity of the finding.
	Severity Severity `json:"severity"`
	// Sentence says it to a person: "May read every Secret of the cluster." It has at most 160 bytes.
	Sentence string `json:"sentence"`
	// Rule is where the finding comes from: `ClusterRole "x" rule 3: get,list secrets`. Where there are several places, the first of them.
	Rule string `json:"rule,omitempty"`
	// Subject is who gets the right: ServiceAccounts, users or groups.
	Subject string `json:"subject,omitempty"`
	// Right is what RBAC allows; nil for other categories.
	Right *Right `json:"right,omitempty"`
	// Access is what pods get; nil for other categories.
	Access *Access `json:"access,omitempty"`
	// Interception is what a webhook or policy intercepts; nil for other categories.
	Interception *Interception `json:"interception,omitempty"`
}

// Named is an object of which only its identity and its content count.
type Named struct {
	// Name identifies it: "MutatingWebhookConfiguration istio/sidecar.istio.io".
	Name string `json:"name"`
	// Hash changes with its content. What is renewed all the time, such as certificates, is no content.
	Hash string `json:"hash"`
}

// bounded returns the finding with texts that are short enough to be kept for thousands of versions. What others wrote is cut.
func (f Finding) bounded() Finding {
	f.Sentence = excerpt.Cut(oneLine(f.Sentence), maxSentence)
	f.Rule = excerpt.Cut(oneLine(f.Rule), maxRule)
	f.Subject = excerpt.Cut(oneLine(f.Subject), maxSubject)
	return f
}

// oneLine replaces what would break a line or a terminal.
func oneLine(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 {
			return ' '
		}
		return r
	}, text)
}

// compareFindings orders findings: the gravest first, then by key.
func compareFindings(a, b Finding) int {
	return cmp.Or(cmp.Compare(b.Severity, a.Severity), cmp.Compare(a.Key, b.Key))
}

// sortFindings orders findings and merges those with the same key.
func sortFindings(findings []Finding) []Finding {
	byKey := map[string]*merged{}
	for _, finding := range findings {
		m := byKey[finding.Key]
		if m == nil {
			m = &merged{finding: finding}
			byKey[finding.Key] = m
		}
		m.add(finding)
	}
	all := make([]Finding, 0, len(byKey))
	for _, m := range byKey {
		all = append(all, m.result())
	}
	slices.SortFunc(all, compareFindings)
	return all
}

// merged collects findings with one key.
type merged struct {
	finding         Finding
	rules, subjects []string
}

func (m *merged) add(f Finding) {
	if cmp.Or(cmp.Compare(f.Severity, m.finding.Severity), cmp.Compare(m.finding.Sentence, f.Sentence)) > 0 {
		m.finding = f // of several sentences the same one, whatever the order
	}
	m.rules, m.subjects = append(m.rules, f.Rule), append(m.subjects, f.Subject)
}

func (m *merged) result() Finding {
	m.finding.Rule, m.finding.Subject = enumerate(m.rules, "; "), enumerate(m.subjects, ", ")
	return m.finding.bounded()
}

// enumerated is how many entries a text names before it counts the others.
const enumerated = 3

// enumerate joins the distinct texts in order: the first of them, and how many there are besides.
func enumerate(texts []string, separator string) string {
	texts = distinct(texts)
	if len(texts) <= enumerated {
		return strings.Join(texts, separator)
	}
	return strings.Join(texts[:enumerated], separator) + " and " + plural(len(texts)-enumerated, "other")
}

// sortedKeys returns the keys of a map in order.
func sortedKeys[T any](all map[string]T) []string { return slices.Sorted(maps.Keys(all)) }

// distinct returns the texts sorted, each once, without empty ones.
func distinct(texts []string) []string {
	texts = slices.Compact(slices.Sorted(slices.Values(texts)))
	return slices.DeleteFunc(texts, func(text string) bool { return text == "" })
}
