package fleet

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
	"unique"

	"k8s.io/apimachinery/pkg/util/version"

	"github.com/kyma-project/lifecycle-manager/pkg/apply"
)

const (
	// kindsFor is how long Kinds answers from memory: for the objects that are deleted together.
	kindsFor = 10 * time.Second
	// partialFor is how long an answer counts that could not tell all groups.
	partialFor = time.Minute
	maxVersion = 100
)

// Capabilities are what templates may ask of the cluster that they are rendered for.
type Capabilities struct {
	// KubeVersion is the version of the API server, such as "v1.36.3".
	KubeVersion string
	// APIVersions lists the groups and versions that are served ("apps/v1") and the kinds in them ("apps/v1/Deployment"), sorted. It is
	// what Helm's own client finds, and the groups whose servers do not answer at the moment besides.
	APIVersions []string
}

// surface is what a runtime serves, as it told last.
type surface struct {
	calling door // one asks, the others find its answer

	mu      sync.Mutex
	changed uint // how often what was told has become doubtful
	version struct {
		text string
		at   uint // changed, when it was asked for
	}
	document *document
}

// document is an answer to the question what is served. The lists are stored once for all runtimes that serve the same.
type document struct {
	apis   unique.Handle[string] // Capabilities.APIVersions, one a line
	kinds  unique.Handle[string] // []apply.KindResource as JSON
	failed []string              // groups and versions, the servers of which did not answer
	asked  time.Time
	at     uint // surface.changed, when it was asked for
}

// Capabilities tells what the runtime serves: three calls for the first question, none for the next ones. It is asked again
//  1. when a CustomResourceDefinition was learned that the answer does not show, or one went, or an APIService was written,
//  2. after each audit, for what others installed, and for an upgrade of the cluster,
//  3. a minute after an answer without a group, the server of which did not answer. What was known of that group counts on.
//
// Nothing is called while nobody asks.
func (r *Runtime) Capabilities(ctx context.Context) (Capabilities, error) {
	s := &r.surface
	leave, err := s.calling.enter(ctx)
	if err != nil {
		return Capabilities{}, err
	}
	defer leave()
	d, err := r.documented(ctx, func(d *document) bool { return len(d.failed) == 0 || time.Since(d.asked) < partialFor })
	if err != nil {
		return Capabilities{}, err
	}
	s.mu.Lock()
	told, at, changed := s.version.text, s.version.at, s.changed
	s.mu.Unlock()
	if told == "" || at != changed {
		if told, err = r.kubeVersion(ctx); err != nil {
			return Capabilities{}, err
		}
		s.mu.Lock()
		s.version.text, s.version.at = told, changed
		s.mu.Unlock()
	}
	return Capabilities{KubeVersion: told, APIVersions: r.served.addVersions(strings.Split(d.apis.Value(), "\n"))}, nil
}

// Kinds lists the kinds whose objects can be listed and deleted, each in the version that the runtime prefers. It is as fresh as a decision
// to delete has to be: an answer counts for ten seconds, and then costs two calls. It may name a kind that went a moment ago, never miss
// one that a write of ours has brought. When the server behind a group does not answer there is none, because nobody knows then what a
// namespace holds.
func (r *Runtime) Kinds(ctx context.Context) ([]apply.KindResource, error) {
	d, err := r.recent(ctx)
	if err != nil {
		return nil, err
	}
	if len(d.failed) > 0 {
		return nil, fmt.Errorf(
			"the %s does not tell all of its kinds, because the server behind %s does not answer; repair that server, or delete its APIService",
			r.conn.target, strings.Join(d.failed, ", "))
	}
	var kinds []apply.KindResource
	if err := readValue([]byte(d.kinds.Value()), &kinds); err != nil {
		return nil, err
	}
	return r.served.addKinds(kinds), nil
}

// recent returns an answer that is fresh enough to delete by.
func (r *Runtime) recent(ctx context.Context) (*document, error) {
	leave, err := r.surface.calling.enter(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	return r.documented(ctx, func(d *document) bool { return len(d.failed) == 0 && time.Since(d.asked) < kindsFor })
}

// documented gives the last answer when it is good enough, and asks otherwise. The caller holds calling.
func (r *Runtime) documented(ctx context.Context, good func(*document) bool) (*document, error) {
	s := &r.surface
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
	next := found.document(last)
	next.asked, next.at = asked, changed
	s.mu.Lock()
	defer s.mu.Unlock()
	s.document = next
	return next, nil
}

// doubt has the next question asked anew.
func (s *surface) doubt() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.changed++
}

// kubeVersion asks for the version of the API server.
func (r *Runtime) kubeVersion(ctx context.Context) (string, error) {
	data, err := r.fetch(ctx, r.conn.base.JoinPath("version"), acceptFull)
	if err != nil {
		return "", err
	}
	var info struct {
		GitVersion string `json:"gitVersion"`
	}
	if err := readValue(data, &info); err != nil {
		return "", fmt.Errorf("the version of the %s cannot be read: %w", r.conn.target, err)
	}
	if _, err := version.ParseGeneric(info.GitVersion); err != nil || len(info.GitVersion) > maxVersion {
		return "", fmt.Errorf("the %s tells %.*q for its version, which is none", r.conn.target, maxVersion, info.GitVersion)
	}
	return info.GitVersion, nil
}

// outdated says that definitions tell otherwise than a document that is older than they are.
func (s *resources) outdated(d *document) bool {
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
		if !defined.shownIn(apis) {
			return true
		}
	}
	return false
}

// shownIn says that a list of API versions has the definition's, and no others of its kind.
func (d *definition) shownIn(apis []string) bool {
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

// addVersions adds what definitions tell: an API server shows a kind in its documents a moment after it has accepted it.
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
