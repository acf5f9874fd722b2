package permissions_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/kyma-project/lifecycle-manager/pkg/permissions"
)

// includes reports whether a right, as a report has it, allows a request.
func includes(right *permissions.Right, r request) bool {
	groups := callers[r.who]
	kind, name, _ := strings.Cut(right.Holder, " ")
	held := right.Holder == "" && r.who == "module" ||
		kind == "User" && name == r.who ||
		kind == "ServiceAccount" && "system:serviceaccount:"+strings.ReplaceAll(name, "/", ":") == r.who ||
		kind == "Group" && slices.Contains(groups, name) ||
		kind == "Group" && r.who == "module" && slices.Contains([]string{"system:serviceaccounts", "system:authenticated"}, name)
	if !held || right.Namespace != "" && right.Namespace != r.namespace {
		return false
	}
	rule := rbacv1.PolicyRule{Verbs: right.Verbs, ResourceNames: right.Names}
	if right.URL != "" {
		rule.NonResourceURLs = []string{right.URL}
	} else {
		rule.APIGroups, rule.Resources = []string{right.Group}, []string{right.Resource}
	}
	return ruleAllows(&rule, r)
}

func anyIncludes(findings []permissions.Finding, r request) bool {
	return slices.ContainsFunc(findings, func(f permissions.Finding) bool { return f.Right != nil && includes(f.Right, r) })
}

// split returns the single verbs and names of a right.
func split(right *permissions.Right) []permissions.Right {
	var parts []permissions.Right
	for _, verb := range right.Verbs {
		for _, name := range append([]string{""}, right.Names...) {
			part := *right
			part.Verbs, part.Names = []string{verb}, []string{name}
			if len(right.Names) == 0 {
				part.Names = nil
			} else if name == "" {
				continue
			}
			parts = append(parts, part)
		}
	}
	return parts
}

// TestCompare_AgreesWithAnAuthorizer compares random versions with what a brute-force authorizer allows in each: what is added is
// allowed after and not before, all of it and nothing else.
func TestCompare_AgreesWithAnAuthorizer(t *testing.T) {
	const runs = 300
	all := universe()
	equal, subset := 0, 0
	for seed := range uint64(runs) {
		random := rand.New(rand.NewPCG(seed, 26))
		before := randomVersion(random)
		after := randomVersion(random)
		if seed%3 == 0 {
			after = narrowed(before, random)
		}
		reports := [2]permissions.Report{permissions.Analyse(before.objects(random)), permissions.Analyse(after.objects(random))}
		difference := permissions.Compare(reports[0], reports[1])
		added, removed := rightsOf(difference.Added), rightsOf(difference.Removed)
		grown, shrunk := false, false
		for _, r := range all {
			was, is := before.allows(r), after.allows(r)
			grown, shrunk = grown || is && !was, shrunk || was && !is
			if got := anyIncludes(reports[1].Findings, r); got != is {
				t.Fatalf("seed %d: the report allows %+v: %t, the authorizer: %t", seed, r, got, is)
			}
			if is && !was && !anyIncludes(added, r) || was && !is && !anyIncludes(removed, r) {
				t.Fatalf("seed %d: the difference lacks %+v (before %t, after %t)\nadded %v", seed, r, was, is, keys(added))
			}
		}
		if grown != (len(added) > 0) || shrunk != (len(removed) > 0) {
			t.Fatalf("seed %d: grown %t, shrunk %t, added %v, removed %v", seed, grown, shrunk, keys(added), keys(removed))
		}
		checkNoneInvented(t, seed, all, added, before)
		checkNoneInvented(t, seed, all, removed, after)
		if !grown && !shrunk {
			equal++
			if diff := cmp.Diff(keys(rightsOf(reports[0].Findings)), keys(rightsOf(reports[1].Findings))); diff != "" {
				t.Fatalf("seed %d: equal rights have different keys: %s", seed, diff)
			}
		}
		if !grown {
			subset++
		}
	}
	if equal < runs/50 || subset < runs/5 {
		t.Errorf("of %d runs %d have equal rights and %d add none: too few to mean something", runs, equal, subset)
	}
}

// checkNoneInvented fails for a single right that the other version allows completely.
func checkNoneInvented(t *testing.T, seed uint64, all []request, found []permissions.Finding, other *version) {
	t.Helper()
	for _, f := range found {
		for _, part := range split(f.Right) {
			isNew := slices.ContainsFunc(all, func(r request) bool { return includes(&part, r) && !other.allows(r) })
			if !isNew {
				t.Fatalf("seed %d: invented %s: %v", seed, f.Key, part)
			}
		}
	}
}

func rightsOf(findings []permissions.Finding) []permissions.Finding {
	return slices.DeleteFunc(slices.Clone(findings), func(f permissions.Finding) bool { return f.Right == nil })
}

func keys(findings []permissions.Finding) []string {
	all := make([]string, len(findings))
	for i := range findings {
		all[i] = findings[i].Key
	}
	slices.Sort(all)
	return all
}

// narrowed writes the rules of a version in another way, and leaves some out.
func narrowed(v *version, random *rand.Rand) *version {
	other := &version{roles: map[string][]rbacv1.PolicyRule{}}
	names := map[string]string{}
	for role, rules := range v.roles {
		namespace, _, _ := strings.Cut(role, "/")
		names[role] = fmt.Sprintf("%s/other%d", namespace, len(names))
		other.roles[names[role]] = nil
		for _, rule := range rules {
			for _, verb := range rule.Verbs {
				one := rule
				one.Verbs = []string{verb}
				if random.IntN(12) > 0 {
					other.roles[names[role]] = append(other.roles[names[role]], one)
				}
			}
		}
	}
	for _, b := range v.bindings {
		for _, subject := range b.subjects {
			other.bindings = append(other.bindings, binding{b.namespace, names[b.role], []rbacv1.Subject{subject}})
		}
	}
	return other
}
