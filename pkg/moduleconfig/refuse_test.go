package moduleconfig

import (
	"fmt"
	"strings"
	"testing"

	"github.com/kyma-project/lifecycle-manager/pkg/diagnostics"
)

// edit replaces a part of a sample once.
type edit struct{ old, new string }

// refusal is the expected finding: "line field rule", and a part of the message.
type refusal struct {
	file  string
	edits []edit
	want  string
	says  string
}

func TestRefuse_WhatIsWrongIsRefusedWithItsPlace(t *testing.T) {
	const ctl, old, maps, ours = "modulectl.yaml", "old-cli.yaml", "modulectl-maps.yaml", "ours.yaml"
	for name, c := range map[string]refusal{
		"a module without a name":                            {ctl, []edit{{"name: kyma-project.io/module/notes\n", ""}}, "0 name required", "missing"},
		"a module with an empty name":                        {ctl, []edit{{"name: kyma-project.io/module/notes", "name:"}}, "2 name required", "missing"},
		"a module without a version":                         {ctl, []edit{{"version: 1.2.3\n", ""}}, "0 version required", "missing"},
		"a module without a manifest":                        {ctl, []edit{{"manifest: https://example.com/notes.yaml\n", ""}}, "0 manifest required", "missing"},
		"a module without a repository":                      {ctl, []edit{{"repository: https://example.com/notes\n", ""}}, "0 repository required", "missing"},
		"a module without documentation":                     {ctl, []edit{{"documentation: https://example.com/docs\n", ""}}, "0 documentation required", "missing"},
		"a module without a team, although it is scanned":    {ctl, []edit{{"team: notes\n", ""}}, "0 team required", "securityScanEnabled"},
		"a module without icons":                             {ctl, []edit{{"icons:\n- name: module-icon\n  link: https://example.com/icon.svg\n", ""}}, "0 icons required", "at least one"},
		"an empty list of icons":                             {ctl, []edit{{"icons:\n- name: module-icon\n  link: https://example.com/icon.svg\n", "icons: []\n"}}, "7 icons required", "at least one"},
		"a file of the old CLI without a channel":            {old, []edit{{"channel: regular\n", ""}}, "0 channel required", "missing"},
		"an icon without a name":                             {ctl, []edit{{"- name: module-icon\n  link: https://example.com/i", "- link: https://example.com/i"}}, "8 icons[0].name required", "missing"},
		"an icon without a link":                             {ctl, []edit{{"\n  link: https://example.com/icon.svg", ""}}, "8 icons[0].link required", "missing"},
		"an icon with an empty link in a mapping":            {maps, []edit{{"module-icon: https://example.com/icon.svg", "module-icon:"}}, "7 icons.module-icon required", "missing"},
		"two icons of one name in a list":                    {ctl, []edit{{"icon.svg", "icon.svg\n- name: module-icon\n  link: https://example.com/b.svg"}}, "10 icons[1].name duplicate-name", "line 8"},
		"two icons of one name in a mapping":                 {maps, []edit{{"icon.svg", "icon.svg\n  module-icon: https://example.com/b.svg"}}, "8 icons.module-icon duplicate-key", "line 7"},
		"two resources of one name":                          {ctl, []edit{{"crds.yaml", "crds.yaml\n- name: crds\n  link: https://example.com/b"}}, "32 resources[1].name duplicate-name", "line 30"},
		"an icon with an unknown key":                        {ctl, []edit{{"icon.svg", "icon.svg\n  size: 3"}}, "10 icons[0].size unknown-key", "no meaning"},
		"icons that are a string":                            {ctl, []edit{{"icons:\n- name: module-icon\n  link: https://example.com/icon.svg", "icons: https://example.com/icon.svg"}}, "7 icons wrong-type", "a list of names"},
		"an icon that is a string":                           {ctl, []edit{{"- name: module-icon\n  link: https://example.com/icon.svg", "- https://example.com/icon.svg"}}, "8 icons[0] wrong-type", "a mapping"},
		"a repository without https":                         {ctl, []edit{{"https://example.com/notes\n", "http://example.com/notes\n"}}, "5 repository link", "without encryption"},
		"documentation without https":                        {ctl, []edit{{"https://example.com/docs", "ftp://example.com/docs"}}, "6 documentation link", "not an https link"},
		"documentation that is not a link":                   {ctl, []edit{{"https://example.com/docs", "docs/README.md"}}, "6 documentation link", "not an https link"},
		"an icon without https":                              {ctl, []edit{{"https://example.com/icon.svg", "http://example.com/icon.svg"}}, "9 icons[0].link link", "without encryption"},
		"an icon of a mapping without https":                 {maps, []edit{{"https://example.com/icon.svg", "http://example.com/icon.svg"}}, "7 icons.module-icon link", "without encryption"},
		"a resource without https":                           {ctl, []edit{{"https://example.com/crds.yaml", "http://example.com/crds.yaml"}}, "31 resources[0].link link", "without encryption"},
		"a manifest that is a link without https":            {ctl, []edit{{"https://example.com/notes.yaml", "http://example.com/notes.yaml"}}, "4 manifest link", "without encryption"},
		"a default CR that is a link without https":          {ctl, []edit{{"https://example.com/default", "http://example.com/default"}}, "10 defaultCR link", "without encryption"},
		"a manifest that is a file link":                     {ctl, []edit{{"https://example.com/notes.yaml", "file:///etc/passwd"}}, "4 manifest link", "not an https link"},
		"a link without a host":                              {ctl, []edit{{"https://example.com/docs", "https:///docs"}}, "6 documentation link", "without a host"},
		"a link that is none":                                {ctl, []edit{{"https://example.com/docs", "https://[::1/docs"}}, "6 documentation link", "not a valid link"},
		"a link with a login, which is not repeated":         {ctl, []edit{{"https://example.com/docs", "https://me:secret@example.com/docs"}}, "6 documentation link", "login"},
		"a manifest with an absolute path":                   {old, []edit{{"manifest: manifest.yaml", "manifest: /manifest.yaml"}}, "4 manifest path", "absolute"},
		"a default CR with an absolute path":                 {old, []edit{{"default-cr.yaml", "/default-cr.yaml"}}, "6 defaultCR path", "absolute"},
		"a manifest with an absolute path of Windows":        {old, []edit{{"manifest: manifest.yaml", `manifest: C:\manifest.yaml`}}, "4 manifest path", "absolute"},
		"a path with control characters":                     {old, []edit{{"manifest: manifest.yaml", `manifest: "a\0b"`}}, "4 manifest path", "control"},
		"a name without a path":                              {ctl, []edit{{"kyma-project.io/module/notes", "notes"}}, "2 name name", "not a valid component name"},
		"a name in upper case":                               {ctl, []edit{{"module/notes", "module/Notes"}}, "2 name name", "not a valid component name"},
		"a name whose last part is too short":                {ctl, []edit{{"module/notes", "module/no"}}, "2 name name", "3 to 63"},
		"a name whose last part is not a DNS label":          {ctl, []edit{{"module/notes", "module/my_notes"}}, "2 name name", "DNS label"},
		"a version with a v":                                 {ctl, []edit{{"1.2.3", "v1.2.3"}}, "3 version version", "not a semantic version"},
		"a version without a patch":                          {ctl, []edit{{"1.2.3", "1.2"}}, "3 version version", "not a semantic version"},
		"a version with leading zeros":                       {ctl, []edit{{"1.2.3", "1.02.3"}}, "3 version version", "not a semantic version"},
		"a version of the old CLI that is invalid without v": {old, []edit{{"v1.2.3", "vv1.2.3"}}, "2 version version", "not a semantic version"},
		"a channel with a digit":                             {old, []edit{{"regular", "regular1"}}, "3 channel channel", "not a valid channel"},
		"a channel of two letters":                           {old, []edit{{"channel: regular", "channel: ab"}}, "3 channel channel", "not a valid channel"},
		"a namespace in upper case":                          {old, []edit{{"kcp-system", "KCP"}}, "8 namespace namespace", "not a valid namespace"},
		"an invalid resource name":                           {old, []edit{{"notes-regular", "Notes_Regular"}}, "7 resourceName name", "not a valid object name"},
		"a key that no one knows":                            {ctl, []edit{{"team: notes", "squad: notes\nteam: notes"}}, "11 squad unknown-key", "no meaning"},
		"a key that is misspelt":                             {ctl, []edit{{"defaultCR:", "default-cr:"}}, "10 default-cr unknown-key", "defaultCR"},
		"a duplicate key":                                    {ctl, []edit{{"team: notes", "team: notes\nname: kyma-project.io/module/other"}}, "12 name duplicate-key", "line 2"},
		"a merge key":                                        {ctl, []edit{{"team: notes", "team: notes\n<<: {beta: true}"}}, "12 << unknown-key", "no meaning"},
		"a manager without a name":                           {ctl, []edit{{"  name: notes-manager\n", ""}}, "15 manager.name required", "missing"},
		"a manager without a kind":                           {ctl, []edit{{"  kind: Deployment\n", ""}}, "15 manager.kind required", "missing"},
		"a manager with a version that has its group":        {ctl, []edit{{"version: v1\n", "version: apps/v1\n"}}, "18 manager.version kind", "not a valid version"},
		"an associated resource without a group":             {ctl, []edit{{"{group: operator.kyma-project.io, ", "{"}}, "21 associatedResources[0].group required", "missing"},
		"an associated resource in the plural":               {ctl, []edit{{"kind: Notebook", "kind: notebooks"}}, "25 associatedResources[1].kind kind", "not a valid kind"},
		"an invalid boolean":                                 {ctl, []edit{{"internal: false", "internal: maybe"}}, "28 internal wrong-type", "true or false"},
		"a name that is a list":                              {ctl, []edit{{"name: kyma-project.io/module/notes", "name: [a]"}}, "2 name wrong-type", "a list"},
		"an invalid label value":                             {ctl, []edit{{"{one: 1}", "{one: a b}"}}, "12 labels.one metadata", "not a valid label value"},
		"an invalid label name":                              {ctl, []edit{{"{one: 1}", "{one/two/three: a}"}}, `12 labels["one/two/three"] metadata`, "not a valid label name"},
		"an invalid annotation name":                         {ctl, []edit{{"{two: yes}", "{t wo: yes}"}}, `13 annotations["t wo"] metadata`, "not a valid annotation name"},
		"state checks without one for Error":                 {old, []edit{{"mappedState: Error", "mappedState: Deleting"}}, "16 customStateCheck state-check", "Error"},
		"state checks without one for Ready":                 {old, []edit{{"mappedState: Ready", "mappedState: Processing"}}, "16 customStateCheck state-check", "Ready"},
		"a state that does not exist":                        {old, []edit{{"mappedState: Warning", "mappedState: Fine"}}, "25 customStateCheck[2].mappedState state-check", "not a module state"},
		"a state check without a path":                       {old, []edit{{"jsonPath: status.empty", "jsonPath:"}}, "23 customStateCheck[2].jsonPath required", "missing"},
		"a state check without a value":                      {old, []edit{{"  value: up\n", ""}}, "17 customStateCheck[0].value required", "missing"},
		"a state check with an invalid path":                 {old, []edit{{"status.phase", "status..phase"}}, "17 customStateCheck[0].jsonPath state-check", ".."},
		"an unknown renderer":                                {ours, []edit{{"helm-chart", "helm"}}, "6 renderer choice", "helm-chart, kustomize, bundle"},
		"an unknown readiness":                               {ours, []edit{{"Both", "Bath"}}, "7 readiness choice", "Both"},
		"an unknown rule of CRD safety":                      {ours, []edit{{"FieldRemoved", "FieldsRemoved"}}, "12 allowCRDChanges[1] choice", "FieldRemoved"},
		"values with an absolute path":                       {ours, []edit{{"values: values", "values: /values"}}, "18 values path", "absolute"},
		"values that are a list":                             {ours, []edit{{"values: values.yaml", "values: [a]"}}, "18 values wrong-type", "write a text"},
		"a target namespace in upper case":                   {ours, []edit{{"notes-system", "Notes"}}, "19 targetNamespace namespace", "not a valid namespace"},
		"requirements that are a mapping":                    {ours, []edit{{"requires:\n- {module: istio, version: \">=1.20 <2\"}\n- definition: gateways.gateway.networking.k8s.io\n  served: v1\n- kubernetes: 1.30", "requires: {module: istio}"}}, "21 requires wrong-type", "a list"},
		"a required module with a range that is none":        {ours, []edit{{">=1.20 <2", ">=one"}}, "22 requires[0].version requires", "no range of versions"},
		"a requirement of two kinds":                         {ours, []edit{{"- kubernetes: 1.30", "- kubernetes: 1.30\n  module: serverless"}}, "25 requires[2] requires", "set one of module, definition and kubernetes"},
		"a served version of a module":                       {ours, []edit{{"version: \">=1.20 <2\"", "served: v1"}}, "22 requires[0].served requires", "served goes with definition"},
		"a definition without its group":                     {ours, []edit{{"gateways.gateway.networking.k8s.io", "gateways"}}, "23 requires[1].definition requires", "no name of a CustomResourceDefinition"},
		"an unknown key of a requirement":                    {ours, []edit{{"module: istio,", "modul: istio, module: istio,"}}, "22 requires[0].modul unknown-key", "did you mean module?"},
		"a module that requires itself":                      {ours, []edit{{"module: istio", "module: notes"}}, "22 requires[0].module requires", "is the module itself"},
		"a range of earlier versions that is none":           {ours, []edit{{"requires:\n", "rollbackTo: \">=one\"\nrequires:\n"}}, "21 rollbackTo rollback-to", "no range of versions"},
		"a requirement that is there twice":                  {ours, []edit{{"- kubernetes: 1.30", "- kubernetes: 1.30\n- kubernetes: \"1.30\""}}, "26 requires[3] requires", "the same as in line 25"},
		"a list in the annotation that is none":              {ctl, []edit{{"{two: yes}", "{operator.kyma-project.io/requires: istio}"}}, `13 annotations["operator.kyma-project.io/requires"] requires`, "no list"},
		"images that are a string":                           {ours, []edit{{"images:\n- ", "images: "}}, "13 images wrong-type", "a list"},
	} {
		t.Run(name, func(t *testing.T) {
			text := sample(t, c.file)
			for _, e := range c.edits {
				if !strings.Contains(text, e.old) {
					t.Fatalf("%s does not contain %q", c.file, e.old)
				}
				text = strings.Replace(text, e.old, e.new, 1)
			}
			expect(t, text, c.want, c.says)
		})
	}
}

