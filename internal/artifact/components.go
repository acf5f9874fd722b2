package artifact

import (
	"cmp"
	"context"
	"time"

	"k8s.io/utils/lru"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/module"
	"github.com/kyma-project/lifecycle-manager/pkg/component/descriptor"
)

const (
	// keptComponents bounds the cache: a fleet uses some dozens of modules in some versions each.
	keptComponents = 4096
)

// Components reads component versions and keeps what they say.
type Components struct {
	reader *descriptor.Reader
	known  *lru.Cache
	calls  *calls[module.ComponentKey, module.Component]
}

// NewComponents reads from the registry of reader.
func NewComponents(reader *descriptor.Reader) *Components {
	return &Components{reader: reader, known: lru.New(keptComponents), calls: newCalls[module.ComponentKey, module.Component]()}
}

// Describe tells what a component version can install. What cannot be read comes back with a reason, and with the time after
// which it is worth asking again; until then the answer costs no request. One that takes its time to be read is pending.
func (c *Components) Describe(ctx context.Context, key module.ComponentKey) (module.Component, time.Duration) {
	if component, ok := c.recall(key); ok {
		return component, 0
	}
	component, retry, err := c.calls.do(ctx, key, func(ctx context.Context) (module.Component, error) { return c.read(ctx, key) })
	switch {
	case err != nil:
		return unreadable(err), retry
	case retry > 0:
		return module.Component{Pending: true}, retry
	default:
		return component, 0
	}
}

func (c *Components) recall(key module.ComponentKey) (module.Component, bool) {
	known, _ := c.known.Get(key)
	component, ok := known.(module.Component)
	return component, ok
}

func (c *Components) read(ctx context.Context, key module.ComponentKey) (module.Component, error) {
	if component, ok := c.recall(key); ok {
		return component, nil // read since the caller looked
	}
	found, err := c.reader.Get(ctx, key.Name, key.Version)
	if err != nil {
		return module.Component{}, err
	}
	component, err := installable(found)
	if err != nil {
		return module.Component{}, err
	}
	c.known.Add(key, component)
	return component, nil
}

func unreadable(err error) module.Component {
	return module.Component{Reason: cmp.Or(descriptor.ReasonOf(err), v1beta2.ReasonInternal), Message: err.Error()}
}
