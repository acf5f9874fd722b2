package apply

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"

	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

// kinds returns everything that the API server serves, by its preferred version, as the fleet does.
func (f *fixture) kinds(context.Context) ([]KindResource, error) {
	lists, err := discovery.NewDiscoveryClientForConfigOrDie(f.config).ServerPreferredResources()
	var kinds []KindResource
	for _, list := range lists {
		gv, _ := schema.ParseGroupVersion(list.GroupVersion)
		for _, resource := range list.APIResources {
			kinds = append(kinds, KindResource{resource.Kind, Resource{GroupVersionResource: gv.WithResource(resource.Name), Namespaced: resource.Namespaced}})
		}
	}
	return kinds, err
}

func (f *fixture) keeping(obj *unstructured.Unstructured) *unstructured.Unstructured {
	obj = obj.DeepCopy()
	annotations := obj.GetAnnotations()
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations[AnnotationKeep] = "true"
	obj.SetAnnotations(annotations)
	return obj
}

func TestObjectsToKeepAreKept(t *testing.T) {
	knows := func(inventory.ID) bool { return true }
	ignorant := func(inventory.ID) bool { return false }
	for _, test := range []struct {
		name  string
		blind bool
		kept  func(inventory.ID) bool
		calls []string
	}{
		{"no call where the streams show the annotation", false, knows, nil},
		{"one call where Kept is not set", false, nil, []string{"get configmaps"}},
		{"one call where no stream has the object", true, ignorant, []string{"get configmaps"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := onServer(t)
			obj := f.exists(f.keeping(f.configMap("config", "a=1")), manager)
			f.opts.Kept = test.kept
			seen := f.live(obj)
			if test.blind {
				seen = inventory.Live{}
			}
			f.costs(test.calls, func() {
				outcome := f.delete(recordedAs(obj), seen)
				f.is(outcome, Kept, "")
				if !strings.Contains(outcome.Note, AnnotationKeep) || outcome.UID != obj.GetUID() {
					t.Errorf("got %+v", outcome)
				}
			})
			if f.get(obj) == nil {
				t.Error("deleted")
			}
		})
	}
}

func TestForeign_OnlyTrueKeeps(t *testing.T) {
	f := onServer(t)
	obj := f.configMap("config")
	obj.SetAnnotations(map[string]string{ownerKey: mine, AnnotationKeep: "false"})
	obj = f.exists(obj, manager)
	f.is(f.delete(recordedAs(obj), inventory.Live{}), Deleted, "")
}

func TestHeirTakesOverWhatIsToBeKept(t *testing.T) {
	f := onServer(t)
	obj := f.exists(f.keeping(f.configMap("config")), manager)
	f.opts.Successor = func(inventory.ID) string { return sibling }
	f.is(f.delete(recordedAs(obj), f.live(obj)), Kept, "")
	if owner := f.get(obj).GetAnnotations()[ownerKey]; owner != sibling {
		t.Errorf("marked as %q", owner)
	}
}

func (f *fixture) ownNamespace() *unstructured.Unstructured {
	f.Helper()
	namespace := f.object("{apiVersion: v1, kind: Namespace, metadata: {name: own-" + f.namespace + "}}")
	return f.exists(namespace, manager)
}

