package communitycatalog

import (
	"strings"
	"testing"
	"testing/fstest"
)

// notes returns a template without any finding; change replaces parts of it, one after the other.
func notes(version string, change ...string) string {
	text := `apiVersion: operator.kyma-project.io/v1beta2
kind: ModuleTemplate
metadata:
  name: notes-VERSION
  labels:
    operator.kyma-project.io/module-name: notes
  annotations:
    operator.kyma-project.io/is-cluster-scoped: "false"
    operator.kyma-project.io/raw-manifest-digest: DIGEST
spec:
  moduleName: notes
  version: VERSION
  descriptor: {}
  info:
    repository: https://example.com/notes
    documentation: https://example.com/notes/docs
    icons:
    - name: module-icon
      link: https://example.com/notes/icon.svg
  manager:
    group: apps
    version: v1
    kind: Deployment
    namespace: notes-system
    name: notes
  associatedResources:
  - group: example.com
    version: v1
    kind: Note
  resources:
  - name: rawManifest
    link: https://example.com/notes/VERSION/notes.yaml
  data:
    apiVersion: example.com/v1
    kind: Note
    metadata:
      name: default
      namespace: notes-system
    spec:
      text: hello
`
	text = strings.ReplaceAll(text, "VERSION", version)
	text = strings.ReplaceAll(text, "DIGEST", digestOf([]byte(manifestOf(version))))
	return replaced(text, change...)
}

func replaced(text string, change ...string) string {
	for i := 0; i+1 < len(change); i += 2 {
		if !strings.Contains(text, change[i]) {
			panic("there is no " + change[i])
		}
		text = strings.ReplaceAll(text, change[i], change[i+1])
	}
	return text
}

// manifestOf returns the target of the link in notes.
func manifestOf(version string, change ...string) string {
	return replaced(`apiVersion: v1
kind: Namespace
metadata: {name: notes-system}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: notes.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {kind: Note, listKind: NoteList, plural: notes, singular: note}
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}}
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties:
              text: {type: string}
          status:
            type: object
            properties:
              state: {type: string, enum: [Ready, Processing, Error, Warning, Deleting]}
---
apiVersion: apps/v1
kind: Deployment
metadata: {namespace: notes-system, name: notes}
spec:
  selector: {matchLabels: {app: notes}}
  template:
    metadata: {labels: {app: notes}}
    spec:
      containers:
      - name: manager
        image: example.com/notes:`+version+"\n", change...)
}

// folderOf returns a folder with some files.
func folderOf(files ...string) fstest.MapFS {
	made := fstest.MapFS{}
	for i := 0; i+1 < len(files); i += 2 {
		made[files[i]] = &fstest.MapFile{Data: []byte(files[i+1])}
	}
	return made
}

const release = `apiVersion: operator.kyma-project.io/v1beta2
kind: ModuleReleaseMeta
metadata: {name: notes}
spec:
  moduleName: notes
  ocmComponentName: example.com/module/notes
  channels:
  - {channel: regular, version: 1.0.0}
`

// wholeFolder returns a folder with two versions and a release.
func wholeFolder() fstest.MapFS {
	return folderOf("modules/notes/notes-1.0.0.yaml", notes("1.0.0"), "modules/notes/notes-1.1.0.yaml", notes("1.1.0"),
		"modules/notes/notes.yaml", release, "modules/notes/README.md", "# Notes\n", "README.md", "# Catalog\n")
}

func built(t testing.TB, files fstest.MapFS) Built {
	t.Helper()
	made, err := Build(files, BuildOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return made
}
