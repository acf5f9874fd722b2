package artifact

import (
	"context"
	"crypto/sha256"
	"encoding/json"

	"github.com/kyma-project/lifecycle-manager/pkg/content"
)

// keptReaches bounds what is remembered of ways that lead to content.
const keptReaches = 4096

// reach is a way to content that was gone to its end: that place, asked with those logins, served it.
//
// The store and what is rendered of it are shared by all Manifests, and a digest is no secret. So what is there already counts only for a
// Manifest that has installed it before, which status.resolved tells, and where somebody has got it by the same reference and the same
// logins. Otherwise the place itself has to serve it once more.
type reach struct {
	reference, digest string
	access            [sha256.Size]byte
}

// access tells ways to the same reference apart without keeping them: by logins, and by what a source says beyond its reference, such as
// the query of a signed address.
func (a *asked) access(logins *Logins) [sha256.Size]byte {
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
	if resolved, err = source.Resolve(ctx); err != nil {
		return resolved, false, err
	}
	_, shared = c.reached.Get(reach{source.Reference(), resolved.Digest, access})
	return resolved, shared, nil
}

// fetch gives the files of what a source was resolved to.
func (c *Contents) fetch(
	ctx context.Context, source content.Source, resolved content.Resolved, shared bool, access [sha256.Size]byte,
) (*content.Tree, error) {
	if shared {
		return source.Fetch(ctx, resolved)
	}
	tree, err := source.Fetch(content.Fresh(ctx), resolved)
	if err == nil {
		c.reached.Add(reach{source.Reference(), resolved.Digest, access}, true)
	}
	return tree, err
}
