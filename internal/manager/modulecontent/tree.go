package modulecontent

import (
	"context"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/pkg/content"
)

// tree fetches the files of a part unchanged.
func (r *reading) tree(ctx context.Context, part *parsedSource) (content.Source, content.Resolved, *content.Tree, error) {
	source, err := r.open(r.manifest, part, Logins{})
	if err != nil {
		return nil, content.Resolved{}, nil, err
	}
	resolved, _ := pinnedTo(r.manifest, part.name, source.Reference())
	logins, err := r.loginsFor(ctx, r.manifest, part, source)
	if err != nil {
		return nil, resolved, nil, err
	}
	if source, err = r.open(r.manifest, part, logins); err != nil {
		return nil, resolved, nil, err
	}
	key := callKey{
		namespace: r.manifest.Namespace, reference: source.Reference(), digest: resolved.Digest, format: part.format, path: part.path,
		access: part.access(&logins),
	}
	got, retry, err := r.trees.do(ctx, key, func(ctx context.Context) (files, error) {
		ctx, leave := r.room.Enter(ctx)
		defer leave()
		now, shared, err := r.resolve(ctx, source, resolved, key.access)
		if err != nil {
			return files{}, err
		}
		tree, err := r.fetch(ctx, source, now, shared, key.access)
		return files{now, tree}, err
	})
	return source, got.resolved, got.tree, pending(part, retry, r.withheld(ctx, r.manifest, &logins, source, err))
}

// files is content with its resolution.
type files struct {
	resolved content.Resolved
	tree     *content.Tree
}

// Files returns the content of one source of a Manifest as it was fetched. The name is the one in status.resolved.
func (c *Contents) Files(ctx context.Context, m *v1beta2.Manifest, name string) (v1beta2.ResolvedSource, *content.Tree, error) {
	part, err := c.named(m, name)
	if err != nil {
		return v1beta2.ResolvedSource{}, nil, err
	}
	reading := &reading{Contents: c, manifest: m}
	source, resolved, tree, err := reading.tree(ctx, part)
	if err != nil {
		return v1beta2.ResolvedSource{}, nil, err
	}
	return resolvedSource(part, source, resolved), tree, nil
}

// Current resolves a source anew, whatever it was resolved to before. That takes one request, and none for a source that names a digest.
func (c *Contents) Current(ctx context.Context, m *v1beta2.Manifest, name string) (content.Resolved, error) {
	part, err := c.named(m, name)
	if err != nil {
		return content.Resolved{}, err
	}
	source, err := c.open(m, part, Logins{})
	if err != nil {
		return content.Resolved{}, err
	}
	logins, err := c.loginsFor(ctx, m, part, source)
	if err != nil {
		return content.Resolved{}, err
	}
	if source, err = c.open(m, part, logins); err != nil {
		return content.Resolved{}, err
	}
	within, leave := c.room.Enter(ctx)
	defer leave()
	resolved, err := source.Resolve(within)
	return resolved, c.withheld(ctx, m, &logins, source, err)
}

func (c *Contents) named(m *v1beta2.Manifest, name string) (*parsedSource, error) {
	parts, err := c.everything(m)
	if err != nil {
		return nil, err
	}
	for i := range parts {
		if parts[i].name == name {
			return &parts[i], nil
		}
	}
	return nil, sourceInvalid("%s/%s has no installation %q", m.Namespace, m.Name, name)
}
