package communitycatalog

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestAgain(t *testing.T) {
	const here, there = "https://example.com/all-modules.yaml", "https://example.org/all-modules.yaml"
	digest := "sha256:" + strings.Repeat("a", 64)
	other := "sha256:" + strings.Repeat("b", 64)
	for name, c := range map[string]struct {
		before   Source
		kept     []Source
		keptOnly bool
		want     Source
		refused  string
	}{
		"a kept source is queried with its current settings": {
			before: Source{Name: "ours", URL: here, Digest: digest}, kept: []Source{{Name: "ours", URL: here, Digest: other}},
			want: Source{Name: "ours", URL: here, Digest: other},
		},
		"a removed source is not queried, although its address is known": {
			before: Source{Name: "ours", URL: here}, refused: "not kept there any more",
		},
		"another address under its name is another source": {
			before: Source{Name: "ours", URL: here}, kept: []Source{{Name: "ours", URL: there}}, refused: "not kept there any more",
		},
		"another name at its address is another source": {
			before: Source{Name: "ours", URL: here}, kept: []Source{{Name: "theirs", URL: here}}, refused: "not kept there any more",
		},
		"a source that was never kept is queried as before": {
			before: Source{URL: here, Digest: digest}, kept: []Source{{Name: "ours", URL: there}},
			want: Source{Kind: HTTPS, URL: here, Digest: digest},
		},
		"a source that is kept by now counts, preferably one with a digest": {
			before: Source{URL: here}, kept: []Source{{Name: "a", URL: here}, {Name: "b", URL: here, Digest: digest}},
			want: Source{Name: "b", URL: here, Digest: digest},
		},
		"an address from a runtime's record is queried only if it is kept": {before: Source{URL: here}, keptOnly: true, refused: "no source that is kept"},
		"a namespace is in the cluster of the source":                      {before: Source{URL: "cluster://shelf"}, refused: "no source that is kept"},
		"without a digest or a key any more": {
			before: Source{Name: "ours", URL: here, Digest: digest}, kept: []Source{{Name: "ours", URL: here}}, refused: "asks for neither",
		},
		"an invalid address is not queried": {before: Source{URL: "http://example.com/x"}, refused: "recorded catalog source is invalid"},
		"a key that is none":                {before: Source{URL: here, Key: "none"}, refused: "recorded catalog source is invalid"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := Again(c.before, c.kept, c.keptOnly)
			if c.refused != "" {
				if err == nil || !strings.Contains(err.Error(), c.refused) {
					t.Errorf("got %+v, %v", got, err)
				}
				return
			}
			if diff := cmp.Diff(c.want, got); diff != "" || err != nil {
				t.Errorf("%v (-want +got):\n%s", err, diff)
			}
		})
	}
}
