package render

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kyma-project/lifecycle-manager/pkg/content"
	"github.com/kyma-project/lifecycle-manager/pkg/render/internal/rendertest"
)

func TestBundle(t *testing.T) {
	for name, test := range map[string]struct {
		tree *content.Tree
		want [][]string
	}{
		"files without numbers are one step, in the order of their names": {
			rendertest.Content("manifests/b.yaml", rendertest.Config("b"), "manifests/a.yaml", rendertest.Config("a")), [][]string{{"ConfigMap a", "ConfigMap b"}},
		},
		"a file may hold several documents": {
			rendertest.Content("manifests/a.yaml", rendertest.Config("z")+"---\n"+rendertest.Config("a")), [][]string{{"ConfigMap z", "ConfigMap a"}},
		},
		"numbers give the steps and the rest comes last": {
			rendertest.Content("manifests/a.yaml", rendertest.Config("rest"), "manifests/10_a.yaml", rendertest.Config("ten"), "manifests/9_z.yaml", rendertest.Config("nine"),
				"manifests/00_a.yaml", rendertest.Config("zero")),
			[][]string{{"ConfigMap zero"}, {"ConfigMap nine"}, {"ConfigMap ten"}, {"ConfigMap rest"}},
		},
		"equal numbers are one step, however they are written": {
			rendertest.Content("manifests/1_b.yaml", rendertest.Config("b"), "manifests/001_a.yaml", rendertest.Config("a"), "manifests/2_c.yaml", rendertest.Config("c")),
			[][]string{{"ConfigMap a", "ConfigMap b"}, {"ConfigMap c"}},
		},
		"numbers may be as long as they like": {
			rendertest.Content("manifests/99999999999999999999999_a.yaml", rendertest.Config("b"), "manifests/0100000000000000000000000_a.yaml", rendertest.Config("c"),
				"manifests/3_a.yaml", rendertest.Config("a")),
			[][]string{{"ConfigMap a"}, {"ConfigMap b"}, {"ConfigMap c"}},
		},
		"a number needs its underscore": {
			rendertest.Content("manifests/1-a.yaml", rendertest.Config("a"), "manifests/2_b.yaml", rendertest.Config("b"), "manifests/x3_c.yaml", rendertest.Config("c")),
			[][]string{{"ConfigMap b"}, {"ConfigMap a", "ConfigMap c"}},
		},
		"a step without objects is none": {
			rendertest.Content("manifests/1_a.yaml", "# nothing\n", "manifests/2_b.yaml", rendertest.Config("b")), [][]string{{"ConfigMap b"}},
		},
		"files beside the folder do not count": {
			rendertest.Content("README.md", "hello", "metadata/annotations.yaml", "{", "manifests/a.yaml", rendertest.Config("a"), "manifests.yaml", rendertest.Config("b")),
			[][]string{{"ConfigMap a"}},
		},
		"JSON is accepted, whatever the name": {
			rendertest.Content("manifests/a.txt", rendertest.JSONConfig("a")+rendertest.JSONConfig("b")), [][]string{{"ConfigMap a", "ConfigMap b"}},
		},
		"files of macOS do not count": {rendertest.Content("manifests/._a.yaml", "\x00", "manifests/a.yaml", rendertest.Config("a")), [][]string{{"ConfigMap a"}}},
		"a definition and its objects": {
			rendertest.Content("manifests/a.yaml", "apiVersion: a.io/v1\nkind: A\nmetadata: {name: a}\n", "manifests/b.yaml", rendertest.Definition("a.io", "A", "Cluster")),
			[][]string{{"A.a.io a", "CustomResourceDefinition.apiextensions.k8s.io as.a.io"}},
		},
		"alike declarations in one file count once": {rendertest.Content("manifests/a.yaml", rendertest.Config("a")+"---\n"+rendertest.Config("a")), [][]string{{"ConfigMap a"}}},
		"one name in two namespaces": {
			rendertest.Content("manifests/a.yaml", rendertest.Config("a"), "manifests/b.yaml", rendertest.Config("a")+"  namespace: x\n"), [][]string{{"ConfigMap a", "ConfigMap x/a"}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			before := rendertest.Copy(test.tree)
			rendered, err := Bundle{}.Render(t.Context(), test.tree, Input{})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, stepsOf(rendered)); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(before, test.tree); diff != "" {
				t.Errorf("the content was changed: %s", diff)
			}
		})
	}
}