// expect requires exactly one error: "line field rule", and a part of its message or fix.
func expect(t *testing.T, text, want, says string) {
	t.Helper()
	_, findings := Parse("module-config.yaml", []byte(text))
	var errors []diagnostics.Finding
	for _, f := range findings {
		if f.Severity == diagnostics.Error {
			errors = append(errors, f)
		}
	}
	if len(errors) != 1 {
		t.Fatalf("%d errors, want %q: %v", len(errors), want, errors)
	}
	f := errors[0]
	if got := fmt.Sprintf("%d %s %s", f.Line, f.Field, f.Rule); got != want {
		t.Errorf("got %q, want %q: %v", got, want, f)
	}
	if !strings.Contains(f.Message+"; "+f.Fix, says) {
		t.Errorf("no one says %q: %v", says, f)
	}
	if f.File != "module-config.yaml" || f.Fix == "" || strings.Contains(f.String(), "secret") {
		t.Errorf("file or fix are missing, or something is told that is secret: %v", f)
	}
}

func TestRefuse_WhatIsNoConfigurationIsRefused(t *testing.T) {
	for name, c := range map[string]struct{ text, want, says string }{
		"an empty file":                      {"", "0  syntax", "empty"},
		"only comments":                      {"# nothing\n", "0  syntax", "empty"},
		"a file with null":                   {"null\n", "0  syntax", "empty"},
		"a file that is no YAML":             {"name: a\n b: [\n", "2  syntax", "not valid YAML"},
		"a list":                             {"- name: a\n", "1  wrong-type", "a mapping"},
		"two documents":                      {sample(t, "ours.yaml") + "---\nname: b\n", "26  syntax", "second document"},
		"a second document that is not YAML": {sample(t, "ours.yaml") + "---\na: [\n", "27  syntax", "not valid YAML"},
		"a file that is too long":            {strings.Repeat("#", maxBytes+1), "0  syntax", "more than"},
		"an alias of a mapping":              {sample(t, "ours.yaml") + "labels: &l {a: b}\nannotations: *l\n", "27 annotations wrong-type", "alias"},
	} {
		t.Run(name, func(t *testing.T) { expect(t, c.text, c.want, c.says) })
	}
}

