package content

import "context"

// Source is one place that content comes from. Whoever adds a kind of place implements this and registers it in internal/setup.
type Source interface {
	// Reference is what is asked for, in one line for people, without credentials and without a call. Sources with equal references
	// ask for the same thing.
	Reference() string
	// Resolve finds out which content the reference names now. It makes no request when the reference itself pins the content.
	Resolve(ctx context.Context) (Resolved, error)
	// Fetch gives the content that Resolve once named, now or in an earlier life of the program, verified by its digest. It makes no
	// request when the store has it, unless the context is Fresh.
	Fetch(ctx context.Context, resolved Resolved) (*Tree, error)
}

// Resolved names one content exactly.
type Resolved struct {
	// Digest is "sha256:" and 64 hex digits: of the blob, of the OCI manifest, or of the canonical archive of what has no digest of its own.
	Digest string
	// Version is what people call that content where it has such a name: a chart version, a git commit (40 hex digits).
	Version string
	// MediaType of the content, as its place declares it; may be empty.
	MediaType string
}
