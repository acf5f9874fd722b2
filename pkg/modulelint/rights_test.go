package modulelint

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kyma-project/lifecycle-manager/pkg/diagnostics"
	"github.com/kyma-project/lifecycle-manager/pkg/moduleconfig"
	"github.com/kyma-project/lifecycle-manager/pkg/requirements"
)

const wideRoles = `
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: notes, namespace: notes-system}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: notes}
rules:
- {apiGroups: [""], resources: [configmaps], verbs: [get, list]}
- apiGroups: [apps]
  resources: ["*"]
  verbs: [get]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: notes}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: notes}
subjects: [{kind: ServiceAccount, name: notes, namespace: notes-system}]
`

func TestLint_WarnsOfRulesThatAskForEverything(t *testing.T) {
	module := sample(t).module(t)
	lines := bytes.Count(module.Manifest, []byte("\n"))
	module.Manifest = append(module.Manifest, wideRoles...)
	found := Lint(module, Options{Rules: []string{RuleWildcardRights}})
	if len(found) != 1 {
		t.Fatalf("findings: %v", found)
	}
	f := found[0]
	if f.Severity != diagnostics.Warning || f.Field != "rules[1]" || f.File != manifest || f.Line != lines+12 {
		t.Errorf("%+v, want a warning in line %d", f, lines+12)
	}
}

func TestCycles(t *testing.T) {
	config := func(name string, modules ...string) *moduleconfig.Config {
		c := &moduleconfig.Config{File: name + ".yaml", Name: "example.com/module/" + name}
		for _, module := range modules {
			c.Requires = append(c.Requires, requirements.Requirement{Module: module})
		}
		return c
	}
	for name, c := range map[string]struct {
		configs []*moduleconfig.Config
		want    []string
	}{
		"nothing is given":                  {nil, nil},
		"a chain is no circle":              {[]*moduleconfig.Config{config("one", "two"), config("two", "three")}, nil},
		"one module cannot show it":         {[]*moduleconfig.Config{config("one", "two")}, nil},
		"itself is refused by another rule": {[]*moduleconfig.Config{config("one", "one")}, nil},
		"two require each other": {[]*moduleconfig.Config{config("two", "one"), config("one", "other", "two")},
			[]string{"one.yaml requires[1].module: the modules require each other: one -> two -> one"}},
		"three in a circle": {[]*moduleconfig.Config{config("cee", "aaa"), config("aaa", "bee"), config("bee", "cee")},
			[]string{"aaa.yaml requires[0].module: the modules require each other: aaa -> bee -> cee -> aaa"}},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, f := range Cycles(c.configs) {
				got = append(got, fmt.Sprintf("%s %s: %s", f.File, f.Field, f.Message))
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
