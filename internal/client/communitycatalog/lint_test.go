package communitycatalog

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/pkg/diagnostics"
	"github.com/kyma-project/lifecycle-manager/pkg/modulelint"
)

// links returns the targets of the links in notes.
func links(_ context.Context, link string) ([]byte, error) {
	for _, version := range []string{"1.0.0", "1.1.0"} {
		if link == "https://example.com/notes/"+version+"/notes.yaml" {
			return []byte(manifestOf(version)), nil
		}
	}
	return nil, errors.New("404 Not Found")
}

func TestLint_AGoodCatalogHasNoFindings(t *testing.T) {
	if found := Lint(t.Context(), wholeFolder(), Options{Content: links}); len(found) > 0 {
		t.Errorf("%v", found)
	}
	if found := Check(t.Context(), built(t, wholeFolder()).Collection, Options{Content: links}); len(found) > 0 {
		t.Errorf("what was published: %v", found)
	}
}

// ruling is a case of a rule: one template that differs from a valid one, or a folder.
type ruling struct {
	change   []string
	files    fstest.MapFS
	rule     string
	severity diagnostics.Severity
	file     string
	field    string
	says     string
}

const notesFile = "modules/notes/notes-1.0.0.yaml"

func rulings() map[string]ruling {
	const annotation = "    operator.kyma-project.io/raw-manifest-digest: "
	good := digestOf([]byte(manifestOf("1.0.0")))
	label := "    operator.kyma-project.io/module-name: notes\n"
	return map[string]ruling{
		"there is no folder modules":                {files: folderOf("README.md", "x"), rule: RuleLayout, file: Root, says: "no folder modules"},
		"a file beside the folders of modules":      {files: folderOf("modules/x.yaml", notes("1.0.0")), rule: RuleLayout, file: "modules/x.yaml"},
		"a file of another kind":                    {files: folderOf("modules/notes/run.sh", "x"), rule: RuleLayout, file: "modules/notes/run.sh"},
		"a file that is no YAML":                    {files: folderOf(notesFile, "a: ["), rule: RuleReadable, says: "line"},
		"two objects in a file":                     {files: folderOf(notesFile, notes("1.0.0")+"---\n"+notes("1.1.0")), rule: RuleReadable, says: "2 objects"},
		"another kind in a file":                    {files: folderOf(notesFile, "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\n"), rule: RuleReadable, says: "kind"},
		"no module":                                 {change: []string{"  moduleName: notes\n", ""}, rule: RuleRequired, field: "spec.moduleName"},
		"no version":                                {change: []string{"  version: 1.0.0\n", ""}, rule: RuleRequired, field: "spec.version"},
		"no link to the objects":                    {change: []string{"name: rawManifest", "name: other"}, rule: RuleRequired, field: "spec.resources"},
		"an empty link":                             {change: []string{"https://example.com/notes/1.0.0/notes.yaml", `""`}, rule: RuleRequired, field: "spec.resources"},
		"a module's name that is not accepted":      {change: []string{"moduleName: notes", "moduleName: n1"}, rule: RuleName, field: "spec.moduleName"},
		"a template with another name":              {change: []string{"name: notes-1.0.0", "name: notes"}, rule: RuleName, field: "metadata.name"},
		"a namespace":                               {change: []string{"  name: notes-1.0.0", "  namespace: x\n  name: notes-1.0.0"}, rule: RuleName, severity: diagnostics.Warning, field: "metadata.namespace"},
		"a version with a v":                        {change: []string{"version: 1.0.0", "version: v1.0.0"}, rule: RuleVersion, field: "spec.version"},
		"a version that is not accepted":            {change: []string{"version: 1.0.0", "version: 1.0.0-rc.1"}, rule: RuleVersion, field: "spec.version"},
		"a file that is called otherwise":           {files: folderOf("modules/notes/notes-1.0.1.yaml", notes("1.0.0")), rule: RuleFileName, file: "modules/notes/notes-1.0.1.yaml", says: "notes-1.0.0.yaml"},
		"a folder with another name":                {files: folderOf("modules/note/notes-1.0.0.yaml", notes("1.0.0")), rule: RuleFileName, file: "modules/note/notes-1.0.0.yaml", says: "folder"},
		"a version twice":                           {files: folderOf(notesFile, notes("1.0.0"), "modules/notes/other.yaml", notes("1.0.0")), rule: RuleDuplicate, file: "modules/notes/other.yaml", says: notesFile},
		"a field that there is not":                 {change: []string{"  moduleName:", "  modulName: x\n  moduleName:"}, rule: RuleUnknownField, severity: diagnostics.Warning, says: "spec.modulName"},
		"a link without encryption":                 {change: []string{"https://example.com/notes/1.0.0", "http://example.com/notes/1.0.0"}, rule: RuleLink, field: "spec.resources[0].link", says: "encryption"},
		"a link with a login":                       {change: []string{"https://example.com/notes/docs", "https://me:secret@example.com"}, rule: RuleLink, field: "spec.info.documentation", says: "login"},
		"a script as a link":                        {change: []string{"https://example.com/notes/icon.svg", "javascript:alert(1)"}, rule: RuleLink, field: "spec.info.icons[0].link"},
		"a link without a host":                     {change: []string{"repository: https://example.com/notes", "repository: https:notes"}, rule: RuleLink, field: "spec.info.repository"},
		"a branch":                                  {change: []string{"notes/1.0.0/notes.yaml", "notes/main/notes.yaml"}, rule: RuleMovingLink, severity: diagnostics.Warning, field: "spec.resources[0].link"},
		"the latest release":                        {change: []string{"notes/1.0.0/notes.yaml", "notes/releases/latest/download/notes.yaml"}, rule: RuleMovingLink, severity: diagnostics.Warning, field: "spec.resources[0].link"},
		"no digest":                                 {change: []string{annotation + good + "\n", ""}, rule: RuleDigest, severity: diagnostics.Warning, field: "metadata.annotations"},
		"a digest that is none":                     {change: []string{good, "abc"}, rule: RuleDigest, field: "metadata.annotations[" + v1beta2.AnnotationRawManifestDigest + "]"},
		"an annotation without a digest":            {change: []string{good, `""`}, rule: RuleDigest, field: "metadata.annotations[" + v1beta2.AnnotationRawManifestDigest + "]"},
		"another digest than that of the content":   {change: []string{good, digestOf(nil)}, rule: RuleDigest, field: "spec.resources[0].link", says: good},
		"a link that leads nowhere":                 {change: []string{"notes/1.0.0/notes.yaml", "notes/2.0.0/notes.yaml"}, rule: RuleContent, field: "spec.resources[0].link", says: "404"},
		"a default resource without a name":         {change: []string{"      name: default\n", ""}, rule: RuleDefault, field: "spec.data.metadata.name"},
		"a default resource of Kubernetes' own":     {change: []string{"apiVersion: example.com/v1\n", "apiVersion: v1\n"}, rule: RuleDefault, field: "spec.data.apiVersion"},
		"a default resource with a status":          {change: []string{"      text: hello", "      text: hello\n    status: {state: Ready}"}, rule: RuleDefault, severity: diagnostics.Warning, field: "spec.data.status"},
		"an invalid scope":                          {change: []string{`scoped: "false"`, `scoped: "perhaps"`}, rule: RuleScope},
		"a scope and a namespace":                   {change: []string{`scoped: "false"`, `scoped: "true"`}, rule: RuleScope, says: "no namespace"},
		"a scope other than the definition's":       {change: []string{`scoped: "false"`, `scoped: "true"`, "      namespace: notes-system\n", ""}, rule: RuleScope, says: "definition of Note"},
		"no operator":                               {change: []string{"  manager:\n    group: apps\n    version: v1\n    kind: Deployment\n    namespace: notes-system\n    name: notes\n", ""}, rule: RuleOperator, severity: diagnostics.Warning, field: "spec.manager"},
		"no kinds that users make":                  {change: []string{"  associatedResources:\n  - group: example.com\n    version: v1\n    kind: Note\n", ""}, rule: RuleKinds, severity: diagnostics.Warning},
		"no icon":                                   {change: []string{"    icons:\n    - name: module-icon\n      link: https://example.com/notes/icon.svg\n", ""}, rule: RuleIcon, severity: diagnostics.Warning},
		"another module's icon":                     {files: folderOf("modules/beacon/beacon-1.0.0.yaml", notes("1.0.0", "name: notes", "name: beacon", "Name: notes", "Name: beacon"), notesFile, notes("1.0.0")), rule: RuleIcon, severity: diagnostics.Warning, says: "module beacon"},
		"no texts at all":                           {change: []string{"  info:\n    repository: https://example.com/notes\n    documentation: https://example.com/notes/docs\n    icons:\n    - name: module-icon\n      link: https://example.com/notes/icon.svg\n", ""}, rule: RuleDocumentation, severity: diagnostics.Warning, field: "spec.info"},
		"no documentation":                          {change: []string{"documentation: https://example.com/notes/docs", `documentation: ""`}, rule: RuleDocumentation, severity: diagnostics.Warning},
		"no source code":                            {change: []string{"repository: https://example.com/notes\n", "repository: \"\"\n"}, rule: RuleDocumentation, severity: diagnostics.Warning},
		"a label with another module":               {change: []string{label, "    operator.kyma-project.io/module-name: beacon\n"}, rule: RuleLabel, severity: diagnostics.Warning},
		"a label that claims it for the operator":   {change: []string{label, label + "    operator.kyma-project.io/managed-by: kyma\n"}, rule: RuleLabel},
		"an annotation of a build":                  {change: []string{annotation, "    source: x\n" + annotation}, rule: RuleLabel, severity: diagnostics.Warning, says: "built"},
		"a mandatory module":                        {change: []string{"  descriptor: {}", "  mandatory: true"}, rule: RuleDeprecated},
		"a channel in a template":                   {change: []string{"  descriptor: {}", "  channel: regular"}, rule: RuleDeprecated, severity: diagnostics.Warning},
		"a channel without a template":              {files: folderOf(notesFile, notes("1.0.0"), "modules/notes/notes.yaml", replaced(release, "version: 1.0.0", "version: 2.0.0")), rule: RuleRelease, file: "modules/notes/notes.yaml", field: "spec.channels[0].version"},
		"a release in a file with another name":     {files: folderOf(notesFile, notes("1.0.0"), "modules/notes/release.yaml", release), rule: RuleFileName, file: "modules/notes/release.yaml"},
		"kinds that the objects do not define":      {change: []string{"    version: v1\n    kind: Note\n  resources", "    version: v1\n    kind: Page\n  resources"}, rule: modulelint.RuleAssociated, severity: diagnostics.Warning, field: "spec.associatedResources[0]"},
		"an operator that is not among the objects": {change: []string{"    name: notes\n  assoc", "    name: other\n  assoc"}, rule: modulelint.RuleManager},
		"a default resource that is invalid":        {change: []string{"text: hello", "text: 1"}, rule: modulelint.RuleDefaultCR, field: "spec.data.spec.text"},
		"a default resource without a definition":   {change: []string{"    kind: Note\n    metadata", "    kind: Page\n    metadata"}, rule: modulelint.RuleDefaultCRKind},
	}
}

