package module

import (
	"cmp"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
)

const (
	page       = "../../docs/spec/kyma.md"
	conditionF = "../../api/v1beta2/conditions.go"
)

// line returns a rule as the page prints it.
func line(r Rule) string {
	kinds := make([]string, len(r.Kinds))
	for i, kind := range r.Kinds {
		kinds[i] = string(kind)
	}
	message := "–"
	if r.Message != "" {
		message = "`" + r.Message + "`"
	}
	return "| " + strings.Join([]string{
		cmp.Or(strings.Join(kinds, ", "), "any"), cmp.Or(string(r.State), "as reported"), "`" + r.Reason + "`", message, cmp.Or(r.Remedy, "–"),
	}, " | ") + " |"
}

func TestSpec_ThePageHasTheTableOfTheCode(t *testing.T) {
	want := make([]string, 0, len(Rules()))
	for _, r := range Rules() {
		want = append(want, line(r))
	}
	if diff := gocmp.Diff(want, rowsUnder(t, "| verdict | state |")); diff != "" {
		t.Errorf("docs/spec/kyma.md and internal/module/rules.go differ (-code +page):\n%s", diff)
	}
}

// rowsUnder returns the rows of the table with the given header.
func rowsUnder(t *testing.T, head string) []string {
	t.Helper()
	raw, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	_, table, found := strings.Cut(string(raw), "\n"+head)
	if !found {
		t.Fatalf("%s has no table that starts with %q", page, head)
	}
	var rows []string
	for _, row := range strings.Split(table, "\n")[2:] { // the rest of the header, and the rule below it
		if !strings.HasPrefix(row, "|") {
			break
		}
		rows = append(rows, row)
	}
	return rows
}

func TestSpec_EveryReasonOfAKymaIsOnThePage(t *testing.T) {
	explained := map[string]bool{}
	for _, r := range Rules() {
		explained[r.Reason] = true
	}
	for _, row := range rowsUnder(t, "| reason | status |") {
		explained[strings.Trim(strings.Split(row, "|")[1], " `")] = true
	}
	for _, reason := range kymaReasons(t) {
		if !explained[reason] {
			t.Errorf("reason %s stands in api/v1beta2/conditions.go and not in docs/spec/kyma.md", reason)
		}
	}
}

// kymaReasons returns the constants under "Reasons that a Kyma or one of its modules gives".
func kymaReasons(t *testing.T) []string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), conditionF, nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	var reasons []string
	for _, decl := range file.Decls {
		block, ok := decl.(*ast.GenDecl)
		if !ok || block.Doc == nil || !strings.HasPrefix(block.Doc.Text(), "Reasons that a Kyma") {
			continue
		}
		for _, spec := range block.Specs {
			value := spec.(*ast.ValueSpec).Values[0].(*ast.BasicLit).Value
			reason, err := strconv.Unquote(value)
			if err != nil {
				t.Fatal(err)
			}
			reasons = append(reasons, reason)
		}
	}
	if len(reasons) < 20 {
		t.Fatalf("%s: found only %d reasons of a Kyma: was the comment above them changed?", conditionF, len(reasons))
	}
	return reasons
}

func TestSpec_EveryRuleIsComplete(t *testing.T) {
	seen := map[string]bool{}
	for i, r := range Rules() {
		if r.Reason == "" || r.State != "Ready" && (r.Message == "" || r.Remedy == "") {
			t.Errorf("rule %d (%s) lacks reason, message or remedy", i, r.Reason)
		}
		if !regexp.MustCompile(`^[A-Z][A-Za-z]+$`).MatchString(r.Reason) {
			t.Errorf("rule %d: reason %q is not CamelCase", i, r.Reason)
		}
		key := r.Reason + string(r.State) + r.Message
		if seen[key] {
			t.Errorf("rule %d repeats another: %s", i, key)
		}
		seen[key] = true
	}
}

func TestRulesCannotBeChangedFromOutside(t *testing.T) {
	table := Rules()
	table[ruleReady].Kinds[0] = Removed
	table[ruleReady].Reason = "Spoiled"
	if again := Rules()[ruleReady]; again.Kinds[0] != Run || again.Reason != "Ready" {
		t.Errorf("the table was changed through its copy: %+v", again)
	}
}
