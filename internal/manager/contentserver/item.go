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
	// Reference is the source as the spec names it.
	Reference string
	// Digest ("sha256:...") identifies the content: the same Digest always has the same Tree.
	Digest string
	// MediaType as declared by the source of the content; may be empty.
	MediaType string
	// Tree is the content itself. Nil means that this replica does not have it yet, although it has others of the Manifest.
	Tree *content.Tree
}

// Contents returns the items of a Manifest in order: ErrNotFound when there is no such Manifest, ErrPending (or Pending) when its content
// is being fetched. It should not wait for a fetch, but start it and return ErrPending.
type Contents func(ctx context.Context, namespace, manifest string) ([]Item, error)

var (
	// ErrNotFound means that there is no such Manifest, or that none of its sources was resolved.
	ErrNotFound = errors.New("no such content")
	// ErrPending means that this replica is fetching the content.
	ErrPending = errors.New("the content is being fetched")
)

// defaultRetry is the Retry-After where no better value is known.
const defaultRetry = 5 * time.Second

// Pending returns an ErrPending with the time after which to ask again.
func Pending(after time.Duration) error { return &pending{after: after} }

type pending struct{ after time.Duration }

// Error returns a message with the time after which to ask again.
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