func TestRules(t *testing.T) {
	for name, c := range rulings() {
		t.Run(name, func(t *testing.T) {
			files := c.files
			if files == nil {
				files = folderOf(notesFile, notes("1.0.0", c.change...))
			}
			if c.file == "" {
				c.file = notesFile
			}
			if c.severity == "" {
				c.severity = diagnostics.Error
			}
			found := Lint(t.Context(), files, Options{Content: links})
			fits := func(f diagnostics.Finding) bool {
				return f.Rule == c.rule && f.Severity == c.severity && f.File == c.file && strings.HasPrefix(f.Field, c.field) &&
					strings.Contains(f.Message, c.says)
			}
			i := slices.IndexFunc(found, fits)
			if i < 0 {
				t.Fatalf("no one says %s of %s %s (%s); found are %v", c.rule, c.file, c.field, c.says, found)
			}
			if found[i].Fix == "" {
				t.Errorf("%s does not say what to do", found[i])
			}
			if strings.Contains(found[i].Message+found[i].Fix, "secret") {
				t.Errorf("%s repeats a password", found[i])
			}
			if onlyThis := Lint(t.Context(), files, Options{Content: links, Rules: []string{c.rule}}); slices.ContainsFunc(onlyThis,
				func(f diagnostics.Finding) bool { return f.Rule != c.rule }) || !slices.ContainsFunc(onlyThis, fits) {
				t.Errorf("with this rule alone: %v", onlyThis)
			}
		})
	}
}

