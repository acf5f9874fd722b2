package communitycatalog

import (
	"bytes"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

func TestBuild_TheSameFolderGivesTheSameBytes(t *testing.T) {
	first := built(t, wholeFolder())
	for range 20 {
		again := fstest.MapFS{}
		names := slices.Collect(maps.Keys(wholeFolder())) // in random order
		for _, name := range names {
			again[name] = wholeFolder()[name]
			again[name].ModTime = time.Now()
		}
		if made := built(t, again); !bytes.Equal(made.YAML, first.YAML) || !bytes.Equal(made.JSON, first.JSON) {
			t.Fatal("the same folder gives other bytes")
		}
	}
}

func TestBuild_WhatABuildNotes(t *testing.T) {
	files := folderOf(notesFile, notes("1.0.0", "  annotations:\n", "  annotations:\n    source: https://old.example.com\n",
		"  name: notes-1.0.0", "  namespace: kyma-system\n  name: notes-1.0.0", "  descriptor: {}", "  descriptor: {}\n  futureField: {a: 1}"))
	made, err := Build(files, BuildOptions{
		Source: "https://example.com/all-modules.yaml", Updated: time.Date(2026, 1, 31, 1, 0, 0, 0, time.FixedZone("x", 3600)),
	})
	if err != nil {
		t.Fatal(err)
	}
	template := made.Collection.Templates[0]
	delete(template.Annotations, v1beta2.AnnotationRawManifestDigest)
	want := map[string]string{
		AnnotationSource: "https://example.com/all-modules.yaml", AnnotationUpdated: "2026-01-31T00:00:00Z",
		"operator.kyma-project.io/is-cluster-scoped": "false",
	}
	if diff := cmp.Diff(want, template.Annotations); diff != "" || template.Namespace != "" {
		t.Errorf("namespace %q, annotations %s", template.Namespace, diff)
	}
	if !bytes.Contains(made.YAML, []byte("futureField:\n    a: 1\n")) {
		t.Error("a field that is not known here was lost")
	}
}

func TestOrderOfACatalog(t *testing.T) {
	made := built(t, folderOf(
		"modules/notes/notes-1.10.0.yaml", notes("1.10.0"), "modules/notes/notes-1.9.0.yaml", notes("1.9.0"),
		"modules/beacon/beacon-1.0.0.yaml", notes("1.0.0", "name: notes-", "name: beacon-", "Name: notes", "Name: beacon"),
		"modules/notes/notes.yaml", replaced(release, "1.0.0", "1.9.0"),
	))
	var names []string
	for line := range strings.SplitSeq(string(made.YAML), "\n") {
		if name, is := strings.CutPrefix(line, "  name: "); is {
			names = append(names, name)
		}
	}
	if diff := cmp.Diff([]string{"beacon-1.0.0", "notes", "notes-1.9.0", "notes-1.10.0"}, names); diff != "" {
		t.Error(diff)
	}
	if got, want := strings.Count(string(made.YAML), "---\n"), 4; got != want {
		t.Errorf("%d documents, want %d", got, want)
	}
}

func TestBuild_WhatIsNotBuilt(t *testing.T) {
	for name, c := range map[string]struct {
		files   fstest.MapFS
		options BuildOptions
		want    string
	}{
		"no folder":               {folderOf("x", "y"), BuildOptions{}, "no folder modules"},
		"nothing in the folder":   {folderOf("modules/notes/README.md", "x"), BuildOptions{}, "no ModuleTemplate"},
		"a file that is no YAML":  {folderOf(notesFile, "a: ["), BuildOptions{}, notesFile},
		"a version twice":         {folderOf(notesFile, notes("1.0.0"), "modules/notes/x.yaml", notes("1.0.0", "name: notes-1.0.0", "name: x")), BuildOptions{}, "already"},
		"a source with a login":   {wholeFolder(), BuildOptions{Source: "https://me:secret@example.com/x"}, "login"},
		"a source without a home": {wholeFolder(), BuildOptions{Source: "cluster://here"}, "https://"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Build(c.files, c.options)
			if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "secret") {
				t.Errorf("%v, want %q in it", err, c.want)
			}
		})
	}
}
