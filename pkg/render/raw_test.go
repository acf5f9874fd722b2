package render

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kyma-project/lifecycle-manager/pkg/content"
	"github.com/kyma-project/lifecycle-manager/pkg/render/internal/rendertest"
)

// stepsOf returns the identities of the objects of each step.
func stepsOf(rendered Rendered) [][]string {
	var steps [][]string
	for _, step := range rendered.Steps {
		steps = append(steps, rendertest.Identities(step))
	}
	return steps
}

func TestPlainContent(t *testing.T) {
	for name, test := range map[string]struct {
		renderer Renderer
		tree     *content.Tree
		want     [][]string
	}{
		"one file gives one step":  {Raw{}, rendertest.Content("", rendertest.Config("b")+"---\n"+rendertest.Config("a")), [][]string{{"ConfigMap b", "ConfigMap a"}}},
		"an empty file gives none": {Raw{}, rendertest.Content("", ""), nil},
		"braces are text":          {Raw{}, rendertest.Content("", rendertest.Config("a")+"data: {x: '{{ fail }}'}\n"), [][]string{{"ConfigMap a"}}},
		"the first file alone":     {FirstFile{}, rendertest.Content("z.yaml", rendertest.Config("a"), "a.yaml", rendertest.Config("b")), [][]string{{"ConfigMap a"}}},
		"files of macOS do not count": {
			FirstFile{}, rendertest.Content("d/._a.yaml", "\x00", "d/a.yaml", rendertest.Config("a")), [][]string{{"ConfigMap a"}},
		},
		"a file that is no archive is its own first file": {FirstFile{}, rendertest.Content("", rendertest.Config("a")), [][]string{{"ConfigMap a"}}},
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
			Raw{}, rendertest.Content("a.yaml", "", "b.yaml", ""), content.ReasonContentInvalid,
			"the content has 2 files and must be one: use a format that takes a folder, such as bundle",
		},
		"no file at all": {FirstFile{}, rendertest.Content("._a", ""), content.ReasonContentInvalid, "the content has no file: put the manifest into it"},
		"a first file that does not parse, by its name": {
			FirstFile{}, rendertest.Content("README.md", "hello\n", "b.yaml", rendertest.Config("b")), content.ReasonContentInvalid,
			"README.md: document 1 (line 1): is text and not an object",
		},
		"a file beyond the limit": {
			FirstFile{}, rendertest.Content("a.yaml", strings.Repeat("#", DefaultLimit+1)), content.ReasonContentTooLarge,
			"a.yaml: the content has more than 16777216 bytes: make it smaller or raise the limit",
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := test.renderer.Render(t.Context(), test.tree, Input{})
			rendertest.WantRefusal(t, err, test.reason, test.text)
		})
	}
}
