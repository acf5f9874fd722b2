package content

import "context"

type freshKey struct{}

// Fresh is a context in which Fetch asks the place itself for everything that others may have put into the store: so it succeeds only for
// whoever can read the content there. Without it the name of some content is enough to read it, which is right only for those who have
// fetched it before.
func Fresh(ctx context.Context) context.Context { return context.WithValue(ctx, freshKey{}, true) }

func isFresh(ctx context.Context) bool {
	fresh, _ := ctx.Value(freshKey{}).(bool)
	return fresh
}
