package permissions

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// DescribeNeeds returns needs as the rules that would give them, in the notation of roles and by namespace. Where that takes more than
// limit bytes, whole kinds are named in place of their objects; longer ones are for the caller to cut.
func DescribeNeeds(needs []Need, limit int) string {
	text := describeRules(needs)
	if len(text) <= limit {
		return text
	}
	wide := make([]Need, len(needs))
	for i, need := range needs {
		if wide[i] = need; ordinary(need.Verb) {
			wide[i].Name = ""
		}
	}
	return describeRules(wide)
}

func describeRules(needs []Need) string {
	var parts []string
	rules := rulesOf(needs)
	for len(rules) > 0 {
		namespace := rules[0].namespace
		end := slices.IndexFunc(rules, func(r needRule) bool { return r.namespace != namespace })
		if end < 0 {
			end = len(rules)
		}
		texts := make([]string, 0, end)
		for _, rule := range rules[:end] {
			texts = append(texts, rule.String())
		}
		where := "in the whole cluster "
		if namespace != "" {
			where = "in namespace " + namespace + " "
		}
		parts = append(parts, where+strings.Join(texts, ", "))
		rules = rules[end:]
	}
	return strings.Join(parts, "; ")
}

// needRule is a rule of a role in one namespace, or in the whole cluster.
type needRule struct {
	namespace, group        string
	resources, names, verbs []string
}

// String returns the rule in one line of YAML.
func (r *needRule) String() string {
	text := "{apiGroups: [" + quoted(r.group) + "], resources: [" + quoted(r.resources...) + "]"
	if len(r.names) > 0 {
		text += ", resourceNames: [" + quoted(r.names...) + "]"
	}
	return text + ", verbs: [" + quoted(r.verbs...) + "]}"
}

// plain is what YAML reads as a text without quotes, wherever it stands.
var plain = regexp.MustCompile(`^[a-z][-a-z0-9.]*$`)

// quoted writes texts as the items of a list.
func quoted(texts ...string) string {
	items := make([]string, len(texts))
	for i, text := range texts {
		if items[i] = text; !plain.MatchString(text) {
			items[i] = strconv.Quote(text)
		}
	}
	return strings.Join(items, ", ")
}

// rulesOf puts needs together: first the verbs of an object, then objects with equal verbs, then resources that are alike.
func rulesOf(needs []Need) []needRule {
	needs = slices.SortedFunc(slices.Values(needs), compareNeeds)
	var rules []needRule
	for _, need := range needs {
		rule := needRule{namespace: need.Namespace, group: need.Group, resources: []string{need.Resource}, verbs: []string{need.Verb}}
		if need.Name != "" {
			rule.names = []string{need.Name}
		}
		rules = append(rules, rule)
	}
	rules = together(rules, func(r *needRule) *[]string { return &r.verbs })
	rules = together(rules, func(r *needRule) *[]string { return &r.names })
	return together(rules, func(r *needRule) *[]string { return &r.resources })
}

// together merges rules that differ in one list alone. A rule without names is for all objects, and stays apart from those with names.
func together(rules []needRule, list func(*needRule) *[]string) []needRule {
	at := map[string]int{}
	var merged []needRule
	for _, rule := range rules {
		rest := rule
		*list(&rest) = nil
		if len(*list(&rule)) == 0 {
			rest.group += "/all"
		}
		key := joinKey(rest.namespace, rest.group, joinNames(rest.resources), joinNames(rest.names), joinNames(rest.verbs))
		i, known := at[key]
		if !known {
			at[key] = len(merged)
			merged = append(merged, rule)
			continue
		}
		into := list(&merged[i])
		for _, item := range *list(&rule) {
			if !slices.Contains(*into, item) {
				*into = append(slices.Clip(*into), item)
			}
		}
	}
	return merged
}
