package communitycatalog

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/kyma-project/lifecycle-manager/pkg/content"
)

// Again returns the source to query again for an installed module that came from a source; kept are the sources in the cluster. The new
// source must not be verified less strictly than the previous one:
//
//  1. A named source must still exist under its name, at the same address. Its current settings count.
//  2. A source without a name is the one with its address, preferably one with a digest or a key.
//  3. Otherwise it is queried as before, with the requested digest and key, and must not be older than before. This does not apply if
//     keptOnly is set, since the record is another party's, nor to a namespace, which is in another cluster.
//  4. A source that had a digest or a key and no longer has one is refused.
func Again(before Source, kept []Source, keptOnly bool) (Source, error) {
	named := before.Name != ""
	before.Name = cmp.Or(before.Name, "unnamed")
	before, err := before.Complete()
	if err != nil {
		return before, fmt.Errorf("the recorded catalog source is invalid: %w", err)
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
