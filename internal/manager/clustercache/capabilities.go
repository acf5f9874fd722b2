package clustercache

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
	"unique"

	"github.com/kyma-project/lifecycle-manager/internal/manager/clustercache/wire"
	"github.com/kyma-project/lifecycle-manager/internal/manager/runtimes"
	"github.com/kyma-project/lifecycle-manager/pkg/apply"
)

const (
	// kindsFor is how long Kinds uses the previous discovery: for the objects that are deleted together.
	kindsFor = 10 * time.Second
	// partialFor is how long a discovery without all groups is used.
	partialFor = time.Minute
)

// discoveryCache caches what a runtime serves, as of the last discovery.
type discoveryCache struct {
	calling ctxMutex // one asks, the others find its answer

	mu      sync.Mutex
	changed uint // how often what was told has become doubtful
	version struct {
		text string
		at   uint // changed, when it was requested
	}
	document *discoveryResult
}

// document is the result of a discovery. The lists are stored once for all runtimes that serve the same.
type discoveryResult struct {
	apis   unique.Handle[string] // Capabilities.APIVersions, one a line
	kinds  unique.Handle[string] // []apply.KindResource as JSON
	failed []string              // groups and versions, the servers of which did not answer
	asked  time.Time
	at     uint // surface.changed, when it was requested
}

// Capabilities returns what the runtime serves: three calls the first time, none afterwards. It discovers again
//  1. when a CustomResourceDefinition was observed that the cached result lacks, or one was deleted, or an APIService was written,
//  2. after each audit, for what others installed, and for an upgrade of the cluster,
//  3. a minute after a result without a group whose server did not respond. What was known of that group is kept.
//
// No call is made until a caller asks.
func (r *Runtime) Capabilities(ctx context.Context) (runtimes.Capabilities, error) {
	s := &r.discoveryCache
	leave, err := s.calling.enter(ctx)
	if err != nil {
		return runtimes.Capabilities{}, err
	}
	defer leave()
	d, err := r.discoverLocked(ctx, func(d *discoveryResult) bool { return len(d.failed) == 0 || time.Since(d.asked) < partialFor })
	if err != nil {
		return runtimes.Capabilities{}, err
	}
	s.mu.Lock()
	told, at, changed := s.version.text, s.version.at, s.changed
	s.mu.Unlock()
	if told == "" || at != changed {
		if told, err = r.kubeVersion(ctx); err != nil {
			return runtimes.Capabilities{}, err
		}
		s.mu.Lock()
		s.version.text, s.version.at = told, changed
		s.mu.Unlock()
	}
	return runtimes.Capabilities{KubeVersion: told, APIVersions: r.served.addVersions(strings.Split(d.apis.Value(), "\n"))}, nil
}

// Kinds returns the kinds whose objects can be listed and deleted, each in the version that the runtime prefers. It is as fresh as a
// decision to delete must be: a result is valid for ten seconds, and then costs two calls. It may name a kind that was removed a moment
// ago, but never misses one that the manager itself has created. When the server behind a group does not respond, Kinds returns an error,
// because the content of a namespace is unknown then.
func (r *Runtime) Kinds(ctx context.Context) ([]apply.KindResource, error) {
	d, err := r.recent(ctx)
	if err != nil {
		return nil, err
	}
	if len(d.failed) > 0 {
		return nil, fmt.Errorf(
			"the %s does not list all of its kinds, because the server behind %s does not answer; repair that server, or delete its APIService",
			r.conn.target, strings.Join(d.failed, ", "))
	}
	var kinds []apply.KindResource
	if err := wire.ReadValue([]byte(d.kinds.Value()), &kinds); err != nil {
		return nil, err
	}
	return r.served.addKinds(kinds), nil
}

// recent returns a discovery that is fresh enough to delete by.
func (r *Runtime) recent(ctx context.Context) (*discoveryResult, error) {
	leave, err := r.discoveryCache.calling.enter(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	return r.discoverLocked(ctx, func(d *discoveryResult) bool { return len(d.failed) == 0 && time.Since(d.asked) < kindsFor })
}

// discoverLocked returns the last discovery if it is good enough, and discovers again otherwise. The caller holds calling.
func (r *Runtime) discoverLocked(ctx context.Context, good func(*discoveryResult) bool) (*discoveryResult, error) {
	s := &r.discoveryCache
	s.mu.Lock()
	last, changed := s.document, s.changed
	s.mu.Unlock()
	if last != nil && last.at == changed && good(last) && !r.served.outdated(last) {
		return last, nil
	}
	asked := time.Now()
	found, err := r.discover(ctx)
	if err != nil {
		return nil, err
	}
	next := found.buildResult(last)
	next.asked, next.at = asked, changed
	s.mu.Lock()
	defer s.mu.Unlock()
	s.document = next
	return next, nil
}

// doubt invalidates the cached discovery.
func (s *discoveryCache) invalidate() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.changed++
}

// kubeVersion requests the version of the API server.
func (r *Runtime) kubeVersion(ctx context.Context) (string, error) {
	data, err := r.fetch(ctx, r.conn.base.JoinPath("version"), acceptFull)
	if err != nil {
		return "", err
	}
	told, err := readVersion(bytes.NewReader(data))
	if err != nil {
		return "", fmt.Errorf("the version of the %s cannot be read: %w", r.conn.target, err)
	}
	return told, nil
}

// outdated reports whether CustomResourceDefinitions that are newer than the document contradict it.
func (s *resources) outdated(d *discoveryResult) bool {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.gone.After(d.asked) {
		return true
	}
	var apis []string
	for _, defined := range s.defined {
		if !defined.at.After(d.asked) {
			continue
		}
		if apis == nil {
			apis = strings.Split(d.apis.Value(), "\n")
		}
		if !defined.isListedIn(apis) {
			return true
		}
	}
	return false
}

// isListedIn reports whether a list of API versions has the definition's, and no others of its kind.
func (d *definition) isListedIn(apis []string) bool {
	count := 0
	for _, api := range apis {
		if strings.HasPrefix(api, d.kind.Group+"/") && strings.HasSuffix(api, "/"+d.kind.Kind) {
			count++
		}
	}
	return count == len(d.versions) && !slices.ContainsFunc(d.versions, func(version string) bool {
		return !slices.Contains(apis, d.kind.WithVersion(version).GroupVersion().String()+"/"+d.kind.Kind)
	})
}

// addVersions adds the versions of observed CRDs: an API server serves a kind in discovery a moment after it has accepted the CRD.
func (s *resources) addVersions(apis []string) []string {
	s.mu.RLock()
	defer s.mu.RUnlock()
	for _, d := range s.defined {
		for _, version := range d.versions {
			gv := d.kind.WithVersion(version).GroupVersion().String()
			apis = append(apis, gv, gv+"/"+d.kind.Kind)
		}
	}
	slices.Sort(apis)
	return slices.Compact(apis)
}

// addKinds does the same for kinds.
func (s *resources) addKinds(kinds []apply.KindResource) []apply.KindResource {
	s.mu.RLock()
	defer s.mu.RUnlock()
	for _, d := range s.defined {
		known := slices.ContainsFunc(kinds, func(k apply.KindResource) bool { return k.Group == d.kind.Group && k.Resource.Resource == d.plural })
		if known || len(d.versions) == 0 {
			continue
		}
		gvr := d.kind.WithVersion(newest(d.versions)).GroupVersion().WithResource(d.plural)
		kinds = append(kinds, apply.KindResource{
			Kind: d.kind.Kind, Resource: apply.Resource{GroupVersionResource: gvr, Namespaced: d.namespaced},
		})
	}
	return kinds
}
