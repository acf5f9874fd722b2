package communitycatalog

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/kyma-project/lifecycle-manager/pkg/content"
)

// Again returns the source to ask again for a module that came from one before; kept are the sources of the cluster. The module that is
// installed must be no worse vouched for after it than before it:
//
//  1. A source that was kept under a name must be kept under it still, at the same address. What it asks for now counts.
//  2. One without a name is the one that is kept at its address, one that is vouched for before others.
//  3. Otherwise it is asked as it was then, with the digest and the key that were requested, and is not older than it was then. Not where
//     keptOnly is set, because the record is another party's, and not a namespace, which is one of another cluster.
//  4. One that was vouched for and is not any more is refused.
func Again(before Source, kept []Source, keptOnly bool) (Source, error) {
	named := before.Name != ""
	before.Name = cmp.Or(before.Name, "unnamed")
	before, err := before.Complete()
	if err != nil {
		return before, fmt.Errorf("what is recorded of the catalog that it came from makes no sense: %w", err)
	}
	kept = slices.Clone(kept)
	slices.SortStableFunc(kept, func(a, b Source) int { return cmp.Compare(worth(b), worth(a)) })
	at := slices.IndexFunc(kept, func(s Source) bool { return s.URL == before.URL && (!named || s.Name == before.Name) })
	switch {
	case at < 0 && named:
		return before, gone("it came from the source %s (%s), which is not kept there any more", before.Name, before.URL)
	case at < 0 && (keptOnly || before.Kind == Cluster):
		return before, gone("it came from the catalog %s, which is no source that is kept here", before.URL)
	case at < 0:
		before.Name = ""
		return before, nil
	}
	if now := kept[at]; now.Pinned() || !before.Pinned() {
		return now, nil
	}
	return before, fail(content.ReasonSourceInvalid, "it came from %s, for which a digest or a key vouched, and the source %s asks for "+
		"neither: add the source again with one of them", before.URL, kept[at].Name)
}

func worth(s Source) int {
	if s.Pinned() {
		return 1
	}
	return 0
}

func gone(format string, args ...any) error {
	return fail(content.ReasonContentNotFound, format+": add it again, or take the module from elsewhere", args...)
}
