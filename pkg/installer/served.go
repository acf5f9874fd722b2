package installer

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/restmapper"

	"github.com/kyma-project/lifecycle-manager/pkg/apply"
	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
	"github.com/kyma-project/lifecycle-manager/pkg/render"
)

const (
	// doubtAfter is how old an answer must be to be requested again because it lacks a kind: several objects of a kind come at once.
	doubtAfter = 2 * time.Second
	// freshFor is how long an answer counts that decides what may be deleted.
	freshFor = 10 * time.Second
)

// served is what a cluster serves: two calls for the first question, none for most others.
type served struct {
	mu      sync.Mutex
	client  discovery.CachedDiscoveryInterface
	mapper  *restmapper.DeferredDiscoveryRESTMapper
	asked   time.Time
	version string
	// defined are the kinds of definitions that were written or read here. Discovery lags behind them by up to some seconds.
	defined map[schema.GroupKind]definition
}

// definition is what a CustomResourceDefinition says about its kind.
type definition struct {
	plural     string
	namespaced bool
	versions   []string // served
	at         time.Time
}

func newServed(client discovery.DiscoveryInterface) *served {
	cached := memory.NewMemCacheClient(client)
	return &served{
		client: cached, mapper: restmapper.NewDeferredDiscoveryRESTMapper(cached), defined: map[schema.GroupKind]definition{},
	}
}

// resource finds where a kind is served; *apply.UnknownKindError when it is not. What discovery says comes first, then what a definition
// says that was just written, then what discovery says now.
func (s *served) resource(_ context.Context, gvk schema.GroupVersionKind) (apply.Resource, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.recordDiscoveryLocked()
	resource, err := s.mapped(gvk)
	if !meta.IsNoMatchError(err) {
		return resource, err
	}
	if defined, ok := s.defined[gvk.GroupKind()]; ok && slices.Contains(defined.versions, gvk.Version) {
		found := gvk.GroupVersion().WithResource(defined.plural)
		return apply.Resource{GroupVersionResource: found, Namespaced: defined.namespaced, WarmingUp: s.isWarmingUp(gvk)}, nil
	}
	if time.Since(s.asked) > doubtAfter {
		s.reset()
		s.recordDiscoveryLocked()
		resource, err = s.mapped(gvk)
	}
	if !meta.IsNoMatchError(err) {
		return resource, err
	}
	unknown := &apply.UnknownKindError{GroupVersionKind: gvk}
	if others, err := s.mapper.RESTMappings(gvk.GroupKind()); err == nil {
		for _, other := range others {
			unknown.Served = append(unknown.Served, other.Resource.Version)
		}
	}
	return apply.Resource{}, unknown
}

// versions returns those in which a kind is served, asked for again: what is served in none is gone. A group that does not answer is an
// error.
func (s *served) versions(_ context.Context, kind schema.GroupKind) ([]string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if time.Since(s.asked) > doubtAfter {
		s.reset()
	}
	s.recordDiscoveryLocked()
	_, lists, err := s.client.ServerGroupsAndResources()
	failed, partly := errors.AsType[*discovery.ErrGroupDiscoveryFailed](err)
	if err != nil && !partly {
		return nil, fmt.Errorf("ask in which versions %s is served: %w", kind, err)
	}
	var versions []string
	for _, list := range lists {
		gv, err := schema.ParseGroupVersion(list.GroupVersion)
		named := func(resource metav1.APIResource) bool {
			return resource.Kind == kind.Kind && !strings.Contains(resource.Name, "/")
		}
		if err == nil && gv.Group == kind.Group && slices.ContainsFunc(list.APIResources, named) {
			versions = append(versions, gv.Version)
		}
	}
	if len(versions) == 0 && partly {
		for gv := range failed.Groups {
			if gv.Group == kind.Group {
				return nil, fmt.Errorf("ask in which versions %s is served: %w", kind, err)
			}
		}
	}
	return versions, nil
}