func TestLint_EveryRuleIsTried(t *testing.T) {
	tried := map[string]bool{}
	for _, c := range rulings() {
		tried[c.rule] = true
	}
	of := modulelint.Rules()
	for _, rule := range Rules() {
		theirs := slices.ContainsFunc(of, func(r diagnostics.Rule) bool { return r.Name == rule.Name })
		if !tried[rule.Name] && !theirs {
			t.Errorf("no case breaks rule %s", rule.Name)
		}
		if !strings.HasSuffix(rule.Text, ".") {
			t.Errorf("rule %s: %q is no sentence", rule.Name, rule.Text)
		}
	}
}

func TestFindingsSayWhere(t *testing.T) {
	found := Lint(t.Context(), folderOf(notesFile, notes("1.0.0", "version: 1.0.0", "version: v1.0.0")), Options{Rules: []string{RuleVersion}})
	if len(found) != 1 || found[0].Line != 12 || found[0].Column != 3 {
		t.Errorf("%v, want line 12 and column 3", found)
	}
}

func TestImagesOfTheDefaultResource(t *testing.T) {
	for text, want := range map[string]bool{
		"image: example.com:5000/a:latest": true, "image: a:main": true, "webImage: example.com/a:latest": true, "image: example.com:5000/a": false,
		"image: a:1.0.0": false, "image: a:latest@" + digestOf(nil): false, "text: a:latest": false, "list: [{image: a:latest}]": true,
	} {
		found := Lint(t.Context(), folderOf(notesFile, notes("1.0.0", "text: hello", text)), Options{Rules: []string{modulelint.RuleImage}})
		if (len(found) > 0) != want {
			t.Errorf("%s: %v", text, found)
		}
	}
}

