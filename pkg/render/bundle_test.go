package render

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kyma-project/lifecycle-manager/pkg/content"
)

func TestBundle(t *testing.T) {
	for name, test := range map[string]struct {
		tree *content.Tree
		want [][]string
	}{
		"files without numbers are one step, in the order of their names": {
			contentOf("manifests/b.yaml", config("b"), "manifests/a.yaml", config("a")), [][]string{{"ConfigMap a", "ConfigMap b"}},
		},
		"a file may hold several documents": {
			contentOf("manifests/a.yaml", config("z")+"---\n"+config("a")), [][]string{{"ConfigMap z", "ConfigMap a"}},
		},
		"numbers give the steps and the rest comes last": {
			contentOf("manifests/a.yaml", config("rest"), "manifests/10_a.yaml", config("ten"), "manifests/9_z.yaml", config("nine"),
				"manifests/00_a.yaml", config("zero")),
			[][]string{{"ConfigMap zero"}, {"ConfigMap nine"}, {"ConfigMap ten"}, {"ConfigMap rest"}},
		},
		"equal numbers are one step, however they are written": {
			contentOf("manifests/1_b.yaml", config("b"), "manifests/001_a.yaml", config("a"), "manifests/2_c.yaml", config("c")),
			[][]string{{"ConfigMap a", "ConfigMap b"}, {"ConfigMap c"}},
		},
		"numbers may be as long as they like": {
			contentOf("manifests/99999999999999999999999_a.yaml", config("b"), "manifests/0100000000000000000000000_a.yaml", config("c"),
				"manifests/3_a.yaml", config("a")),
			[][]string{{"ConfigMap a"}, {"ConfigMap b"}, {"ConfigMap c"}},
		},
		"a number needs its underscore": {
			contentOf("manifests/1-a.yaml", config("a"), "manifests/2_b.yaml", config("b"), "manifests/x3_c.yaml", config("c")),
			[][]string{{"ConfigMap b"}, {"ConfigMap a", "ConfigMap c"}},
		},
		"a step without objects is none": {
			contentOf("manifests/1_a.yaml", "# nothing\n", "manifests/2_b.yaml", config("b")), [][]string{{"ConfigMap b"}},
		},
		"files beside the folder do not count": {
			contentOf("README.md", "hello", "metadata/annotations.yaml", "{", "manifests/a.yaml", config("a"), "manifests.yaml", config("b")),
			[][]string{{"ConfigMap a"}},
		},
		"JSON is accepted, whatever the name": {
			contentOf("manifests/a.txt", jsonConfig("a")+jsonConfig("b")), [][]string{{"ConfigMap a", "ConfigMap b"}},
		},
		"files of macOS do not count": {contentOf("manifests/._a.yaml", "\x00", "manifests/a.yaml", config("a")), [][]string{{"ConfigMap a"}}},
		"a definition and its objects": {
			contentOf("manifests/a.yaml", "apiVersion: a.io/v1\nkind: A\nmetadata: {name: a}\n", "manifests/b.yaml", definition("a.io", "A", "Cluster")),
			[][]string{{"A.a.io a", "CustomResourceDefinition.apiextensions.k8s.io as.a.io"}},
		},
		"alike declarations in one file count once": {contentOf("manifests/a.yaml", config("a")+"---\n"+config("a")), [][]string{{"ConfigMap a"}}},
		"one name in two namespaces": {
			contentOf("manifests/a.yaml", config("a"), "manifests/b.yaml", config("a")+"  namespace: x\n"), [][]string{{"ConfigMap a", "ConfigMap x/a"}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			before := contentCopy(test.tree)
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

func contentCopy(tree *content.Tree) *content.Tree {
	var all []string
	for _, file := range tree.Files {
		all = append(all, file.Path, string(file.Data))
	}
	return contentOf(all...)
}

// TestBundleRefuses holds the words of every refusal: users read them in a status.
func TestBundleRefuses(t *testing.T) {
	const invalid, large = content.ReasonContentInvalid, content.ReasonContentTooLarge
	aliases := config("%s") + "x: &x " + strings.Repeat("y", 1_000_000) + "\nz: [*x,*x,*x,*x,*x,*x,*x,*x,*x,*x]\n"
	for name, test := range map[string]struct {
		tree         *content.Tree
		reason, text string
	}{
		"no files": {contentOf(), invalid, `the bundle has no files in a folder "manifests" at its root: put the objects there`},
		"one file without a folder": {
			contentOf("", config("a")), invalid, `the bundle has no files in a folder "manifests" at its root: put the objects there`,
		},
		"a file in place of the folder": {
			contentOf("manifests", config("a")), invalid, `the bundle has no files in a folder "manifests" at its root: put the objects there`,
		},
		"a folder that is not at the root": {
			contentOf("x/manifests/a.yaml", config("a")), invalid,
			`the bundle has no files in a folder "manifests" at its root: put the objects there`,
		},
		"a folder in the folder": {
			contentOf("manifests/a.yaml", config("a"), "manifests/crds/deep/b.yaml", config("b")), invalid,
			`manifests/crds: folder "manifests" of the bundle must not have folders: move the files of "crds" up into it`,
		},
		"files that declare nothing": {
			contentOf("manifests/a.yaml", "# nothing\n---\n", "manifests/b.yaml", ""), invalid,
			`the files of folder "manifests" declare no object: put one at least there`,
		},
		"a text among the files": {
			contentOf("manifests/a.yaml", config("a"), "manifests/README.md", "Hello\n"), invalid,
			"manifests/README.md: document 1 (line 1): is text and not an object",
		},
		"a hidden file that is no manifest": {
			contentOf("manifests/a.yaml", config("a"), "manifests/.DS_Store", "\x00\xff"), invalid,
			"manifests/.DS_Store: the content is not UTF-8 text",
		},
		"a document that is no object": {
			contentOf("manifests/a.yaml", config("a")+"---\nkind: A\n"), invalid,
			"manifests/a.yaml: document 2 (line 6): apiVersion is missing",
		},
		"a template that is no text": {
			contentOf("manifests/a.yaml", config("a")+"spec: {{ .Values.spec }}\n"), invalid,
			"manifests/a.yaml: document 1 (line 1): is malformed: yaml: invalid map key: map[interface {}]interface {}{\".Values.spec\":interface {}(nil)}",
		},
		"an object in two files": {
			contentOf("manifests/1_a.yaml", config("a"), "manifests/b.yaml", config("b")+"---\n"+config("a")+"data: {k: v}\n"), invalid,
			"ConfigMap a is declared in manifests/1_a.yaml and in manifests/b.yaml: keep one of them",
		},
		"an object in two files, even alike": {
			contentOf("manifests/b.yaml", config("a"), "manifests/a.yaml", config("a")), invalid,
			"ConfigMap a is declared in manifests/a.yaml and in manifests/b.yaml: keep one of them",
		},
		"an object in two versions": {
			contentOf("manifests/a.yaml", config("a"), "manifests/b.yaml", strings.Replace(config("a"), "v1", "v2", 1)), invalid,
			"ConfigMap a is declared in manifests/a.yaml and in manifests/b.yaml: keep one of them",
		},
		"files beyond the limit together": {
			contentOf("manifests/a.yaml", strings.Repeat("#", DefaultLimit), "manifests/b.yaml", config("a")), large,
			`the files of folder "manifests" have 16777267 bytes and 16777216 are accepted: make them smaller`,
		},
		"aliases beyond the limit together": {
			contentOf("manifests/a.yaml", fmt.Sprintf(aliases, "a"), "manifests/b.yaml", fmt.Sprintf(aliases, "b"), "manifests/c.yaml", config("c")),
			large, "manifests/c.yaml: the bundle is too large once the aliases of its files are written out",
		},
		"objects beyond the number of one content": {
			contentOf("manifests/a.yaml", manyConfigs("a", MaxObjects-1), "manifests/b.yaml", manyConfigs("b", 2)), large,
			"the bundle declares more than 10000 objects: split it into several modules",
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Bundle{}.Render(t.Context(), test.tree, Input{})
			wantRefusal(t, err, test.reason, test.text)
		})
	}
	_, err := Bundle{}.Render(t.Context(), contentOf("manifests/a.yaml", config("a")), Input{Values: map[string]any{"a": 1}})
	wantRefusal(t, err, content.ReasonValuesInvalid, "this format takes no values: remove them, or use a Helm chart")
}

func manyConfigs(prefix string, count int) string {
	var all strings.Builder
	for i := range count {
		all.WriteString(config(fmt.Sprint(prefix, i)) + "---\n")
	}
	return all.String()
}

func TestBundleKeepsTemplatesAsText(t *testing.T) {
	text := config("a") + "data:\n  script: |\n    {{ .Values.x }} {{- fail \"no\" }} {{/* c */}}\n"
	rendered, err := Bundle{}.Render(t.Context(), contentOf("manifests/a.yaml", text), Input{})
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
		{"manifests/1_a.yaml", config("a"), "manifests/b.yaml", config("b")}, {"manifests/a", jsonConfig("a"), "manifests/a", config("a")},
		{"manifests/", "", "manifests", ""}, {"manifests/01_", config("a"), "manifests/1_", config("b")}, {"", "", "x/manifests/a", "{"},
		{"manifests/0_a", "a: &a [*a]", "manifests/._a", "\x00"}, {"manifests/00_a", list("List", config("a")), "manifests/_", config("a")},
	} {
		f.Add(seed[0], []byte(seed[1]), seed[2], []byte(seed[3]))
	}
	f.Fuzz(func(t *testing.T, name1 string, text1 []byte, name2 string, text2 []byte) {
		rendered, err := Bundle{}.Render(t.Context(), contentOf(name1, string(text1), name2, string(text2)), Input{})
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