func (s *served) mapped(gvk schema.GroupVersionKind) (apply.Resource, error) {
	mapping, err := s.mapper.RESTMapping(gvk.GroupKind(), gvk.Version)
	if err != nil {
		return apply.Resource{}, err
	}
	namespaced := mapping.Scope.Name() == meta.RESTScopeNameNamespace
	return apply.Resource{GroupVersionResource: mapping.Resource, Namespaced: namespaced, WarmingUp: s.isWarmingUp(gvk)}, nil
}

func (s *served) isWarmingUp(gvk schema.GroupVersionKind) bool {
	return time.Since(s.defined[gvk.GroupKind()].at) < apply.WarmUp
}

// namespaced returns a render.Scope.
func (s *served) namespaced(gvk schema.GroupVersionKind) (namespaced, known bool) {
	if namespaced, known := render.BuiltinScope(gvk); known {
		return namespaced, true
	}
	resource, err := s.resource(context.Background(), gvk)
	return resource.Namespaced, err == nil
}

// learn takes note of a definition.
func (s *served) learn(object *unstructured.Unstructured) {
	if object.GroupVersionKind().GroupKind() != inventory.CRDKind {
		return
	}
	text := func(path ...string) string {
		value, _, _ := unstructured.NestedString(object.Object, path...)
		return value
	}
	learned := definition{plural: text("spec", "names", "plural"), namespaced: text("spec", "scope") == "Namespaced", at: time.Now()}
	versions, _, _ := unstructured.NestedSlice(object.Object, "spec", "versions")
	for _, item := range versions {
		if version, ok := item.(map[string]any); ok && version["served"] == true {
			name, _ := version["name"].(string)
			learned.versions = append(learned.versions, name)
		}
	}
	kind := schema.GroupKind{Group: text("spec", "group"), Kind: text("spec", "names", "kind")}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.defined[kind] = learned
	s.reset() // what discovery said is out of date, and what it says soon may still be
}

// kinds lists what a namespace may hold. A group that does not respond is an error: it is unknown then what would be lost.
func (s *served) kinds(context.Context) ([]apply.KindResource, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if time.Since(s.asked) > freshFor {
		s.reset()
	}
	s.recordDiscoveryLocked()
	lists, err := s.client.ServerPreferredResources()
	if err != nil {
		return nil, fmt.Errorf("ask which kinds are served: %w", err)
	}
	var kinds []apply.KindResource
	for _, list := range lists {
		gv, err := schema.ParseGroupVersion(list.GroupVersion)
		if err != nil {
			continue
		}
		for i := range list.APIResources {
			resource := &list.APIResources[i]
			if strings.Contains(resource.Name, "/") || !slices.Contains(resource.Verbs, "list") || !slices.Contains(resource.Verbs, "delete") {
				continue
			}
			kinds = append(kinds, apply.KindResource{Kind: resource.Kind, Resource: apply.Resource{
				GroupVersionResource: gv.WithResource(resource.Name), Namespaced: resource.Namespaced,
			}})
		}
	}
	return kinds, nil
}

// capabilities returns what templates may ask: the version of the API server, the versions of groups, and the kinds in them.
func (s *served) capabilities() (version string, apis []string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.version == "" {
		told, err := s.client.ServerVersion()
		if err != nil {
			return "", nil, err
		}
		s.version = told.GitVersion
	}
	s.recordDiscoveryLocked()
	_, lists, err := s.client.ServerGroupsAndResources()
	if err != nil && !discovery.IsGroupDiscoveryFailedError(err) { // a server that does not answer now hides its group only
		return "", nil, err
	}
	for _, list := range lists {
		apis = append(apis, list.GroupVersion)
		for i := range list.APIResources {
			apis = append(apis, list.GroupVersion+"/"+list.APIResources[i].Kind)
		}
	}
	slices.Sort(apis)
	return s.version, slices.Compact(apis), nil
}

// recordDiscoveryLocked notes when discovery is asked. The caller holds the lock, as in reset.
func (s *served) recordDiscoveryLocked() {
	if s.asked.IsZero() {
		s.asked = time.Now()
	}
}

func (s *served) reset() {
	s.mapper.Reset()
	s.asked = time.Time{}
}
