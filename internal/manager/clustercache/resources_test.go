package clustercache

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kyma-project/lifecycle-manager/pkg/apply"
)

// newResources returns a resolver without a runtime; the discovery results are keyed by group and version.
func newResources(answers map[string][]metav1.APIResource) (s *resources, asked map[string]int) {
	asked = map[string]int{}
	return &resources{
		defined: map[string]definition{}, listed: map[schema.GroupVersion]*discovered{}, calling: (&connection{ctx: context.Background()}).newMutex(),
		discover: func(_ context.Context, gv schema.GroupVersion) ([]metav1.APIResource, error) {
			asked[gv.String()]++
			list, ok := answers[gv.String()]
			if !ok {
				return nil, apierrors.NewGenericServerResponse(404, "get", schema.GroupResource{}, "", "", 0, true)
			}
			return list, nil
		},
	}, asked
}

func TestResources_FindsKindWithFewCalls(t *testing.T) {
	s, asked := newResources(map[string][]metav1.APIResource{"other.test/v1": {
		{Name: "things", Kind: "Thing", Namespaced: true}, {Name: "things/status", Kind: "Thing"}, {Name: "globals", Kind: "Global"},
	}})
	find := func(gvk schema.GroupVersionKind) (string, bool, error) {
		t.Helper()
		resource, err := s.find(t.Context(), gvk)
		return resource.Resource, resource.Namespaced, err
	}
	thing := schema.GroupVersionKind{Group: "other.test", Version: "v1", Kind: "Thing"}
	for gvk, want := range map[schema.GroupVersionKind]string{
		deployments: "deployments", namespaces: "namespaces", definitions: "customresourcedefinitions",
		{Group: "networking.k8s.io", Version: "v1", Kind: "NetworkPolicy"}: "networkpolicies",
		{Group: "networking.k8s.io", Version: "v1", Kind: "Ingress"}:       "ingresses",
		{Version: "v1", Kind: "Endpoints"}:                                 "endpoints",
	} {
		if got, _, err := find(gvk); got != want || err != nil {
			t.Errorf("%s: %s, %v", gvk.Kind, got, err)
		}
	}
	if len(asked) != 0 {
		t.Fatalf("calls for kinds of Kubernetes itself: %v", asked)
	}
	var workers sync.WaitGroup
	for range 10 {
		workers.Go(func() {
			if got, err := s.find(t.Context(), thing); got.Resource != "things" || !got.Namespaced || err != nil {
				t.Errorf("%+v, %v", got, err)
			}
		})
	}
	workers.Wait()
	if got, namespaced, err := find(schema.GroupVersionKind{Group: "other.test", Version: "v1", Kind: "Global"}); got != "globals" || namespaced || err != nil {
		t.Errorf("%s %v %v", got, namespaced, err)
	}
	if namespaced, known := s.namespaced(schema.GroupVersionKind{Group: "other.test", Version: "v2", Kind: "Thing"}); !namespaced || !known {
		t.Error("the scope of another version is not known")
	}
	if asked["other.test/v1"] != 1 {
		t.Fatalf("%d calls, want one", asked["other.test/v1"])
	}
	s.forget("other.test")
	if _, known := s.namespaced(thing); known {
		t.Error("not forgotten")
	}
}

func TestResources_RetriesMissingKindAfterDefinition(t *testing.T) {
	answers := map[string][]metav1.APIResource{}
	s, asked := newResources(answers)
	gvk := widgets("late.test")
	for range 5 {
		var unknown *apply.UnknownKindError
		if _, err := s.find(t.Context(), gvk); !errors.As(err, &unknown) {
			t.Fatalf("%v, want an unknown kind", err)
		}
	}
	if asked["late.test/v1alpha1"] != 1 {
		t.Fatalf("%d calls, want one", asked["late.test/v1alpha1"])
	}
	if s.isWarmingUp(gvk.GroupKind()) {
		t.Error("a kind without a definition is young")
	}
	crd := definitionOf(gvk, ownerNamed("x"))
	s.observeDefinition(crd)
	if !s.isWarmingUp(gvk.GroupKind()) {
		t.Error("a kind is not young that was defined just now")
	}
	if resource, err := s.find(t.Context(), gvk); resource.Resource != "widgets" || !resource.Namespaced || !resource.WarmingUp || err != nil {
		t.Fatalf("%+v, %v", resource, err)
	}
	var unknown *apply.UnknownKindError
	if _, err := s.find(t.Context(), gvk.GroupKind().WithVersion("v9")); !errors.As(err, &unknown) || len(unknown.Served) != 1 {
		t.Fatalf("%v, want the version that would work", err)
	}
	if namespaced, known := s.namespaced(gvk); !namespaced || !known {
		t.Error("the scope is not known")
	}
	if len(asked) != 1 {
		t.Fatalf("calls %v, want none for what the definition told", asked)
	}
	s.forget(gvk.Group) // it is not served for a moment
	for _, version := range []string{gvk.Version, "v9"} {
		if _, err := s.find(t.Context(), gvk.GroupKind().WithVersion(version)); !errors.As(err, &unknown) || len(unknown.Served) != 1 {
			t.Fatalf("%v, want the hint to stay", err)
		}
	}
	if len(asked) != 2 {
		t.Fatalf("calls %v, want what is doubted to be asked for", asked)
	}
	answers[gvk.GroupVersion().String()] = []metav1.APIResource{{Name: "widgets", Kind: gvk.Kind, Verbs: []string{"get", "create"}}}
	s.forget(gvk.Group)
	if resource, err := s.find(t.Context(), gvk); !resource.WarmingUp || err != nil {
		t.Fatalf("%+v, %v, want what discovery tells of a kind that was doubted", resource, err)
	}
	clear(answers)
	s.observeDefinition(crd)
	if resource, err := s.find(t.Context(), gvk); resource.Resource != "widgets" || err != nil {
		t.Fatalf("%+v, %v", resource, err)
	}
	s.forgetDefinition(crd.GetName())
	if _, err := s.find(t.Context(), gvk); !errors.As(err, &unknown) {
		t.Fatalf("%v, want an unknown kind", err)
	}
}

