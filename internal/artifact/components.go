package artifact

import (
	"context"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"
	"k8s.io/client-go/util/flowcontrol"
	"k8s.io/utils/lru"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/module"
	"github.com/kyma-project/lifecycle-manager/pkg/component/descriptor"
)

const (
	// rawManifest is the resource of a component version that is installed.
	rawManifest = "raw-manifest"
	// keptComponents bounds the cache: a fleet uses some dozens of modules in some versions each.
	keptComponents = 4096
	// shortestPause and longestPause bound the back-off after a component version could not be read.
	shortestPause = 2 * time.Second
	longestPause  = time.Minute
)

// Components reads component versions and keeps what they say.
type Components struct {
	reader  *descriptor.Reader
	known   *lru.Cache
	flights singleflight.Group
	backoff *flowcontrol.Backoff

	mu     sync.Mutex
	failed map[module.ComponentKey]module.Component
}

// NewComponents reads from the registry of reader.
func NewComponents(reader *descriptor.Reader) *Components {
	return &Components{
		reader:  reader,
		known:   lru.New(keptComponents),
		backoff: flowcontrol.NewBackOff(shortestPause, longestPause),
		failed:  map[module.ComponentKey]module.Component{},
	}
}

// Describe tells what a component version can install. What cannot be read comes back with a reason, and with the time after
// which it is worth asking again; until then the answer costs no request.
func (c *Components) Describe(ctx context.Context, key module.ComponentKey) (module.Component, time.Duration) {
	if known, ok := c.known.Get(key); ok {
		component, _ := known.(module.Component)
		return component, 0
	}
	id := key.Name + ":" + key.Version
	if failed, pause := c.pausing(key, id); pause > 0 {
		return failed, pause
	}
	answer, _, _ := c.flights.Do(id, func() (any, error) { return c.read(ctx, key, id), nil })
	component, _ := answer.(module.Component)
	if component.Reason == "" {
		return component, 0
	}
	return component, max(c.backoff.Get(id), shortestPause)
}

func (c *Components) pausing(key module.ComponentKey, id string) (module.Component, time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	failed, ok := c.failed[key]
	if !ok || !c.backoff.IsInBackOffSinceUpdate(id, c.backoff.Clock.Now()) {
		return module.Component{}, 0
	}
	return failed, c.backoff.Get(id)
}

func (c *Components) read(ctx context.Context, key module.ComponentKey, id string) module.Component {
	component := c.fetch(ctx, key)
	c.mu.Lock()
	defer c.mu.Unlock()
	if component.Reason != "" {
		c.failed[key] = component
		c.backoff.Next(id, c.backoff.Clock.Now())
		return component
	}
	delete(c.failed, key)
	c.backoff.DeleteEntry(id)
	c.known.Add(key, component)
	return component
}

func (c *Components) fetch(ctx context.Context, key module.ComponentKey) module.Component {
	found, err := c.reader.Get(ctx, key.Name, key.Version)
	if err != nil {
		return unreadable(err)
	}
	digest, _, directory, err := found.Layer(rawManifest)
	if err != nil {
		return unreadable(err)
	}
	source := &v1beta2.ImageSpec{Repo: found.Repository, Name: found.RepositoryName, Ref: digest, Type: v1beta2.RefTypeOCI}
	if directory {
		source.Type = v1beta2.RefTypeOCIDir
	}
	var images []string
	for _, resource := range found.Resources {
		if resource.Access.Type == "ociArtifact" {
			images = append(images, resource.Access.ImageReference)
		}
	}
	return module.Component{Source: source, LocalizedImages: images}
}

func unreadable(err error) module.Component {
	reason := descriptor.ReasonOf(err)
	if reason == "" {
		reason = v1beta2.ReasonRegistryUnreachable
	}
	return module.Component{Reason: reason, Message: err.Error()}
}
