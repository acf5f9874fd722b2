package diagnostics

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/owenrumney/go-sarif/v3/pkg/report/v210/sarif"
)

var update = flag.Bool("update", false, "write the golden files")

func findings() []Finding {
	return []Finding{
		{Rule: "image-tag", Severity: Error, File: "manifest.yaml", Line: 12, Column: 9, Field: "spec.template.spec.containers[0].image",
			Message: `image "x:latest" has the tag latest`, Fix: "name a version"},
		{Rule: "state-contract", Severity: Warning, File: "manifest.yaml", Line: 3, Message: "no status.state"},
		{Rule: "link", Severity: Error, File: "my module/module-config.yaml", Line: 4, Column: 7, Field: "icons[0].link", Message: "no https link"},
		{Rule: "link", Severity: Error, File: "/abs/module-config.yaml", Message: "no https link"},
		{Severity: Warning, Message: "something in general"},
		{Rule: "required", Severity: Error, Field: "team", Message: "is missing"},
	}
}

func TestString(t *testing.T) {
	for name, c := range map[string]struct {
		finding Finding
		want    string
	}{
		"all known parts are shown": {
			Finding{Rule: "link", Severity: Error, File: "a.yaml", Line: 4, Column: 7, Field: "icons[0].link", Message: "is no https link", Fix: "use https"},
			"a.yaml:4:7: error: icons[0].link: is no https link; use https (link)",
		},
		"a line without a column is a place": {
			Finding{Rule: "syntax", Severity: Error, File: "a.yaml", Line: 4, Message: "is no YAML"}, "a.yaml:4: error: is no YAML (syntax)",
		},
		"a column without a line is ignored":   {Finding{Rule: "x", Severity: Warning, File: "a", Column: 3, Message: "m"}, "a: warning: m (x)"},
		"a finding may have no place":          {Finding{Rule: "x", Severity: Warning, Message: "m"}, "warning: m (x)"},
		"a line without a file is shown":       {Finding{Rule: "x", Severity: Warning, Line: 3, Message: "m"}, "3: warning: m (x)"},
		"a field without a file is shown, too": {Finding{Rule: "x", Severity: Error, Field: "f", Message: "m"}, "error: f: m (x)"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := c.finding.String(); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestSortIsByPlaceAndDropsWhatIsSaidTwice(t *testing.T) {
	given := append(findings(), findings()...)
	sorted := Sort(given)
	if len(sorted) != len(findings()) {
		t.Errorf("%d findings are left, want %d", len(sorted), len(findings()))
	}
	var places []string
	for _, f := range sorted {
		places = append(places, f.Place()+" "+f.Rule)
	}
	want := []string{" required", " ", "/abs/module-config.yaml link", "manifest.yaml:3 state-contract", "manifest.yaml:12:9 image-tag",
		"my module/module-config.yaml:4:7 link"}
	if diff := cmp.Diff(want, places); diff != "" {
		t.Errorf("order (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(append(findings(), findings()...), given); diff != "" {
		t.Errorf("Sort changed what it was given (-want +got):\n%s", diff)
	}
}

func TestCountAndSelect(t *testing.T) {
	if errors, warnings := Count(findings()); errors != 4 || warnings != 2 {
		t.Errorf("counted %d errors and %d warnings, want 4 and 2", errors, warnings)
	}
	if !Failed(findings()) || Failed(Select(findings(), []string{"state-contract"})) || Failed(nil) {
		t.Error("only errors fail")
	}
	if got := Select(findings(), []string{"link"}); len(got) != 2 {
		t.Errorf("selected %d findings of rule link, want 2", len(got))
	}
	if got := Select(findings(), nil); len(got) != len(findings()) {
		t.Errorf("no rule selects %d findings, want all", len(got))
	}
	if got := len(findings()[0].Row()); got != len(Headings()) {
		t.Errorf("a row has %d cells and the table %d columns", got, len(Headings()))
	}
}

func TestJSON(t *testing.T) {
	text, err := json.MarshalIndent(findings(), "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "findings.json", append(text, '\n'))
}

func TestSARIF(t *testing.T) {
	rules := []Rule{{"link", "Links use https."}, {"image-tag", "Images name a version."}, {"manager", "The manager is in the manifest."}}
	text, err := SARIF(findings(), "1.2.3", rules...)
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "findings.sarif", text)
	valid(t, text)
	reversed := findings()
	for i := range len(reversed) / 2 {
		j := len(reversed) - 1 - i
		reversed[i], reversed[j] = reversed[j], reversed[i]
	}
	again, err := SARIF(reversed, "1.2.3", rules...)
	if err != nil || string(again) != string(text) {
		t.Errorf("the same findings in another order give another log (error %v)", err)
	}
}

func TestSARIFWithoutFindingsSaysThatThereAreNone(t *testing.T) {
	text, err := SARIF(nil, "")
	if err != nil {
		t.Fatal(err)
	}
	valid(t, text)
	report, err := sarif.FromBytes(text)
	if err != nil {
		t.Fatal(err)
	}
	if len(report.Runs) != 1 || report.Runs[0].Results == nil || len(report.Runs[0].Results) != 0 {
		t.Errorf("want one run with an empty list of results:\n%s", text)
	}
}

// valid validates a log against the schema of SARIF.
func valid(t *testing.T, text []byte) {
	t.Helper()
	report, err := sarif.FromBytes(text)
	if err != nil {
		t.Fatal(err)
	}
	if err := report.Validate(); err != nil {
		t.Errorf("this is no SARIF: %v", err)
	}
}

// golden compares with a file in testdata, or writes it.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s (-want +got), -update writes it:\n%s", name, diff)
	}
}