func TestNamespaceWithContentOfOthers(t *testing.T) {
	unmarked := func(f *fixture, document string) *unstructured.Unstructured { return f.marked(f.object(document), "") }
	owned := func(f *fixture, controller bool) *unstructured.Unstructured {
		obj := unmarked(f, "{apiVersion: v1, kind: ConfigMap, metadata: {name: owned}}")
		obj.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: "v1", Kind: "Pod", Name: "x", UID: "x", Controller: &controller}})
		return obj
	}
	simple := func(document string) func(*fixture) []*unstructured.Unstructured {
		return func(f *fixture) []*unstructured.Unstructured {
			return []*unstructured.Unstructured{unmarked(f, document)}
		}
	}
	for _, test := range []struct {
		name    string
		content func(*fixture) []*unstructured.Unstructured
		note    string // "" when the Namespace is deleted
	}{
		{"nothing in it", func(*fixture) []*unstructured.Unstructured { return nil }, ""},
		{"objects of ours", func(f *fixture) []*unstructured.Unstructured {
			return []*unstructured.Unstructured{f.configMap("ours"), f.object("{apiVersion: v1, kind: Secret, metadata: {name: ours}}")}
		}, ""},
		{"an object of ours that is to be kept", func(f *fixture) []*unstructured.Unstructured {
			return []*unstructured.Unstructured{f.keeping(f.configMap("kept"))}
		}, "ConfigMap NS/kept"},
		{"a sibling's object", func(f *fixture) []*unstructured.Unstructured {
			return []*unstructured.Unstructured{f.marked(f.configMap("theirs"), sibling)}
		}, "ConfigMap NS/theirs"},
		{"a user's object", simple("{apiVersion: v1, kind: Secret, metadata: {name: users}}"), "Secret NS/users"},
		{"a workload", simple(strings.ReplaceAll(workload, "KIND", "Deployment")), "Deployment.apps NS/operator"},
		{"an object that a controller owns", func(f *fixture) []*unstructured.Unstructured {
			return []*unstructured.Unstructured{owned(f, true)}
		}, ""},
		{"an object with an owner that is not its controller", func(f *fixture) []*unstructured.Unstructured {
			return []*unstructured.Unstructured{owned(f, false)}
		}, "ConfigMap NS/owned"},
		{"objects that Kubernetes creates in every namespace", func(f *fixture) []*unstructured.Unstructured {
			return []*unstructured.Unstructured{
				unmarked(f, "{apiVersion: v1, kind: ConfigMap, metadata: {name: kube-root-ca.crt}}"),
				unmarked(f, "{apiVersion: v1, kind: ServiceAccount, metadata: {name: default}}"),
				unmarked(f, "{apiVersion: coordination.k8s.io/v1, kind: Lease, metadata: {name: leader}}"),
				unmarked(f, "{apiVersion: v1, kind: Endpoints, metadata: {name: e}}"),
				unmarked(f, "{apiVersion: discovery.k8s.io/v1, kind: EndpointSlice, addressType: IPv4, endpoints: [], metadata: {name: e}}"),
				unmarked(f, "{apiVersion: v1, kind: Event, metadata: {name: e, namespace: NS}, involvedObject: {namespace: NS}}"),
			}
		}, ""},
		{"five are named", func(f *fixture) (all []*unstructured.Unstructured) {
			for n := range 5 {
				all = append(all, f.marked(f.configMap(fmt.Sprintf("c-%d", n)), ""))
			}
			return all
		}, "ConfigMap NS/c-0, ConfigMap NS/c-1, ConfigMap NS/c-2, ConfigMap NS/c-3, ConfigMap NS/c-4"},
		{"more than five are not named", func(f *fixture) (all []*unstructured.Unstructured) {
			for n := range 9 {
				all = append(all, f.marked(f.configMap(fmt.Sprintf("c-%d", n)), ""))
			}
			return all
		}, "ConfigMap NS/c-0, ConfigMap NS/c-1, ConfigMap NS/c-2, ConfigMap NS/c-3, ConfigMap NS/c-4 and more"},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := onServer(t)
			f.cluster.Kinds = f.kinds
			namespace := f.ownNamespace()
			for _, obj := range test.content(f) {
				if obj.SetNamespace(namespace.GetName()); obj.GetKind() == "Event" {
					f.must(unstructured.SetNestedField(obj.Object, namespace.GetName(), "involvedObject", "namespace"))
				}
				f.exists(obj, "somebody")
			}
			outcome := f.delete(recordedAs(namespace), f.live(namespace))
			if test.note == "" {
				f.is(outcome, Deleted, "")
				return
			}
			f.is(outcome, Kept, "")
			if want := "it holds objects that are not ours: " + strings.ReplaceAll(test.note, "NS", namespace.GetName()); outcome.Note != want {
				t.Errorf("got  %s\nwant %s", outcome.Note, want)
			}
			if f.live(namespace).Terminating {
				t.Error("deleted")
			}
		})
	}
}