// TestBundleRefuses holds the words of every refusal: users read them in a status.
func TestBundleRefuses(t *testing.T) {
	const invalid, large = content.ReasonContentInvalid, content.ReasonContentTooLarge
	aliases := rendertest.Config("%s") + "x: &x " + strings.Repeat("y", 1_000_000) + "\nz: [*x,*x,*x,*x,*x,*x,*x,*x,*x,*x]\n"
	for name, test := range map[string]struct {
		tree         *content.Tree
		reason, text string
	}{
		"no files": {rendertest.Content(), invalid, `the bundle has no files in a folder "manifests" at its root: put the objects there`},
		"one file without a folder": {
			rendertest.Content("", rendertest.Config("a")), invalid, `the bundle has no files in a folder "manifests" at its root: put the objects there`,
		},
		"a file in place of the folder": {
			rendertest.Content("manifests", rendertest.Config("a")), invalid, `the bundle has no files in a folder "manifests" at its root: put the objects there`,
		},
		"a folder that is not at the root": {
			rendertest.Content("x/manifests/a.yaml", rendertest.Config("a")), invalid,
			`the bundle has no files in a folder "manifests" at its root: put the objects there`,
		},
		"a folder in the folder": {
			rendertest.Content("manifests/a.yaml", rendertest.Config("a"), "manifests/crds/deep/b.yaml", rendertest.Config("b")), invalid,
			`manifests/crds: folder "manifests" of the bundle must not have folders: move the files of "crds" up into it`,
		},
		"files that declare nothing": {
			rendertest.Content("manifests/a.yaml", "# nothing\n---\n", "manifests/b.yaml", ""), invalid,
			`the files of folder "manifests" declare no object: put one at least there`,
		},
		"a text among the files": {
			rendertest.Content("manifests/a.yaml", rendertest.Config("a"), "manifests/README.md", "Hello\n"), invalid,
			"manifests/README.md: document 1 (line 1): is text and not an object",
		},
		"a hidden file that is no manifest": {
			rendertest.Content("manifests/a.yaml", rendertest.Config("a"), "manifests/.DS_Store", "\x00\xff"), invalid,
			"manifests/.DS_Store: the content is not UTF-8 text",
		},
		"a document that is no object": {
			rendertest.Content("manifests/a.yaml", rendertest.Config("a")+"---\nkind: A\n"), invalid,
			"manifests/a.yaml: document 2 (line 6): apiVersion is missing",
		},
		"a template that is no text": {
			rendertest.Content("manifests/a.yaml", rendertest.Config("a")+"spec: {{ .Values.spec }}\n"), invalid,
			"manifests/a.yaml: document 1 (line 1): is malformed: yaml: invalid map key: map[interface {}]interface {}{\".Values.spec\":interface {}(nil)}",
		},
		"an object in two files": {
			rendertest.Content("manifests/1_a.yaml", rendertest.Config("a"), "manifests/b.yaml", rendertest.Config("b")+"---\n"+rendertest.Config("a")+"data: {k: v}\n"), invalid,
			"ConfigMap a is declared in manifests/1_a.yaml and in manifests/b.yaml: keep one of them",
		},
		"an object in two files, even alike": {
			rendertest.Content("manifests/b.yaml", rendertest.Config("a"), "manifests/a.yaml", rendertest.Config("a")), invalid,
			"ConfigMap a is declared in manifests/a.yaml and in manifests/b.yaml: keep one of them",
		},
		"an object in two versions": {
			rendertest.Content("manifests/a.yaml", rendertest.Config("a"), "manifests/b.yaml", strings.Replace(rendertest.Config("a"), "v1", "v2", 1)), invalid,
			"ConfigMap a is declared in manifests/a.yaml and in manifests/b.yaml: keep one of them",
		},
		"files beyond the limit together": {
			rendertest.Content("manifests/a.yaml", strings.Repeat("#", DefaultLimit), "manifests/b.yaml", rendertest.Config("a")), large,
			`the files of folder "manifests" have 16777267 bytes and 16777216 are accepted: make them smaller`,
		},
		"aliases beyond the limit together": {
			rendertest.Content("manifests/a.yaml", fmt.Sprintf(aliases, "a"), "manifests/b.yaml", fmt.Sprintf(aliases, "b"), "manifests/c.yaml", rendertest.Config("c")),
			large, "manifests/c.yaml: the bundle is too large once the aliases of its files are written out",
		},
		"objects beyond the number of one content": {
			rendertest.Content("manifests/a.yaml", rendertest.ManyConfigs("a", MaxObjects-1), "manifests/b.yaml", rendertest.ManyConfigs("b", 2)), large,
			"the bundle declares more than 10000 objects: split it into several modules",
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Bundle{}.Render(t.Context(), test.tree, Input{})
			rendertest.WantRefusal(t, err, test.reason, test.text)
		})
	}
	_, err := Bundle{}.Render(t.Context(), rendertest.Content("manifests/a.yaml", rendertest.Config("a")), Input{Values: map[string]any{"a": 1}})
	rendertest.WantRefusal(t, err, content.ReasonValuesInvalid, "this format takes no values: remove them, or use a Helm chart")
}

