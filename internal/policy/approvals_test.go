package policy

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/module"
)

var _ manager.LeaderElectionRunnable = &ApprovalFile{}

func TestApprovals_WhatIsWrittenCounts(t *testing.T) {
	policy, err := ParseApprovals([]byte(`
rules:
- modules: ["*"]
  when: [NewRights, NewWebhook]
  by: [Hub]
- modules: [istio, "serverless-*"]
  kymaSelector: {matchLabels: {plan: azure}, matchExpressions: [{key: trial, operator: DoesNotExist}]}
  when: [Always]
  by: [Runtime, Hub]
  firstInstallation: true
`))
	if err != nil {
		t.Fatal(err)
	}
	if len(policy.Rules) != 2 || policy.Rules[0].Kymas != nil || policy.Rules[0].FirstInstallation || policy.Rules[0].When[1] != module.ApprovalNewWebhook {
		t.Fatalf("got %+v", policy)
	}
	second := policy.Rules[1]
	if second.Modules[1] != "serverless-*" || !second.FirstInstallation || second.By[0] != v1beta2.ConsentRuntime {
		t.Errorf("got %+v", second)
	}
	for _, test := range []struct {
		labels labels.Set
		want   bool
	}{{labels.Set{"plan": "azure"}, true}, {labels.Set{"plan": "aws"}, false}, {labels.Set{"plan": "azure", "trial": "x"}, false}} {
		if got := second.Kymas.Matches(test.labels); got != test.want {
			t.Errorf("a Kyma with the labels %v is selected: %v", test.labels, got)
		}
	}
	if policy, err = ParseApprovals([]byte("rules: []")); err != nil || len(policy.Rules) != 0 {
		t.Errorf("a file without rules: %+v, %v", policy, err)
	}
}

func TestApprovals_WhatIsNotUnderstoodIsRefused(t *testing.T) {
	const good = "modules: [a], when: [Always], by: [Hub]"
	for _, test := range []struct{ name, text, says string }{
		{"nothing", "", `it is empty: write "rules: []"`},
		{"rules that were cut off", "rules:", `it is empty: write "rules: []"`},
		{"no YAML", "rules: [", "it is no YAML"},
		{"two documents", "rules: []\n---\nrules: []\n", "several YAML documents"},
		{"an unknown field", "rules: [{" + good + ", approvers: [x]}]", `unknown field "rules[0].approvers"`},
		{"a field in other letters", "rules: [{" + good + ", firstinstallation: true}]", `unknown field "rules[0].firstinstallation"`},
		{"a field that is given twice", "rules: [{" + good + ", by: [Runtime]}]", `"by" already set`},
		{"an unknown field of the selector", "rules: [{" + good + ", kymaSelector: {labels: {a: b}}}]", "unknown field"},
		{"no modules", "rules: [{when: [Always], by: [Hub]}]", "rules[0]: modules is missing"},
		{"a module without a name", `rules: [{modules: [""], when: [Always], by: [Hub]}]`, `modules has ""`},
		{"a pattern that is none", `rules: [{modules: ["a["], when: [Always], by: [Hub]}]`, `modules has "a["`},
		{"no trigger", "rules: [{modules: [a], by: [Hub]}]", "when is missing"},
		{"an unknown trigger", "rules: [{modules: [a], when: [always], by: [Hub]}]", `when has "always"`},
		{"a trigger that is given twice", "rules: [{modules: [a], when: [Always, Always], by: [Hub]}]", "written twice"},
		{"no side", "rules: [{modules: [a], when: [Always], by: []}]", "by is missing"},
		{"an unknown side", "rules: [{modules: [a], when: [Always], by: [Cluster]}]", `by has "Cluster"`},
		{"an empty selector", "rules: [{" + good + ", kymaSelector: {}}]", "kymaSelector: it is empty"},
		{"a selector that is none", "rules: [{" + good + ", kymaSelector: {matchExpressions: [{key: a, operator: Is}]}}]", "kymaSelector: "},
		{"the second rule", "rules: [{" + good + "}, {modules: [a], when: [Always], by: [Cloud]}]", "rules[1]: "},
		{"too many rules", "rules: [" + strings.Repeat("{"+good+"},", 101) + "]", "it has 101 rules"},
		{"too many modules", "rules: [{modules: [" + strings.Repeat("a,", 101) + "], when: [Always], by: [Hub]}]", "modules has 101 names"},
	} {
		if err := CheckApprovals([]byte(test.text)); err == nil || !strings.Contains(err.Error(), test.says) {
			t.Errorf("%s: %v, want %s", test.name, err, test.says)
		}
	}
}

func TestApprovals_ABrokenFileKeepsTheLastRules(t *testing.T) {
	path := filepath.Join(t.TempDir(), "approvals.yaml")
	write := func(text string) {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := Approvals(path, logr.Discard()); err == nil {
		t.Error("a file that does not exist is accepted at the start")
	}
	write("rules: [{modules: [a], when: [Always], by: [Hub]}]")
	file, err := Approvals(path, logr.Discard())
	if err != nil {
		t.Fatal(err)
	}
	changes := 0
	file.OnChange(func() { changes++ })
	write("rules: [{modules: [a]")
	if err := file.reload(); err == nil || file.Policy().Rules[0].Modules[0] != "a" || changes != 0 {
		t.Errorf("a broken file: %v, %+v, %d changes", err, file.Policy(), changes)
	}
	write("rules: [{modules: [b], kymaSelector: {matchLabels: {x: z}}, when: [Always], by: [Hub]}]")
	for range 2 {
		if err := file.reload(); err != nil || file.Policy().Rules[0].Modules[0] != "b" || changes != 1 || !file.Good() {
			t.Errorf("another file: %v, %+v, %d changes", err, file.Policy(), changes)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	none, err := Approvals("", logr.Discard())
	if err != nil || none.Policy() != nil || none.Start(ctx) != nil {
		t.Errorf("without a file: %+v, %v", none, err)
	}
}
