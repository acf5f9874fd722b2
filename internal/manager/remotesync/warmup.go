package remotesync

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// youth is how long a kind counts as new to a runtime. An API server holds a create back for two seconds when it comes within two seconds
// after the definition was established, for other API servers of the cluster may not know the kind yet; the clocks of two machines may
// differ by the rest. It is a variable for tests: on a slow machine a kind would not be new any more when they check it.
var youth = 4 * time.Second

// IsWarmingUp reports whether a definition is so new to a runtime that its API server would hold a create of an object of that kind back,
// and a worker with it. An apply returns at once; where an API server does not know the kind yet, with an error that passes. The answer is
// what the streams of the runtime showed, without a call.
func IsWarmingUp(runtime Runtime, definition string) bool {
	return time.Since(runtime.EstablishedSince(definition)) < youth
}

func (p *pass) isWarmingUp(ctx context.Context, kind schema.GroupVersionKind) (bool, error) {
	resource, err := p.Resource(ctx, kind)
	if err != nil {
		return false, err
	}
	return IsWarmingUp(p.runtime, resource.GroupResource().String()), nil
}
