package permissions

import (
	"maps"
	"slices"
	"strings"
)

// grant is what a rule allows, without verbs: one resource, one name, one namespace and one holder. Rules are compared in this form.
type grant struct {
	holder, namespace string
	group, resource   string
	name              string // "" is every name
	url               string
	role              string
}

// origin is where a grant comes from and which ServiceAccounts have it.
type origin struct{ rules, subjects []string }

func (o *origin) add(rule, subject string) {
	if !slices.Contains(o.rules, rule) {
		o.rules = append(o.rules, rule)
	}
	if !slices.Contains(o.subjects, subject) {
		o.subjects = append(o.subjects, subject)
	}
}

// ruleSet holds grants with their verbs.
type ruleSet map[grant]map[string]*origin

// add records that a rule gives a verb to a subject.
func (s ruleSet) add(g grant, verb, rule, subject string) {
	verbs := s[g]
	if verbs == nil {
		verbs = map[string]*origin{}
		s[g] = verbs
	}
	if verbs[verb] == nil {
		verbs[verb] = &origin{}
	}
	verbs[verb].add(rule, subject)
}

// addRight takes a right apart.
func (s ruleSet) addRight(r *Right, rule, subject string) {
	names := r.Names
	if len(names) == 0 {
		names = []string{""}
	}
	for _, name := range names {
		g := grant{r.Holder, r.Namespace, r.Group, r.Resource, name, r.URL, r.Role}
		for _, verb := range r.Verbs {
			s.add(g, verb, rule, subject)
		}
	}
}

// allows reports whether a grant with one verb is part of what the set allows. A set of finitely many grants covers a grant only if one of
// them does: between any two there is always a name, a namespace or a kind that neither of them mentions.
func (s ruleSet) allows(g grant, verb string) bool { return s.covered(g, verb, false) }

// redundant reports whether another grant of the set, a wider one, covers a grant with one verb.
func (s ruleSet) redundant(g grant, verb string) bool { return s.covered(g, verb, true) }

func (s ruleSet) covered(g grant, verb string, byOthers bool) bool {
	for _, holder := range holdersAround(g.holder) {
		for _, namespace := range around(g.namespace, "") {
			if s.coveredBy(holder, namespace, g, verb, byOthers) {
				return true
			}
		}
	}
	return false
}

// coveredBy asks the grants of one holder in one scope.
func (s ruleSet) coveredBy(holder, namespace string, g grant, verb string, byOthers bool) bool {
	has := func(wider grant) bool {
		wider.holder, wider.namespace = holder, namespace
		verbs := s[wider]
		if verbs[wildcard] != nil && (!byOthers || wider != g || verb != wildcard) {
			return true
		}
		return verbs[verb] != nil && (!byOthers || wider != g)
	}
	switch {
	case g.url != "":
		return slices.ContainsFunc(urlsAround(g.url), func(url string) bool { return has(grant{url: url}) })
	case g.role != "":
		return coversRole(has, g.role)
	}
	for _, group := range around(g.group, wildcard) {
		for _, resource := range resourcesAround(g.resource) {
			for _, name := range around(g.name, "") {
				if has(grant{group: group, resource: resource, name: name}) {
					return true
				}
			}
		}
	}
	holdsRole := func(role string) bool { return s[grant{holder: holder, namespace: namespace, role: role}] != nil }
	return impliedByRole(holdsRole, g.group, g.resource, verb)
}

// around returns a value and what is wider than it.
func around(value, all string) []string {
	if value == all {
		return []string{all}
	}
	return []string{value, all}
}

// resourcesAround returns a resource and the patterns that RBAC matches it with.
func resourcesAround(resource string) []string {
	if resource == wildcard {
		return []string{wildcard}
	}
	base, sub, found := strings.Cut(resource, "/")
	if !found || base == wildcard {
		return []string{resource, wildcard}
	}
	return []string{resource, wildcard + "/" + sub, wildcard}
}

// urlsAround returns a URL and the patterns that RBAC matches it with: "/a*" and "*" for "/a/b".
func urlsAround(url string) []string {
	found := []string{url}
	fixed := strings.TrimRight(url, wildcard)
	for end := len(fixed); end >= 0; end-- {
		if pattern := fixed[:end] + wildcard; pattern != url {
			found = append(found, pattern)
		}
	}
	return found
}

// minimal returns the set without what wider grants cover, so that equal rights give equal sets.
func (s ruleSet) minimal() ruleSet {
	left := ruleSet{}
	for g, verbs := range s {
		for verb, from := range verbs {
			if s.redundant(g, verb) {
				continue
			}
			if left[g] == nil {
				left[g] = map[string]*origin{}
			}
			left[g][verb] = from
		}
	}
	return left
}

// without returns what of the set another one does not allow.
func (s ruleSet) without(other ruleSet) ruleSet {
	left := ruleSet{}
	for g, verbs := range s {
		for verb, from := range verbs {
			if other.allows(g, verb) {
				continue
			}
			if left[g] == nil {
				left[g] = map[string]*origin{}
			}
			left[g][verb] = from
		}
	}
	return left
}

// rights puts grants together again: those that differ in verbs or names alone become one. Verbs that only some resources have stay apart,
// because each of them is a right of its own kind.
func (s ruleSet) rights() map[string]*heldRight {
	type group struct {
		grant
		verbs string
	}
	groups := map[group]*heldRight{}
	for g, verbs := range s {
		for _, together := range verbGroups(slices.Collect(maps.Keys(verbs))) {
			at := group{g, joinNames(together)}
			at.name = ""
			if g.name == "" {
				at.verbs += "|all" // a right to all objects is not one to an object without a name
			}
			held := groups[at]
			if held == nil {
				held = &heldRight{right: Right{
					Holder: g.holder, Namespace: g.namespace, Group: g.group, Resource: g.resource, Verbs: together, URL: g.url, Role: g.role,
				}}
				groups[at] = held
			}
			held.take(g.name, together, verbs)
		}
	}
	byKey := make(map[string]*heldRight, len(groups))
	for _, held := range groups {
		slices.Sort(held.right.Names)
		byKey[held.right.key()] = held
	}
	return byKey
}

// heldRight is a right with where it comes from.
type heldRight struct {
	right           Right
	rules, subjects []string
}

func (h *heldRight) take(name string, together []string, verbs map[string]*origin) {
	if name != "" {
		h.right.Names = append(h.right.Names, name)
	}
	for _, verb := range together {
		h.rules = append(h.rules, verbs[verb].rules...)
		h.subjects = append(h.subjects, verbs[verb].subjects...)
	}
}

// verbGroups sorts verbs, and separates the ordinary ones from each of the others.
func verbGroups(verbs []string) [][]string {
	slices.SortFunc(verbs, compareVerbs)
	var groups [][]string
	var usual []string
	for _, verb := range verbs {
		if ordinary(verb) {
			usual = append(usual, verb)
		} else {
			groups = append(groups, []string{verb})
		}
	}
	if len(usual) > 0 {
		groups = append(groups, usual)
	}
	return groups
}
