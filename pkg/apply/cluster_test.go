package apply

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"

	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
	"github.com/kyma-project/lifecycle-manager/tests/testkit/calls"
)

const (
	manager  = "declarative.kyma-project.io/applier"
	ownerKey = "deprecated-operator.kyma-project.io/owned-by"
	mine     = "kcp-system/mine"
	sibling  = "kcp-system/sibling"
	gone     = "kcp-system/gone"
	stranger = "other-system/stranger"
)

// fixture is one test's view of the shared API server: a namespace of its own, a cluster under test whose calls are counted, and a client
// of another user whose calls are not.
type fixture struct {
	*testing.T
	config    *rest.Config
	namespace string
	cluster   *Cluster
	opts      Options
	counter   calls.Counter
	other     dynamic.Interface
	mapper    *restmapper.DeferredDiscoveryRESTMapper
	// before, when set, is called ahead of every request of the cluster under test, so that a test can interfere.
	before func(*http.Request)
	// warmingUp makes every kind count as one whose definition was established moments ago.
	warmingUp bool
	// byName makes the rights of the cluster under test count as limited to names.
	byName bool

	mutex   sync.Mutex
	learned []inventory.ID
}

// onServer skips the test where there is no API server.
func onServer(t *testing.T) *fixture {
	t.Helper()
	if os.Getenv("KUBEBUILDER_ASSETS") == "" {
		if os.Getenv("CI") != "" {
			t.Fatal("KUBEBUILDER_ASSETS is not set: in CI, no test of the engine may be skipped")
		}
		t.Skip("no API server: KUBEBUILDER_ASSETS is not set; run \"make test\"")
	}
	config, err := server()
	if err != nil {
		t.Fatalf("start an API server: %v", err)
	}
	f := &fixture{T: t, config: config}
	f.other = dynamic.NewForConfigOrDie(config)
	f.mapper = restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(discovery.NewDiscoveryClientForConfigOrDie(config)))
	f.cluster = &Cluster{Resource: f.resource, Learn: f.learn, Dynamic: f.client(config)}
	f.opts = Options{
		Manager: manager, Owner: mine, OwnerKey: ownerKey, Ownership: AdoptIfUnowned,
		Kept: func(inventory.ID) bool { return false },
		Relation: func(owner string) Relation {
			return map[string]Relation{sibling: OwnerSibling, gone: OwnerGone}[owner]
		},
	}
	f.namespace = f.newNamespace()
	return f
}

// client returns a client whose calls are counted.
func (f *fixture) client(config *rest.Config) dynamic.Interface {
	config = rest.CopyConfig(config)
	config.Wrap(f.counter.Wrap)
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return roundTrip(func(request *http.Request) (*http.Response, error) {
			if f.before != nil {
				f.before(request)
			}
			return next.RoundTrip(request)
		})
	})
	return dynamic.NewForConfigOrDie(config)
}

type roundTrip func(*http.Request) (*http.Response, error)

func (r roundTrip) RoundTrip(request *http.Request) (*http.Response, error) { return r(request) }

func (f *fixture) newNamespace() string {
	f.Helper()
	namespace := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"generateName": "apply-"},
	}}
	made, err := f.other.Resource(schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}).
		Create(f.Context(), namespace, metav1.CreateOptions{})
	f.must(err)
	return made.GetName()
}

// resource looks up a resource in the cached discovery, as the fleet does at less cost.
func (f *fixture) resource(_ context.Context, gvk schema.GroupVersionKind) (Resource, error) {
	mapping, err := f.mapper.RESTMapping(gvk.GroupKind(), gvk.Version)
	if meta.IsNoMatchError(err) {
		unknown := &UnknownKindError{GroupVersionKind: gvk}
		if others, err := f.mapper.RESTMappings(gvk.GroupKind()); err == nil {
			for _, other := range others {
				unknown.Served = append(unknown.Served, other.Resource.Version)
			}
		}
		return Resource{}, unknown
	}
	if err != nil {
		return Resource{}, err
	}
	namespaced := mapping.Scope.Name() == meta.RESTScopeNameNamespace
	return Resource{GroupVersionResource: mapping.Resource, Namespaced: namespaced, WarmingUp: f.warmingUp, ByName: f.byName}, nil
}

func (f *fixture) learn(obj *unstructured.Unstructured) {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	f.learned = append(f.learned, inventory.IDOf(obj))
}

func (f *fixture) must(err error) {
	f.Helper()
	if err != nil {
		f.Fatal(err)
	}
}

// object reads one document. Its namespace is the test's unless it names one, and its owner mark is ours.
func (f *fixture) object(document string) *unstructured.Unstructured {
	f.Helper()
	obj := &unstructured.Unstructured{}
	f.must(yaml.Unmarshal([]byte(document), &obj.Object))
	if resource, err := f.resource(f.Context(), obj.GroupVersionKind()); obj.GetNamespace() == "" && (err != nil || resource.Namespaced) {
		obj.SetNamespace(f.namespace)
	}
	return f.marked(obj, mine)
}

