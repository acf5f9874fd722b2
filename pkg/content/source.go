package content

import "context"

// Source is one origin of content. A new kind of origin implements Source and is registered in internal/manager/setup.
type Source interface {
	// Reference returns a line for messages that describes what is requested, without credentials and without a request. Sources with equal
	// references request the same content.
	Reference() string
	// Resolve returns the content that the reference names now. It makes no request if the reference itself pins the content.
	Resolve(ctx context.Context) (Resolved, error)
	// Fetch returns the content that Resolve returned, also in an earlier run of the program, verified by its digest. It makes no request if
	// the store has it, unless the context is one of WithoutCache.
	Fetch(ctx context.Context, resolved Resolved) (*Tree, error)
}

// Resolved identifies one content exactly.
type Resolved struct {
	// Digest is "sha256:" and 64 hex digits: of the blob, of the OCI manifest, or of the canonical archive of content without its own digest.
	Digest string
	// Version is the name of that content, if it has one: a chart version, a git commit (40 hex digits).
	Version string
	// MediaType is the media type of the content, as its origin declares it; may be empty.
	MediaType string
}
