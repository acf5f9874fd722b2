package contentserver

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/kyma-project/lifecycle-manager/pkg/content"
)

// Item is the content of one install of a Manifest.
type Item struct {
	// Install is its name, unique in the Manifest.
	Install string
	// Reference is what was requested.
	Reference string
	// Digest ("sha256:...") names the content: the same Digest always comes with the same Tree.
	Digest string
	// MediaType as the place of the content declares it; may be empty.
	MediaType string
	// Tree is the content itself. Nil means that this replica does not have it yet while it has others of the Manifest.
	Tree *content.Tree
}

// Contents gives the items of a Manifest in their order: ErrNotFound when there is no such Manifest, ErrPending (or Pending) when its
// content is being fetched. It should not wait for a fetch, but start it and say so.
type Contents func(ctx context.Context, namespace, manifest string) ([]Item, error)

var (
	// ErrNotFound says that there is no such Manifest, or that it was not resolved to anything.
	ErrNotFound = errors.New("no such content")
	// ErrPending says that the content is on its way to this replica.
	ErrPending = errors.New("the content is being fetched")
)

// defaultRetry is the Retry-After where no better one is known.
const defaultRetry = 5 * time.Second

// Pending returns an ErrPending that knows when to ask again.
func Pending(after time.Duration) error { return &pending{after: after} }

type pending struct{ after time.Duration }

// Error returns when to ask again.
func (p *pending) Error() string { return fmt.Sprintf("%v: ask again in %s", ErrPending, p.after) }

// Unwrap makes it an ErrPending.
func (p *pending) Unwrap() error { return ErrPending }

func retryAfter(err error) time.Duration {
	if known, ok := errors.AsType[*pending](err); ok && known.after > 0 {
		return known.after
	}
	if known, ok := errors.AsType[*content.Error](err); ok && known.RetryAfter > 0 {
		return known.RetryAfter
	}
	return defaultRetry
}