func TestImagesThatNameNoVersion(t *testing.T) {
	latest := func(context.Context, string) ([]byte, error) {
		return []byte(manifestOf("1.0.0", "notes:1.0.0", "notes:latest")), nil
	}
	found := Lint(t.Context(), folderOf(notesFile, notes("1.0.0")), Options{Content: latest, Rules: []string{modulelint.RuleImage}})
	if len(found) != 1 || !strings.Contains(found[0].Message, "latest") || found[0].Field != "spec.resources[0].link" {
		t.Errorf("%v", found)
	}
}

func TestHostileContentIsAFinding(t *testing.T) {
	for name, text := range map[string]string{
		"HTML": "<html>\n<body>", "nothing": "", "binary": "\xff\xfe", "an alias bomb": "a: &a [x,x]\nb: &b [*a,*a]\nc: [*b,*b]",
	} {
		serves := func(context.Context, string) ([]byte, error) { return []byte(text), nil }
		found := Lint(t.Context(), folderOf(notesFile, notes("1.0.0")), Options{Content: serves})
		if !diagnostics.Failed(found) {
			t.Errorf("%s: %v", name, found)
		}
	}
}

func TestLinksThatPointOutOfTheFolder(t *testing.T) {
	files := fstest.MapFS{notesFile: &fstest.MapFile{Data: []byte("/etc/passwd"), Mode: fs.ModeSymlink | 0o777}}
	found := Lint(t.Context(), files, Options{})
	if len(found) != 1 || found[0].Rule != RuleLayout {
		t.Errorf("%v, want a finding of rule layout", found)
	}
}
