package permissions

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

const (
	page    = "../../docs/permissions.md"
	section = "## What is reported"
)

// TestPage_SaysWhatIsReported compares the tables of the page with what the code reports.
func TestPage_SaysWhatIsReported(t *testing.T) {
	data, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(data), section)
	if !found {
		t.Fatalf("%s has no section %q", page, section)
	}
	rest, _, _ = strings.Cut(rest, "\n## ")
	var has []string
	for line := range strings.Lines(rest) {
		if strings.HasPrefix(line, "| ") && !strings.HasPrefix(line, "| category") {
			has = append(has, strings.TrimSpace(line))
		}
	}
	want := tableRows(t)
	if !slices.Equal(has, want) {
		t.Errorf("the table of %s differs from the code; it should be\n%s", page, strings.Join(want, "\n"))
	}
}

// tableRows has a row for everything that a report can say.
func tableRows(t *testing.T) []string {
	var rows []string
	row := func(category Category, what, severity, sentence string) {
		rows = append(rows, fmt.Sprintf("| %s | %s | %s | %s |", category, what, severity, sentence))
	}
	for _, example := range examples {
		before := len(rows)
		for _, f := range Analyse(parse(t, example.objects)).Findings {
			if f.Category == example.category && strings.Contains(f.Sentence, example.part) {
				row(f.Category, example.what, f.Severity.String(), f.Sentence)
			}
		}
		if len(rows) != before+1 {
			t.Errorf("%s: %d findings, want one", example.what, len(rows)-before)
		}
	}
	for i := range hazards {
		h := &hazards[i]
		right := Right{Group: h.group, Resource: h.resources[0], Verbs: h.verbs}
		if len(h.verbs) == 0 {
			right.Verbs = []string{"create"}
		}
		cluster, sentence := describe(&right)
		severity := cluster.String()
		if right.Namespace = "x"; !beyondNamespaces(right.Group, right.Resource) {
			if narrow, _ := describe(&right); narrow != cluster {
				severity += ", in one namespace " + narrow.String()
			}
		}
		var resources []string
		for _, resource := range h.resources {
			resources = append(resources, resourceText(h.group, resource))
		}
		row(CategoryRights, strings.Join(right.Verbs, ", ")+" "+strings.Join(resources, ", "), severity, sentence)
	}
	for _, what := range sortedKeys(accessTexts) {
		a := Access{What: what, Detail: details[what], Carrier: "Deployment x/y"}
		switch {
		case what == accessIngress || what == accessGateway:
			a.Carrier = strings.ToUpper(what[:1]) + what[1:] + " x/y"
		case accessTexts[what].category == CategoryExposure:
			a.Carrier = "Service x/y"
		case what == accessAccount || what == accessSecret || what == accessToken:
			a.Carrier = ""
		}
		category, severity, sentence := a.text()
		a.EveryNode = true
		if _, every, _ := a.text(); every != severity {
			row(category, what, severity.String()+", by a DaemonSet "+every.String(), sentence)
			continue
		}
		row(category, what, severity.String(), sentence)
	}
	for i := range settings {
		row(CategoryCluster, settings[i].kind, settings[i].severity.String(), strings.ReplaceAll(settings[i].sentence, "{name}", "x")+".")
	}
	slices.SortStableFunc(rows, func(a, b string) int {
		return slices.Index(Categories(), categoryOf(a)) - slices.Index(Categories(), categoryOf(b))
	})
	return rows
}

func categoryOf(row string) Category {
	category, _, _ := strings.Cut(strings.TrimPrefix(row, "| "), " ")
	return Category(category)
}

var details = map[string]string{
	accessHostPort: "8080", accessSELinux: "::spc_t", accessSysctl: "kernel.msgmax", accessNodeName: "node-1", accessPriority: "system-node-critical",
	accessAccount: "x/other", accessSecret: "x/other", accessToken: "vault", accessExternalIP: "192.0.2.1", accessIngress: "example.com",
}

func parse(t testing.TB, text string) []*unstructured.Unstructured {
	t.Helper()
	var objects []*unstructured.Unstructured
	for document := range strings.SplitSeq(text, "\n---\n") {
		fields := map[string]any{}
		if err := yaml.Unmarshal([]byte(document), &fields); err != nil {
			t.Fatalf("%v in\n%s", err, document)
		}
		if len(fields) > 0 {
			objects = append(objects, &unstructured.Unstructured{Object: fields})
		}
	}
	return objects
}
