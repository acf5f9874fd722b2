package content

import "context"

type freshKey struct{}

// WithoutCache returns a context in which Fetch requests content from its origin even if the store has it, so that it succeeds only for a
// caller who can read it there. Otherwise, knowing a digest is enough to read stored content, which is acceptable only for callers who have
// fetched it before.
func WithoutCache(ctx context.Context) context.Context {
	return context.WithValue(ctx, freshKey{}, true)
}

func isFresh(ctx context.Context) bool {
	fresh, _ := ctx.Value(freshKey{}).(bool)
	return fresh
}
