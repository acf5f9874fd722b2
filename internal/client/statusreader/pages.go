package statusreader

import (
	"cmp"
	"context"
	"slices"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// pageSize is how many objects one request returns: a fleet has thousands of Kymas and Manifests, and often only a part of each is kept.
const pageSize = 500

// Pages reads a list page by page, and calls take after each. The page is read into the same list, from which take must remove the items.
// It returns the version of the list, from which a watch can go on.
func Pages(
	ctx context.Context, from client.Reader, page client.ObjectList, take func(), options ...client.ListOption,
) (version string, err error) {
	for next := ""; ; {
		page.SetContinue("") // the last page has none, and decoding would keep that of the page before
		if err := from.List(ctx, page, append(slices.Clone(options), client.Limit(pageSize), client.Continue(next))...); err != nil {
			return "", err
		}
		version = cmp.Or(version, page.GetResourceVersion())
		take()
		if next = page.GetContinue(); next == "" {
			return version, nil
		}
	}
}

// pages reads a list page by page; of may be nil. A page that cannot be read ends it, and what was read before does not count: a part of a
// fleet would be mistaken for all of it.
func (g *reading) pages(
	ctx context.Context, kind, namespace string, page client.ObjectList, of client.ListOption, take func(),
) {
	options := within(namespace)
	if of != nil {
		options = append(options, of)
	}
	_, err := Pages(ctx, g.reader, page, take, options...)
	g.record(ownKind(kind), namespace, err)
	if len(g.in.Unread) > 0 || g.fatal != nil {
		g.in.Kymas, g.in.Manifests = nil, nil
	}
}
