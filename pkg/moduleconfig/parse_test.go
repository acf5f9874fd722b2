package moduleconfig

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/kyma-project/lifecycle-manager/pkg/diagnostics"
	"github.com/kyma-project/lifecycle-manager/pkg/requirements"
)

// sample returns a file of testdata.
func sample(t testing.TB, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestFilesOfEveryToolAreRead(t *testing.T) {
	icon := []Link{{"module-icon", "https://example.com/icon.svg"}}
	for name, c := range map[string]struct {
		file     string
		want     Config
		warnings []string
	}{
		"the old CLI's, with channel, state checks and a v in the version": {
			"old-cli.yaml",
			Config{
				Dialect: OldCLI, Name: "kyma-project.io/module/notes", Version: "1.2.3", Channel: "regular", Manifest: "manifest.yaml",
				DefaultCR: "default-cr.yaml", ResourceName: "notes-regular", Namespace: "kcp-system", Mandatory: true, Internal: true,
				SecurityScanEnabled: true,
				Labels:              map[string]string{"operator.kyma-project.io/purpose": "test"},
				Annotations:         map[string]string{"operator.kyma-project.io/doc-url": "https://example.com/docs"},
				CustomStateCheck:    []StateCheck{{"status.phase", "up", "Ready"}, {"status.broken", "true", "Error"}, {"status.empty", "", "Warning"}},
			},
			[]string{RuleIgnored, RuleIgnored, RuleVersion},
		},
		"modulectl's, with icons as a list": {
			"modulectl.yaml",
			Config{
				Dialect: Modulectl, Name: "kyma-project.io/module/notes", Version: "1.2.3", Manifest: "https://example.com/notes.yaml",
				DefaultCR: "https://example.com/default-cr.yaml", Repository: "https://example.com/notes", Documentation: "https://example.com/docs",
				Icons: icon, Resources: []Link{{"crds", "https://example.com/crds.yaml"}}, Team: "notes", SecurityScanEnabled: true,
				Labels: map[string]string{"one": "1"}, Annotations: map[string]string{"two": "yes"},
				Manager: &Manager{Kind{"apps", "v1", "Deployment"}, "notes-manager", "kyma-system"},
				AssociatedResources: []Kind{
					{"operator.kyma-project.io", "v1alpha1", "Note"}, {"operator.kyma-project.io", "v1alpha1", "Notebook"},
				},
				RequiresDowntime: true, Beta: true,
			},
			nil,
		},
		"modulectl's, with icons and resources as mappings and without a security scan": {
			"modulectl-maps.yaml",
			Config{
				Dialect: Modulectl, Name: "kyma-project.io/module/notes", Version: "1.2.3", Manifest: "manifest.yaml",
				Repository: "https://example.com/notes", Documentation: "https://example.com/docs", Icons: icon,
				Resources: []Link{{"rawManifest", "https://example.com/notes.yaml"}, {"some.crd", "https://example.com/crd.yaml"}},
			},
			nil,
		},
		"our own, with the fields of both and more": {
			"ours.yaml",
			Config{
				Dialect: Modulectl, Name: "kyma-project.io/module/notes", Version: "1.2.3-rc1", Manifest: "chart", Channel: "fast",
				Repository: "https://example.com/notes", Documentation: "https://example.com/docs", Icons: icon, Team: "notes",
				SecurityScanEnabled: true, Namespace: "kcp-system", Renderer: "helm-chart", Readiness: "Both",
				AllowCRDChanges:  []string{"EnumNarrowed", "FieldRemoved"},
				Images:           []string{"example.com/notes/worker:1.2.3"},
				CustomStateCheck: []StateCheck{{".status.phase", "up", "Ready"}, {".status.phase", "down", "Error"}},
				Values:           "values.yaml", TargetNamespace: "notes-system", RepositoryTag: "1.2.3-rc1",
				Requires: []requirements.Requirement{
					{Module: "istio", Version: ">=1.20 <2"}, {Definition: "gateways.gateway.networking.k8s.io", Served: "v1"}, {Kubernetes: "1.30"},
				},
			},
			[]string{RuleIgnored},
		},
	} {
		t.Run(name, func(t *testing.T) {
			config, findings := Parse(c.file, []byte(sample(t, c.file)))
			var warnings []string
			for _, f := range findings {
				if f.Severity == diagnostics.Error {
					t.Error(f)
				}
				warnings = append(warnings, f.Rule)
			}
			c.want.File = c.file
			if diff := cmp.Diff(&c.want, config, cmpopts.IgnoreUnexported(Config{})); diff != "" {
				t.Errorf("configuration (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(c.warnings, warnings, cmpopts.SortSlices(strings.Compare)); diff != "" {
				t.Errorf("warnings (-want +got):\n%s", diff)
			}
		})
	}
}

func TestParse_ReadsInlineValues(t *testing.T) {
	const values = "values:\n  port: \"80\" # a text\n  ratio: 0.5\n  keep: null\n"
	config, findings := Parse("module-config.yaml", []byte(strings.Replace(sample(t, "ours.yaml"), "values: values.yaml\n", values, 1)))
	if diagnostics.Failed(findings) {
		t.Fatal(findings)
	}
	const want = "port: \"80\" # a text\nratio: 0.5\nkeep: null\n"
	if config.Values != "" || string(config.InlineValues) != want {
		t.Errorf("values %q, inline %q", config.Values, config.InlineValues)
	}
}

func TestPositions(t *testing.T) {
	config, _ := Parse("module-config.yaml", []byte(sample(t, "modulectl.yaml")))
	for field, line := range map[string]int{
		"name": 2, "icons": 7, "icons[0]": 8, "icons[0].link": 9, "icons[0].size": 8, "manager.name": 15, "associatedResources[1].kind": 25,
		"nothing": 0, "": 0,
	} {
		if got, _ := config.Position(field); got != line {
			t.Errorf("%q stands in line %d, want %d", field, got, line)
		}
	}
	if name := config.ModuleName(); name != "notes" {
		t.Errorf("the module is called %q", name)
	}
}

// seeds returns the seed corpus of the fuzz test.
func seeds(t testing.TB) []string {
	t.Helper()
	texts := []string{
		"", "a", "- a", "null", "{", "name: &a [*a]", "<<: {name: a}", "? [a]\n: b", "name: !!binary aGk=", "icons: [{name: a}, {name: a}]",
		"labels: {a.b/c: d, '': e}\n---\nname: b", "icons: {a: http://u:p@h/x}", "\ufeffname: a", "name: a\nname: b", "version: 1.0",
		"customStateCheck: [{jsonPath: '{', value: 1, mappedState: x}]", "manager: {group: [], kind: {}}", "images: [~, 1, [2]]",
		"requires: [{module: a, version: '['}, ~, 1, {kubernetes: 1.30, served: v1}]",
	}
	for _, name := range []string{"old-cli.yaml", "modulectl.yaml", "modulectl-maps.yaml", "ours.yaml"} {
		texts = append(texts, sample(t, name))
	}
	return texts
}

// FuzzParse checks that no text makes the parser panic, that every finding has a place, a message and a fix, and that the same text gives
// the same result.
func FuzzParse(f *testing.F) {
	for _, text := range seeds(f) {
		f.Add([]byte(text))
	}
	known := map[string]bool{}
	for _, rule := range Rules() {
		known[rule.Name] = true
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		config, findings := Parse("fuzz.yaml", text)
		if config == nil {
			t.Fatal("no configuration")
		}
		lines := strings.Count(string(text), "\n") + strings.Count(string(text), "\r") + 2
		for _, found := range findings {
			if !known[found.Rule] || found.Message == "" || found.Fix == "" || found.File != "fuzz.yaml" || found.Severity == "" {
				t.Errorf("incomplete: %#v", found)
			}
			if found.Line < 0 || found.Line > lines+strings.Count(string(text), "\u2028")+strings.Count(string(text), "\u2029")+strings.Count(string(text), "\u0085") {
				t.Errorf("line %d of %d: %v", found.Line, lines, found)
			}
		}
		if !diagnostics.Failed(findings) && (config.Name == "" || config.Version == "" || config.Manifest == "") {
			t.Error("a configuration without name, version or manifest is accepted")
		}
		again, same := Parse("fuzz.yaml", text)
		if diff := cmp.Diff(findings, same); diff != "" {
			t.Errorf("the same text, other findings:\n%s", diff)
		}
		if diff := cmp.Diff(config, again, cmpopts.IgnoreUnexported(Config{})); diff != "" {
			t.Errorf("the same text, another configuration:\n%s", diff)
		}
	})
}
