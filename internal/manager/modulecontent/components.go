package modulecontent

import (
	"cmp"
	"context"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/utils/lru"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/installable"
	"github.com/kyma-project/lifecycle-manager/internal/module"
	"github.com/kyma-project/lifecycle-manager/pkg/component/descriptor"
)

const (
	// keptComponents is the size of the cache: a fleet uses some dozens of modules in a few versions each.
	keptComponents = 1024
	// doubtPause is the interval at which a component version that cannot be installed is read again.
	doubtPause = 45 * time.Second
)

// Components reads component versions and caches them.
type Components struct {
	// Signatures returns the policy for the signatures of a component; nil requires nothing. As long as it returns the same pointer, a
	// component is not judged again.
	Signatures func(component string) *descriptor.SignaturePolicy
	// Log gets a line, once, for missing or invalid signatures that the policy tolerates.
	Log logr.Logger

	reader *descriptor.Reader
	known  *lru.Cache
	calls  *calls[readKey, *judgement]
}

// readKey identifies a read. A failure under one policy does not apply to another.
type readKey struct {
	module.ComponentKey
	policy *descriptor.SignaturePolicy
}

// NewComponents returns Components that read from the registry of reader.
func NewComponents(reader *descriptor.Reader) *Components {
	// All of them are read from one registry.
	calls := newCalls[readKey, *judgement](newGate(callsAtOnce, callsAtOnce), func(readKey) string { return "" })
	return &Components{reader: reader, known: lru.New(keptComponents), calls: calls}
}

// Describe returns what a component version can install. One that cannot be read, or is not signed as required, is returned with a reason,
// and with the time after which to ask again; until then the answer costs no request. One that takes long to read is pending, unless it was
// read before.
func (c *Components) Describe(ctx context.Context, key module.ComponentKey) (module.Component, time.Duration) {
	judged, retry, err := c.judge(ctx, key)
	switch {
	case err != nil:
		return unreadable(err), retry
	case judged == nil:
		return module.Component{Pending: true}, retry
	default:
		return judged.component, retry
	}
}

// judge returns the judgement of a component version under the current policy. One that is refused is read again from time to time: it may
// have been signed.
func (c *Components) judge(ctx context.Context, key module.ComponentKey) (judged *judgement, retry time.Duration, err error) {
	asked := readKey{ComponentKey: key}
	if c.Signatures != nil {
		asked.policy = c.Signatures(key.Name)
	}
	read := func(ctx context.Context) (*judgement, error) { return c.read(ctx, asked) }
	known := c.cached(key)
	if known == nil {
		return c.calls.do(ctx, asked, read)
	}
	judged = known.judge(asked.policy, c.calls.now(), c.Log)
	if judged.err != nil {
		return c.calls.do(ctx, asked, read)
	}
	if known.stale(c.calls.now()) {
		if again, retry, err := c.calls.do(ctx, asked, read); err == nil {
			return cmp.Or(again, judged), retry, nil // the known version counts until the registry has answered
		}
	}
	return judged, 0, nil
}

// MarkSuspect records that the content of a component version cannot be installed. The cached version stays, but the next caller after a
// pause reads it from the registry again, in case the version was published again. It returns that pause.
func (c *Components) MarkSuspect(key module.ComponentKey) time.Duration {
	if known := c.cached(key); known != nil {
		known.doubted.Store(true)
	}
	return doubtPause
}

func (c *Components) cached(key module.ComponentKey) *described {
	known, _ := c.known.Get(key)
	found, _ := known.(*described)
	return found
}

func (c *Components) read(ctx context.Context, asked readKey) (*judgement, error) {
	known := c.cached(asked.ComponentKey)
	if known != nil && !known.stale(c.calls.now()) {
		if judged := known.judge(asked.policy, c.calls.now(), c.Log); judged.err == nil {
			return judged, nil // read since the caller checked
		}
	}
	found, err := c.reader.Get(ctx, asked.Name, asked.Version)
	if err != nil {
		if known != nil {
			known.read.Store(c.calls.now().UnixNano())
			judged := known.judge(asked.policy, c.calls.now(), c.Log)
			return judged, judged.err // the registry did not return the version
		}
		return nil, err
	}
	component, err := installable.Of(found)
	if err != nil {
		return nil, err
	}
	known = &described{component: component, source: found}
	known.read.Store(c.calls.now().UnixNano())
	c.known.Add(asked.ComponentKey, known)
	judged := known.judge(asked.policy, c.calls.now(), c.Log)
	return judged, judged.err
}

func unreadable(err error) module.Component {
	return module.Component{Reason: cmp.Or(descriptor.ReasonOf(err), v1beta2.ReasonInternal), Message: err.Error()}
}

// Known returns a component version that was read already, whatever its signatures are worth. It asks no registry.
func (c *Components) Known(key module.ComponentKey) (component module.Component, known bool) {
	found := c.cached(key)
	if found == nil {
		return module.Component{}, false
	}
	return found.component, true
}