func TestNamespacesAreLookedIntoOnlyWhereKindsAreKnown(t *testing.T) {
	f := onServer(t)
	namespace := f.ownNamespace()
	f.costs([]string{"delete namespaces"}, func() { f.is(f.delete(recordedAs(namespace), f.live(namespace)), Deleted, "") })
}

func TestKindThatCannotBeListedKeepsTheNamespaceForNow(t *testing.T) {
	for _, test := range []struct {
		name  string
		kinds func(*fixture) ([]KindResource, error)
		class Class
		says  string
	}{
		{"a kind whose server does not respond", nil, ClassInternal, "could not determine whether others have configmaps in it"},
		{"the kinds themselves", func(*fixture) ([]KindResource, error) { return nil, errors.New("no discovery") }, ClassInternal,
			"list the kinds of objects that it may hold: no discovery"},
		{"a kind that is no longer served", func(*fixture) ([]KindResource, error) {
			return []KindResource{{"Thing", Resource{GroupVersionResource: schema.GroupVersionResource{Group: "x.io", Version: "v1", Resource: "things"}, Namespaced: true}}}, nil
		}, "", ""},
		{"a kind that cannot be listed at all", func(*fixture) ([]KindResource, error) {
			resource := schema.GroupVersionResource{Group: "authorization.k8s.io", Version: "v1", Resource: "localsubjectaccessreviews"}
			return []KindResource{{"LocalSubjectAccessReview", Resource{GroupVersionResource: resource, Namespaced: true}}}, nil
		}, "", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := onServer(t)
			f.cluster.Kinds = f.kinds
			if test.kinds != nil {
				f.cluster.Kinds = func(context.Context) ([]KindResource, error) { return test.kinds(f) }
			}
			namespace := f.ownNamespace()
			broken := apierrors.NewServiceUnavailable("no endpoints available")
			f.cluster.Dynamic = unlistable{f.cluster.Dynamic, schema.GroupResource{Resource: "configmaps"}, broken}
			outcome := f.delete(recordedAs(namespace), f.live(namespace))
			if test.class == "" {
				f.is(outcome, Deleted, "")
				return
			}
			f.is(outcome, Failed, test.class)
			f.tells(outcome, test.says)
		})
	}
}

// unlistable is a cluster that cannot list one resource.
type unlistable struct {
	dynamic.Interface
	resource schema.GroupResource
	err      error
}

func (u unlistable) Resource(resource schema.GroupVersionResource) dynamic.NamespaceableResourceInterface {
	found := u.Interface.Resource(resource)
	if resource.GroupResource() == u.resource {
		return unlistableResource{found, u.err}
	}
	return found
}

type unlistableResource struct {
	dynamic.NamespaceableResourceInterface
	err error
}

func (u unlistableResource) Namespace(string) dynamic.ResourceInterface { return u }

func (u unlistableResource) List(context.Context, metav1.ListOptions) (*unstructured.UnstructuredList, error) {
	return nil, u.err
}

func (f *fixture) defined() *installation {
	f.Helper()
	i := &installation{fixture: f}
	crd := i.object(strings.ReplaceAll(definition, "NS", i.namespace))
	i.installs(Created, crd)
	i.established(crd)
	return i
}