func (f *fixture) marked(obj *unstructured.Unstructured, owner string) *unstructured.Unstructured {
	marked := obj.DeepCopy()
	annotations := marked.GetAnnotations()
	delete(annotations, ownerKey)
	if owner != "" {
		annotations = map[string]string{}
		maps.Copy(annotations, obj.GetAnnotations())
		annotations[ownerKey] = owner
	}
	marked.SetAnnotations(annotations)
	return marked
}

func (f *fixture) configMap(name string, data ...string) *unstructured.Unstructured {
	f.Helper()
	obj := f.object("{apiVersion: v1, kind: ConfigMap, metadata: {name: " + name + "}}")
	for _, pair := range data {
		key, value, _ := strings.Cut(pair, "=")
		f.must(unstructured.SetNestedField(obj.Object, value, "data", key))
	}
	return obj
}

// theirs returns another user's client for the kind of an object.
func (f *fixture) theirs(obj *unstructured.Unstructured) dynamic.ResourceInterface {
	f.Helper()
	resource, err := f.resource(f.Context(), obj.GroupVersionKind())
	f.must(err)
	if resource.Namespaced {
		return f.other.Resource(resource.GroupVersionResource).Namespace(obj.GetNamespace())
	}
	return f.other.Resource(resource.GroupVersionResource)
}

// exists creates an object as another user.
func (f *fixture) exists(obj *unstructured.Unstructured, fieldManager string) *unstructured.Unstructured {
	f.Helper()
	made, err := f.theirs(obj).Create(f.Context(), obj, metav1.CreateOptions{FieldManager: fieldManager})
	f.must(err)
	return made
}

// edit applies a merge patch as another user.
func (f *fixture) edit(obj *unstructured.Unstructured, fieldManager, patch string) *unstructured.Unstructured {
	f.Helper()
	var content map[string]any
	f.must(yaml.Unmarshal([]byte(patch), &content))
	data, err := json.Marshal(content)
	f.must(err)
	edited, err := f.theirs(obj).Patch(f.Context(), obj.GetName(), types.MergePatchType, data, metav1.PatchOptions{FieldManager: fieldManager})
	f.must(err)
	return edited
}

func (f *fixture) remove(obj *unstructured.Unstructured) {
	f.Helper()
	f.must(f.theirs(obj).Delete(f.Context(), obj.GetName(), metav1.DeleteOptions{}))
}

// get reads an object from the cluster; nil when it does not exist.
func (f *fixture) get(obj *unstructured.Unstructured) *unstructured.Unstructured {
	f.Helper()
	live, err := f.theirs(obj).Get(f.Context(), obj.GetName(), metav1.GetOptions{})
	if nowhere(err) {
		return nil
	}
	f.must(err)
	return live
}

// live returns the state that a watch stream would hold of an object.
func (f *fixture) live(obj *unstructured.Unstructured) inventory.Live {
	f.Helper()
	found := f.get(obj)
	if found == nil {
		return inventory.Live{Presence: inventory.Absent}
	}
	return inventory.Live{
		Presence: inventory.Present, UID: found.GetUID(), Owner: found.GetAnnotations()[ownerKey],
		Fields: inventory.FieldsHash(found.GetManagedFields(), manager), Terminating: found.GetDeletionTimestamp() != nil,
	}
}

// valueAt returns a value of an object, "" when absent.
func valueAt(obj *unstructured.Unstructured, path ...string) string {
	value, found, err := unstructured.NestedFieldNoCopy(obj.Object, path...)
	if !found || err != nil {
		return ""
	}
	return fmt.Sprint(value)
}

// costs compares the calls that do makes with a list like "create configmaps", one entry per call.
func (f *fixture) costs(want []string, do func()) {
	f.Helper()
	before := f.counter.Snapshot()
	do()
	var got []string
	for call, n := range f.counter.Since(before).Plain() {
		for range n {
			got = append(got, call.String())
		}
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		f.Errorf("calls:\n got %q\nwant %q", got, want)
	}
}

// is checks the action and class of one outcome, and that error and class go together.
func (f *fixture) is(outcome Outcome, action Action, class Class) {
	f.Helper()
	if outcome.Action != action || outcome.Class != class {
		f.Errorf("%s: got %s/%s (%v), want %s/%s", outcome.ID, outcome.Action, outcome.Class, outcome.Err, action, class)
	}
	var told *Error
	if (outcome.Err != nil) != (outcome.Class != "") || (outcome.Err != nil && !errors.As(outcome.Err, &told)) {
		f.Errorf("%s: error %v does not go with class %q", outcome.ID, outcome.Err, outcome.Class)
	}
}
