package modulecontent

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"strings"

	"github.com/kyma-project/lifecycle-manager/pkg/content"
)

// keptReaches bounds what is remembered of ways that lead to content.
const keptReaches = 4096

// accessGrant is a way to content that was gone to its end: that place, asked with those logins, served it.
//
// The store and what is rendered of it are shared by all Manifests, and a digest is no secret. So what is there already counts only for a
// Manifest that has installed it before, which status.resolved tells, and where it was fetched by the same reference and the same
// logins. Otherwise the source itself must serve it again.
type accessGrant struct {
	reference, digest string
	access            [sha256.Size]byte
}

// access tells ways to the same reference apart without keeping them: by logins, and by what a source says beyond its reference, such as
// the query of a signed address.
func (a *parsedSource) access(logins *Logins) [sha256.Size]byte {
	said, err := json.Marshal(a.fields)
	if err != nil {
		panic(err) // it came out of JSON
	}
	known := logins.fingerprint()
	return sha256.Sum256(append(known[:], said...))
}

// resolve finds out what a source names, unless pinned says it, and whether what is stored of that may be used.
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

// flight names what is requested in one way, so that many who ask it at once ask it once.
func (r accessGrant) flight() string {
	return strings.Join([]string{r.reference, r.digest, string(r.access[:])}, "\n")
}

// fetch returns the files of what a source was resolved to. Of many who ask for the same at once, one is served by the place itself, and
// the others take it from the store.
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