// An object that is made of a kind whose definition is being deleted holds that up for minutes.
func TestResources_KindWhoseDefinitionIsBeingDeletedDoesNotWarmUp(t *testing.T) {
	gvk := widgets("leaving.test")
	defined := func(uid types.UID, leaving bool) *unstructured.Unstructured {
		crd := definitionOf(gvk, ownerNamed("x"))
		crd.SetUID(uid)
		if leaving {
			crd.SetDeletionTimestamp(&metav1.Time{Time: time.Now()})
		}
		return crd
	}
	name := defined("a", false).GetName()
	served := func(verbs ...string) map[string][]metav1.APIResource {
		return map[string][]metav1.APIResource{gvk.GroupVersion().String(): {{Name: "widgets", Kind: gvk.Kind, Verbs: verbs}}}
	}
	for _, test := range []struct {
		name    string
		answers map[string][]metav1.APIResource
		events  func(s *resources)
		want    bool
	}{
		{"one that was read as it is", nil, func(s *resources) { s.observeDefinition(defined("a", false)) }, true},
		{"one that was read as being deleted", nil, func(s *resources) { s.observeDefinition(defined("a", true)) }, false},
		{"one whose stream told that it is being deleted", nil, func(s *resources) {
			s.observeDefinition(defined("a", false))
			s.markLeaving(name)
		}, false},
		{"one whose stream was faster than a response", nil, func(s *resources) {
			s.observeDefinition(defined("a", true))
			s.observeDefinition(defined("a", false))
		}, false},
		{"the next one of that name warms up again", nil, func(s *resources) {
			s.observeDefinition(defined("a", true))
			s.observeDefinition(defined("b", false))
		}, true},
		{"also after the end of the first was seen", nil, func(s *resources) {
			s.observeDefinition(defined("a", true))
			s.forgetDefinition(name)
			s.observeDefinition(defined("b", false))
		}, true},
		{"one that was doubted, and that the API server serves in full", served("create", "get", "patch"), func(s *resources) {
			s.observeDefinition(defined("a", false))
			s.forget(gvk.Group)
		}, true},
		{"one that was doubted, and of which the API server makes no objects", served("delete", "get"), func(s *resources) {
			s.observeDefinition(defined("a", false))
			s.forget(gvk.Group)
		}, false},
		{"one that was doubted and is being deleted", served("create", "get", "patch"), func(s *resources) {
			s.observeDefinition(defined("a", false))
			s.forget(gvk.Group)
			s.markLeaving(name)
		}, false},
		{"one that is known to discovery only", served("create", "get", "patch"), func(*resources) {}, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			s, _ := newResources(test.answers)
			test.events(s)
			if resource, err := s.find(t.Context(), gvk); resource.WarmingUp != test.want || err != nil {
				t.Errorf("%+v, %v, want that it warms up is %t", resource, err, test.want)
			}
		})
	}
}

func TestResources_DoesNotCacheFailedDiscovery(t *testing.T) {
	s, _ := newResources(nil)
	failure := errors.New("the API server is busy")
	calls := 0
	s.discover = func(context.Context, schema.GroupVersion) ([]metav1.APIResource, error) { calls++; return nil, failure }
	for range 2 {
		if _, err := s.find(t.Context(), widgets("busy.test")); !errors.Is(err, failure) {
			t.Fatal(err)
		}
	}
	if calls != 2 {
		t.Fatalf("%d calls, want two", calls)
	}
}
