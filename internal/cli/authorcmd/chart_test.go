package authorcmd_test

import (
	"strings"
	"testing"
)

// chart writes a module whose manifest is a chart that needs a value.
func chart(t *testing.T, dir, more string) {
	t.Helper()
	write(t, dir+"/module-config.yaml", "name: "+component+`
version: 0.1.0
manifest: chart
repository: https://example.com/notes
documentation: https://example.com/docs
team: notes
icons: {module-icon: https://example.com/icon.svg}
`+more)
	write(t, dir+"/values.yaml", "colour: violet\n")
	write(t, dir+"/chart/Chart.yaml", "apiVersion: v2\nname: notes\nversion: 0.1.0\n")
	write(t, dir+"/chart/templates/a.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: notes}\n"+
		"data: {colour: {{ required `say a colour` .Values.colour }}}\n")
}

func TestChart_AChartIsPublishedWithItsValues(t *testing.T) {
	s := open(t)
	_, address := registry(t)
	ref := address + "//" + component + ":0.1.0"
	chart(t, "notes", "")
	create := []string{"module", "create", "notes", "-r", address, "--no-git"}
	s.refused(1, "say a colour", create...)
	s.refused(1, "say a colour", "module", "build", "notes", "--no-git")

	chart(t, "notes", "values: values.yaml\ntargetNamespace: notes-system\n")
	if _, said := s.ok("module", "validate", "notes", "--strict"); said != "notes 0.1.0 is valid.\n" {
		t.Errorf("said %q", said)
	}
	s.ok(create...)
	const want = `configs:
- clientConfig:
    CreateNamespace: true
    Namespace: notes-system
  name: raw-manifest
  values:
    colour: violet
`
	if out, _ := s.ok("module", "inspect", ref, "--resource", "config"); out != want {
		t.Errorf("the lifecycle manager is told\n%s", out)
	}
	write(t, "config.yaml", "configs: [{name: notes, overrides: colour=grey}]\n")
	s.refused(64, "and resource config set values or targetNamespace", append(create, "--resource", "config=config.yaml")...)
}

func TestChart_AConfigOfOnesOwnCountsForTheRender(t *testing.T) {
	s := open(t)
	_, address := registry(t)
	chart(t, "notes", "")
	write(t, "config.yaml", "configs: [{name: notes, overrides: colour=grey}]\n")
	config := []string{"--no-git", "--resource", "config=config.yaml"}
	create := append([]string{"module", "create", "notes", "-r", address}, config...)
	if _, said := s.ok(create...); !strings.Contains(said, "a Kyma installs that into namespace default") {
		t.Errorf("nothing says where the ConfigMap goes: %q", said)
	}
	digest, _ := s.ok(append([]string{"module", "build", "notes"}, config...)...)
	if published, _ := s.ok(append(create, "--skip-validation")...); published != digest {
		t.Errorf("published %s, built %s", published, digest)
	}
	if out, _ := s.ok("module", "inspect", address+"//"+component+":0.1.0", "--resource", "config"); out != read(t, "config.yaml") {
		t.Errorf("another config:\n%s", out)
	}
	pour(t, "pipe.yaml", read(t, "config.yaml"))
	if piped, _ := s.ok("module", "build", "notes", "--no-git", "--resource", "config=pipe.yaml"); piped != digest {
		t.Errorf("published %s, and %s by a pipe", digest, piped)
	}
	write(t, "config.yaml", "configs: [{name: notes, overrides: colour}]\n")
	s.refused(64, "--resource config=config.yaml: resource config: overrides for notes", create...)
}

// A chart of one's own becomes a module in one step, which validates, packs and renders with the values that were asked for.
func TestInit_FromChart(t *testing.T) {
	s := open(t)
	write(t, "source/Chart.yaml", "apiVersion: v2\nname: notes\nversion: 1.2.3\nhome: https://example.com/notes\n"+
		"icon: https://example.com/icon.svg\n")
	write(t, "source/values.yaml", "colour: grey\nreplicas: 1\ncrds: {enabled: false}\n")
	write(t, "source/templates/a.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: {{ .Release.Name }}}\n"+
		"data: {colour: {{ .Values.colour }}}\n")
	write(t, "source/templates/b.yaml", `{{ if .Values.crds.enabled }}
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: notes.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {kind: Note, plural: notes}
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]
{{ end }}`)
	write(t, "values.yaml", "colour: red\nreplicas: 3\n")
	out, said := s.ok("module", "init", "--from-chart", "source", "--values", "values.yaml", "--set", "colour=violet,replicas=1")
	s.golden("init-chart.out", "", out)
	s.golden("init-chart.err", "", said)
	s.golden("init-chart.yaml", "", read(t, "notes/module-config.yaml"))
	if _, said := s.ok("module", "validate", "notes", "--strict"); said != "notes 1.2.3 is valid.\n" {
		t.Errorf("said %q", said)
	}
	s.ok("module", "build", "notes", "--no-git", "-o", "notes.tgz")
	out, _ = s.ok("module", "inspect", "notes.tgz", "--resource", "config")
	for _, want := range []string{"colour: violet", "enabled: true", "Namespace: notes-system"} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is not in what the lifecycle manager is told:\n%s", want, out)
		}
	}
	s.refused(1, "--overwrite", "module", "init", "--from-chart", "source")
	s.refused(1, "--from-chart to use it as it is", "module", "init", "--from-chart", "source", "--overwrite")
	s.refused(64, "--from-chart", "module", "init", "notes", "--values", "values.yaml")
	s.refused(64, "--from-chart", "module", "init", "notes", "--set", "colour=red")
	s.refused(64, "kyma module init DIR", "module", "init")
	s.refused(4, "there is no chart nowhere", "module", "init", "--from-chart", "nowhere")
}

// What a configuration must have is no matter of validation: each command that reads it says so.
func TestChart_AModuleThatCannotBeRead(t *testing.T) {
	s := open(t)
	_, address := registry(t)
	write(t, "notes/module-config.yaml", "name: "+component+"\nversion: 0.1.0\n")
	create := []string{"module", "create", "notes", "--no-git", "-r", address}
	s.refused(1, "fix the errors\n", create...)
	s.refused(1, "that cannot be passed over", append(create, "--skip-validation")...)
}