func TestDefinitionInUse(t *testing.T) {
	for _, test := range []struct {
		name   string
		owners []string
		keep   bool
		note   string // "" when it is deleted
	}{
		{"it has no objects", nil, false, ""},
		{"only we have objects", []string{mine, mine}, false, ""},
		{"we have one that is to be kept", []string{mine}, true, "Sample.NS.example.org NS/o-0"},
		{"a user has", []string{mine, ""}, false, "Sample.NS.example.org NS/o-1"},
		{"many have", []string{"", sibling, stranger, gone, "", "", ""}, false, "Sample.NS.example.org NS/o-0, Sample.NS.example.org NS/o-1, " +
			"Sample.NS.example.org NS/o-2, Sample.NS.example.org NS/o-3, Sample.NS.example.org NS/o-4 and more"},
	} {
		t.Run(test.name, func(t *testing.T) {
			i := onServer(t).defined()
			crd := i.object(strings.ReplaceAll(definition, "NS", i.namespace))
			for n, owner := range test.owners {
				obj := i.object(fmt.Sprintf("{apiVersion: %s.example.org/v1, kind: Sample, metadata: {name: o-%d}}", i.namespace, n))
				if obj = i.marked(obj, owner); test.keep {
					obj = i.keeping(obj)
				}
				i.exists(obj, "somebody")
			}
			calls := []string{"get customresourcedefinitions.apiextensions.k8s.io", "list samples." + i.namespace + ".example.org"}
			if test.note == "" {
				calls = append(calls, "delete customresourcedefinitions.apiextensions.k8s.io")
			}
			var outcome Outcome
			i.costs(calls, func() { outcome = i.delete(i.entry(crd), i.live(crd)) })
			if test.note == "" {
				i.is(outcome, Deleted, "")
				return
			}
			i.is(outcome, InUse, "")
			want := "custom resources of it exist that are not ours; it is deleted when they are gone: " + strings.ReplaceAll(test.note, "NS", i.namespace)
			if outcome.Note != want {
				t.Errorf("got  %s\nwant %s", outcome.Note, want)
			}
		})
	}
}

func TestDefinitionGoesWhenNobodyUsesItAnyMore(t *testing.T) {
	i := onServer(t).defined()
	crd := i.object(strings.ReplaceAll(definition, "NS", i.namespace))
	sample := i.object("{apiVersion: " + i.namespace + ".example.org/v1, kind: Sample, metadata: {name: users}}")
	i.exists(i.marked(sample, ""), "kubectl")
	i.is(i.delete(i.entry(crd), i.live(crd)), InUse, "")
	i.remove(sample)
	i.is(i.delete(i.entry(crd), i.live(crd)), Deleted, "")
}

func TestDefinedKind(t *testing.T) {
	crd := func(versions string) *unstructured.Unstructured {
		obj := &unstructured.Unstructured{}
		document := "{spec: {group: g.io, scope: Namespaced, names: {kind: Thing, plural: things}, versions: " + versions + "}}"
		if err := yaml.Unmarshal([]byte(document), &obj.Object); err != nil {
			t.Fatal(err)
		}
		return obj
	}
	for _, test := range []struct{ name, versions, want string }{
		{"the storage version", "[{name: v1, served: true}, {name: v2, served: true, storage: true}, {name: v3, served: true}]", "v2"},
		{"a served version where it is not served", "[{name: v1, served: false, storage: true}, {name: v2, served: true}]", "v2"},
		{"none", "[{name: v1, served: false, storage: true}]", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			kind, err := DefinedKind(crd(test.versions))
			if kind.Version != test.want || (err != nil) != (test.want == "") {
				t.Errorf("got %q, %v", kind.Version, err)
			}
		})
	}
}

func TestPagesAreFollowedAndBounded(t *testing.T) {
	f := onServer(t)
	resource := schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}
	for n := range pageSize + 3 {
		f.exists(f.configMap(fmt.Sprintf("c-%03d", n)), "test")
	}
	pages := 0
	f.before = func(*http.Request) { pages++ }
	count := func(enough int) (seen int) {
		err := visit(t.Context(), f.cluster.Dynamic.Resource(resource).Namespace(f.namespace), func(*unstructured.Unstructured) bool {
			seen++
			return seen < enough
		})
		f.must(err)
		return seen
	}
	if all := count(10_000); all != pageSize+3 || pages != 2 {
		t.Errorf("%d objects on %d pages", all, pages)
	}
	if some := count(7); some != 7 || pages != 3 {
		t.Errorf("%d objects, %d pages in all", some, pages)
	}
}
