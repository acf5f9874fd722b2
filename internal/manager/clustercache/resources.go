package clustercache

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kyma-project/lifecycle-manager/internal/manager/clustercache/wire"
	"github.com/kyma-project/lifecycle-manager/pkg/apply"
	"github.com/kyma-project/lifecycle-manager/pkg/render"
)

// unknownFor is how long a kind that was not found is not requested again: several objects of it come at once. A kind that is about to be
// served is requested sooner.
const unknownFor = 5 * time.Second

// resources finds where a runtime serves a kind, without a RESTMapper: most kinds are Kubernetes' own and need no call, the
// CustomResourceDefinitions of a module define its kinds, and the rest is one small discovery call per group and version.
type resources struct {
	discover func(ctx context.Context, gv schema.GroupVersion) ([]metav1.APIResource, error)

	mu      sync.RWMutex
	defined map[string]definition // by the name of the CustomResourceDefinition
	gone    time.Time             // when a definition last ceased to hold
	listed  map[schema.GroupVersion]*discovered
	calling ctxMutex // one discovery call at a time: the second caller finds the answer of the first
}

// definition holds what a CustomResourceDefinition says about its kind.
type definition struct {
	kind       schema.GroupKind
	plural     string
	namespaced bool
	versions   []string
	uid        types.UID
	at         time.Time // when it was observed
	leaving    bool      // it is being deleted
	doubted    bool      // it was not there when it was requested; what it says is only a hint until it is read again
}

// discovered holds what one group and version serves.
type discovered struct {
	kinds map[string]apply.Resource
	at    time.Time
}

// find returns the resource of a kind, or *apply.UnknownKindError when the runtime does not serve it.
func (s *resources) find(ctx context.Context, gvk schema.GroupVersionKind) (apply.Resource, error) {
	if resource, err, ok := s.known(gvk); ok {
		return resource, err
	}
	leave, err := s.calling.enter(ctx)
	if err != nil {
		return apply.Resource{}, err
	}
	defer leave()
	if resource, err, ok := s.known(gvk); ok {
		return resource, err
	}
	list, err := s.discover(ctx, gvk.GroupVersion())
	if err != nil && apply.Classify(err) != apply.ClassKindUnknown {
		return apply.Resource{}, err
	}
	s.keep(gvk.GroupVersion(), list)
	resource, err, _ := s.known(gvk)
	return resource, err
}