func TestRefuse_WhatATemplateDoesNotTakeIsAWarning(t *testing.T) {
	for name, c := range map[string]edit{
		"a version with build metadata":              {"1.2.3", "1.2.3+5"},
		"a version with a dotted prerelease":         {"1.2.3", "1.2.3-rc.1"},
		"a version of more than 32 characters":       {"1.2.3", "1.2.3-a" + strings.Repeat("b", 30)},
		"a name with a digit":                        {"module/notes", "module/notes2"},
		"a name with a part of fewer than 3 letters": {"module/notes", "module/my-notes"},
		"an old name with dots before it":            {"kyma-project.io/module/notes", "kyma-project.io/mod.ule/no-tes"},
		"an alias of a single value is accepted too": {"version: 1.2.3\nmanifest", "version: &v 1.2.3+5\nlabels: {v: *v}\nmanifest"},
	} {
		t.Run(name, func(t *testing.T) {
			text := strings.Replace(sample(t, "modulectl.yaml"), "labels: {one: 1}\n", "", 1)
			_, findings := Parse("a", []byte(strings.Replace(text, c.old, c.new, 1)))
			for _, f := range findings {
				if f.Rule == RuleTemplate && f.Severity == diagnostics.Warning {
					return
				}
			}
			t.Errorf("no warning: %v", findings)
		})
	}
}
