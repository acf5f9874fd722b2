package render

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kyma-project/lifecycle-manager/pkg/content"
)

// contentOf has the files of name and text, in their order.
func contentOf(namesAndTexts ...string) *content.Tree {
	tree := &content.Tree{}
	for i := 0; i < len(namesAndTexts); i += 2 {
		tree.Files = append(tree.Files, content.File{Path: namesAndTexts[i], Data: []byte(namesAndTexts[i+1])})
	}
	return tree
}

// stepsOf returns the identities of the objects of each step.
func stepsOf(rendered Rendered) [][]string {
	var steps [][]string
	for _, step := range rendered.Steps {
		steps = append(steps, identities(step))
	}
	return steps
}

// wantRefusal holds the reason and the whole text of an error.
func wantRefusal(t *testing.T, err error, reason, text string) {
	t.Helper()
	if err == nil {
		t.Fatalf("accepted, want %s: %s", reason, text)
	}
	if diff := cmp.Diff(reason+": "+text, content.ReasonOf(err)+": "+err.Error()); diff != "" {
		t.Error(diff)
	}
}

func TestPlainContent(t *testing.T) {
	for name, test := range map[string]struct {
		renderer Renderer
		tree     *content.Tree
		want     [][]string
	}{
		"one file gives one step":  {Raw{}, contentOf("", config("b")+"---\n"+config("a")), [][]string{{"ConfigMap b", "ConfigMap a"}}},
		"an empty file gives none": {Raw{}, contentOf("", ""), nil},
		"braces are text":          {Raw{}, contentOf("", config("a")+"data: {x: '{{ fail }}'}\n"), [][]string{{"ConfigMap a"}}},
		"the first file alone":     {FirstFile{}, contentOf("z.yaml", config("a"), "a.yaml", config("b")), [][]string{{"ConfigMap a"}}},
		"files of macOS do not count": {
			FirstFile{}, contentOf("d/._a.yaml", "\x00", "d/a.yaml", config("a")), [][]string{{"ConfigMap a"}},
		},
		"a file that is no archive is its own first file": {FirstFile{}, contentOf("", config("a")), [][]string{{"ConfigMap a"}}},
	} {
		t.Run(name, func(t *testing.T) {
			rendered, err := test.renderer.Render(t.Context(), test.tree, Input{})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, stepsOf(rendered)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestPlainContentRefuses(t *testing.T) {
	for name, test := range map[string]struct {
		renderer Renderer
		tree     *content.Tree
		reason   string
		text     string
	}{
		"a folder where one file is wanted": {
			Raw{}, contentOf("a.yaml", "", "b.yaml", ""), content.ReasonContentInvalid,
			"the content has 2 files and must be one: use a format that takes a folder, such as bundle",
		},
		"no file at all": {FirstFile{}, contentOf("._a", ""), content.ReasonContentInvalid, "the content has no file: put the manifest into it"},
		"a first file that does not parse, by its name": {
			FirstFile{}, contentOf("README.md", "hello\n", "b.yaml", config("b")), content.ReasonContentInvalid,
			"README.md: document 1 (line 1): is text and not an object",
		},
		"a file beyond the limit": {
			FirstFile{}, contentOf("a.yaml", strings.Repeat("#", DefaultLimit+1)), content.ReasonContentTooLarge,
			"a.yaml: the content has more than 16777216 bytes: make it smaller or raise the limit",
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := test.renderer.Render(t.Context(), test.tree, Input{})
			wantRefusal(t, err, test.reason, test.text)
		})
	}
}

func TestRaw_NobodyWaitsForWhatIsGivenUp(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	tree := contentOf("", config("a"), "manifests/a.yaml", config("a"), "kustomization.yaml", "resources: [a]\n")
	for name, renderer := range map[string]Renderer{"first file": FirstFile{}, "bundle": Bundle{}, "kustomize": Kustomize{}} {
		_, err := renderer.Render(ctx, tree, Input{})
		if err == nil {
			t.Fatalf("%s renders all the same", name)
		}
		wantRefusal(t, err, content.ReasonInternal, "rendering was given up: context canceled")
	}
}

func TestBuiltinKnowsTheSourceTypes(t *testing.T) {
	for name, test := range map[string]struct{ folder, want string }{
		"":           {"", "ConfigMap a"},
		"oci-ref":    {"", "ConfigMap a"},
		"oci-dir":    {"a.yaml", "ConfigMap a"},
		"bundle":     {"manifests/a.yaml", "ConfigMap a"},
		"kustomize":  {"a.yaml", "ConfigMap x-a"},
		"helm-chart": {"", "ConfigMap a"},
	} {
		if len(Builtin()) != 6 {
			t.Fatalf("%d formats", len(Builtin()))
		}
		tree := contentOf(test.folder, config("a"))
		if name == "kustomize" {
			tree = contentOf("a.yaml", config("a"), "kustomization.yaml", "resources: [a.yaml]\nnamePrefix: x-\n")
		}
		if name == "helm-chart" {
			tree = contentOf("Chart.yaml", "apiVersion: v2\nname: c\nversion: 1.0.0\n", "templates/a.yaml", config("{{ .Release.Name }}"))
		}
		rendered, err := Builtin()[name].Render(t.Context(), tree, Input{Name: "a"})
		if err != nil || !cmp.Equal(stepsOf(rendered), [][]string{{test.want}}) {
			t.Errorf("%q renders %v: %v", name, stepsOf(rendered), err)
		}
	}
}