// known answers from the cache; ok is false when a call is needed.
//
//nolint:revive // the error is an answer here, and ok says whether there is one
func (s *resources) known(gvk schema.GroupVersionKind) (resource apply.Resource, err error, ok bool) {
	if namespaced, builtin := render.BuiltinScope(gvk); builtin {
		plural, _ := meta.UnsafeGuessKindToResource(gvk)
		return apply.Resource{GroupVersionResource: plural, Namespaced: namespaced}, nil, true
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	d := s.definition(gvk.GroupKind())
	recent := d.isRecent()
	warmingUp := recent && !d.leaving
	if !d.doubted && slices.Contains(d.versions, gvk.Version) {
		gvr := gvk.GroupVersion().WithResource(d.plural)
		return apply.Resource{GroupVersionResource: gvr, Namespaced: d.namespaced, WarmingUp: warmingUp}, nil, true
	}
	asked, holds := d.at, unknownFor
	if d.doubted {
		asked = time.Time{}
		if recent {
			holds = firstPause / 2
		}
	}
	if list := s.listed[gvk.GroupVersion()]; list != nil {
		if resource, found := list.kinds[gvk.Kind]; found {
			resource.WarmingUp = resource.WarmingUp && warmingUp
			return resource, nil, true
		}
		if list.at.After(asked) {
			asked = list.at
		}
	}
	return resource, &apply.UnknownKindError{GroupVersionKind: gvk, Served: d.versions}, time.Since(asked) < holds
}

// definition returns the definition of a kind; it has no versions when none was observed.
func (s *resources) definition(gk schema.GroupKind) definition {
	for _, d := range s.defined {
		if d.kind == gk {
			return d
		}
	}
	return definition{}
}

// keep stores a discovery result. A missing kind is cached for a moment only. One that is served without the verb create does not warm up:
// its definition is being deleted, which an object that is made nevertheless would hold up.
func (s *resources) keep(gv schema.GroupVersion, list []metav1.APIResource) {
	kinds := make(map[string]apply.Resource, len(list))
	for i := range list {
		if name := list[i].Name; !strings.Contains(name, "/") { // not a subresource
			kinds[list[i].Kind] = apply.Resource{
				GroupVersionResource: gv.WithResource(name), Namespaced: list[i].Namespaced, WarmingUp: slices.Contains(list[i].Verbs, "create"),
			}
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.listed[gv] = &discovered{kinds: kinds, at: time.Now()}
}

// namespaced returns a kind's scope without a call, in whatever version it is known.
func (s *resources) namespaced(gvk schema.GroupVersionKind) (namespaced, known bool) {
	if namespaced, known = render.BuiltinScope(gvk); known {
		return namespaced, known
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	if d := s.definition(gvk.GroupKind()); d.plural != "" {
		return d.namespaced, true
	}
	for gv, list := range s.listed {
		if resource, found := list.kinds[gvk.Kind]; found && gv.Group == gvk.Group {
			return resource.Namespaced, true
		}
	}
	return false, false
}

// observeDefinition stores what a CustomResourceDefinition says, and forgets older discovery results.
func (s *resources) observeDefinition(crd *unstructured.Unstructured) {
	text := func(path ...string) string {
		value, _, _ := unstructured.NestedString(crd.Object, path...)
		return value
	}
	d := definition{
		kind:       schema.GroupKind{Group: text("spec", "group"), Kind: text("spec", "names", "kind")},
		plural:     text("spec", "names", "plural"),
		namespaced: text("spec", "scope") == "Namespaced",
		uid:        crd.GetUID(),
		at:         time.Now(),
		leaving:    crd.GetDeletionTimestamp() != nil,
	}
	versions, _, _ := unstructured.NestedFieldNoCopy(crd.Object, "spec", "versions") // their schemas are large
	list, _ := versions.([]any)
	for _, v := range list {
		version, _ := v.(map[string]any)
		if name, _ := version["name"].(string); version["served"] == true {
			d.versions = append(d.versions, name)
		}
	}
	if d.kind.Group == "" || d.kind.Kind == "" || d.plural == "" || d.isInvalid() {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if before := s.defined[crd.GetName()]; before.leaving && before.uid == d.uid {
		d.leaving = true // this is from before: what is being deleted stays so
	}
	s.defined[crd.GetName()] = d
	s.forgetGroup(d.kind.Group)
}

// isInvalid reports whether no API server would have accepted the definition.
func (d *definition) isInvalid() bool {
	const word, many = 253, 100
	long := func(text string) bool { return len(text) > word }
	return len(d.versions) > many || slices.ContainsFunc(append([]string{d.kind.Group, d.kind.Kind, d.plural}, d.versions...), long)
}

// isWarmingUp reports whether a kind's definition was observed moments ago. An API server serves a kind some moments after it has reported
// the definition as established, and the other servers of the cluster some moments after that.
func (s *resources) isWarmingUp(gk schema.GroupKind) bool {
	s.mu.RLock()
	defer s.mu.RUnlock()
	d := s.definition(gk)
	return d.isRecent()
}

func (d *definition) isRecent() bool { return time.Since(d.at) < apply.WarmUp }

// markLeaving records that a CustomResourceDefinition is being deleted: nothing may be made of its kind any more.
func (s *resources) markLeaving(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if d, ok := s.defined[name]; ok {
		d.leaving = true
		s.defined[name] = d
	}
}

// forgetDefinition records that a CustomResourceDefinition was deleted.
func (s *resources) forgetDefinition(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.defined, name)
	s.gone = time.Now()
	_, group, _ := strings.Cut(name, ".")
	s.forgetGroup(group)
}

// forget invalidates the cache of a group, because it turned out to be wrong, so that the next lookup calls the API server. This happens
// for a moment after a definition was created or changed, and the definition is not read again by itself: it stays as a hint, so that
// a version that is not served is not taken for a kind that is not served.
func (s *resources) forget(group string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for name, d := range s.defined {
		if d.kind.Group == group {
			d.doubted = true
			s.defined[name] = d
		}
	}
	s.gone = time.Now()
	s.forgetGroup(group)
}

func (s *resources) forgetGroup(group string) {
	for gv := range s.listed {
		if gv.Group == group {
			delete(s.listed, gv)
		}
	}
}

// discovery makes the discovery call of one group and version.
func (r *Runtime) discovery(ctx context.Context, gv schema.GroupVersion) ([]metav1.APIResource, error) {
	at := r.conn.base.JoinPath("apis", gv.Group, gv.Version)
	if gv.Group == "" {
		at = r.conn.base.JoinPath("api", gv.Version)
	}
	data, err := r.fetch(ctx, at, acceptFull)
	if err != nil {
		return nil, err
	}
	var list metav1.APIResourceList
	if err := wire.ReadValue(data, &list); err != nil {
		return nil, err
	}
	return list.APIResources, nil
}
