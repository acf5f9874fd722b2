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
		"a kept source is asked as it is kept now": {
			before: Source{Name: "ours", URL: here, Digest: digest}, kept: []Source{{Name: "ours", URL: here, Digest: other}},
			want: Source{Name: "ours", URL: here, Digest: other},
		},
		"a source that is gone is not asked, though its address is known": {
			before: Source{Name: "ours", URL: here}, refused: "not kept there any more",
		},
		"another source of its name is another one": {
			before: Source{Name: "ours", URL: here}, kept: []Source{{Name: "ours", URL: there}}, refused: "not kept there any more",
		},
		"another name at its address is another one": {
			before: Source{Name: "ours", URL: here}, kept: []Source{{Name: "theirs", URL: here}}, refused: "not kept there any more",
		},
		"what no one kept is asked as it was then": {
			before: Source{URL: here, Digest: digest}, kept: []Source{{Name: "ours", URL: there}},
			want: Source{Kind: HTTPS, URL: here, Digest: digest},
		},
		"what a user keeps by now counts, the one that is vouched for before others": {
			before: Source{URL: here}, kept: []Source{{Name: "a", URL: here}, {Name: "b", URL: here, Digest: digest}},
			want: Source{Name: "b", URL: here, Digest: digest},
		},
		"what a runtime says of addresses is asked only where it is kept": {before: Source{URL: here}, keptOnly: true, refused: "no source that is kept"},
		"a namespace is one of the cluster that the source was kept in":   {before: Source{URL: "cluster://shelf"}, refused: "no source that is kept"},
		"no one vouches any more": {
			before: Source{Name: "ours", URL: here, Digest: digest}, kept: []Source{{Name: "ours", URL: here}}, refused: "asks for neither",
		},
		"an address that makes no sense is not asked": {before: Source{URL: "http://example.com/x"}, refused: "makes no sense"},
		"a key that is none":                          {before: Source{URL: here, Key: "none"}, refused: "makes no sense"},
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