func TestBundleKeepsTemplatesAsText(t *testing.T) {
	text := rendertest.Config("a") + "data:\n  script: |\n    {{ .Values.x }} {{- fail \"no\" }} {{/* c */}}\n"
	rendered, err := Bundle{}.Render(t.Context(), rendertest.Content("manifests/a.yaml", text), Input{})
	if err != nil {
		t.Fatal(err)
	}
	data, _ := rendered.Objects()[0].Object["data"].(map[string]any)
	if diff := cmp.Diff("{{ .Values.x }} {{- fail \"no\" }} {{/* c */}}\n", data["script"]); diff != "" {
		t.Error(diff)
	}
}

// FuzzBundle holds that two files of any name and text are refused with a reason, or give steps without empty ones in which each object
// stands once.
func FuzzBundle(f *testing.F) {
	for _, seed := range [][4]string{
		{"manifests/1_a.yaml", rendertest.Config("a"), "manifests/b.yaml", rendertest.Config("b")}, {"manifests/a", rendertest.JSONConfig("a"), "manifests/a", rendertest.Config("a")},
		{"manifests/", "", "manifests", ""}, {"manifests/01_", rendertest.Config("a"), "manifests/1_", rendertest.Config("b")}, {"", "", "x/manifests/a", "{"},
		{"manifests/0_a", "a: &a [*a]", "manifests/._a", "\x00"}, {"manifests/00_a", rendertest.List("List", rendertest.Config("a")), "manifests/_", rendertest.Config("a")},
	} {
		f.Add(seed[0], []byte(seed[1]), seed[2], []byte(seed[3]))
	}
	f.Fuzz(func(t *testing.T, name1 string, text1 []byte, name2 string, text2 []byte) {
		rendered, err := Bundle{}.Render(t.Context(), rendertest.Content(name1, string(text1), name2, string(text2)), Input{})
		if err != nil {
			if reason := content.ReasonOf(err); reason != content.ReasonContentInvalid && reason != content.ReasonContentTooLarge {
				t.Fatalf("reason %q of %v", reason, err)
			}
			return
		}
		seen := map[string]bool{}
		for _, step := range stepsOf(rendered) {
			if len(step) == 0 {
				t.Fatal("a step is empty")
			}
			for _, id := range step {
				if seen[id] {
					t.Fatalf("%s stands twice", id)
				}
				seen[id] = true
			}
		}
		if len(seen) == 0 {
			t.Fatal("accepted without objects")
		}
	})
}
