package modulecontent

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"strings"

	"github.com/kyma-project/lifecycle-manager/pkg/content"
)

// keptReaches is the maximum number of access grants that are remembered.
const keptReaches = 4096

// accessGrant records that a source served content to given logins.
//
// The store and the rendered objects are shared by all Manifests, and a digest is no secret. So stored content may be used only for a
// Manifest that has installed it before, as status.resolved records, or where it was fetched by the same reference with the same logins.
// Otherwise the source itself must serve it again.
type accessGrant struct {
	reference, digest string
	access            [sha256.Size]byte
}

// access returns a hash that distinguishes ways of access to the same reference without storing them: by logins, and by the fields of a
// source that are not part of its reference, such as the query of a signed URL.
func (a *parsedSource) access(logins *Logins) [sha256.Size]byte {
	said, err := json.Marshal(a.fields)
	if err != nil {
		panic(err) // it came from JSON
	}
	known := logins.fingerprint()
	return sha256.Sum256(append(known[:], said...))
}

// resolve resolves a source, unless pinned holds the result, and reports whether the stored content may be used.
func (c *Contents) resolve(
	ctx context.Context, source content.Source, pinned content.Resolved, access [sha256.Size]byte,
) (resolved content.Resolved, shared bool, err error) {
	if pinned.Digest != "" {
		return pinned, true, nil
	}
	to := accessGrant{source.Reference(), "", access}
	now, err, _ := c.asking.Do(to.flight(), func() (any, error) { return source.Resolve(ctx) })
	if resolved, _ = now.(content.Resolved); err != nil {
		return resolved, false, err
	}
	to.digest = resolved.Digest
	_, shared = c.reached.Get(to)
	return resolved, shared, nil
}

// flight returns the key by which concurrent requests for the same content are merged into one.
func (r accessGrant) flight() string {
	return strings.Join([]string{r.reference, r.digest, string(r.access[:])}, "\n")
}

// fetch returns the files of a resolved source. Of concurrent callers for the same content, one fetches it from the source itself, and the
// others read it from the store.
func (c *Contents) fetch(
	ctx context.Context, source content.Source, resolved content.Resolved, shared bool, access [sha256.Size]byte,
) (*content.Tree, error) {
	if shared {
		return source.Fetch(ctx, resolved)
	}
	to := accessGrant{source.Reference(), resolved.Digest, access}
	var tree *content.Tree
	_, err, _ := c.asking.Do(to.flight(), func() (any, error) {
		fetched, err := source.Fetch(content.WithoutCache(ctx), resolved)
		if err == nil {
			tree = fetched
			c.reached.Add(to, true)
		}
		return nil, err
	})
	if err != nil || tree != nil {
		return tree, err
	}
	return source.Fetch(ctx, resolved)
}
