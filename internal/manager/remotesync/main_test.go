package remotesync

import (
	"context"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/pkg/apply"
	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
	"github.com/kyma-project/lifecycle-manager/tests/testkit/apiserver"
	"github.com/kyma-project/lifecycle-manager/tests/testkit/calls"
)

// server is the API server that all tests share; the first one that needs it starts it.
var server = apiserver.Start

func TestMain(m *testing.M) { apiserver.Main(m) }

// resources are the kinds of these tests; the definitions make the last three.
var resources = map[string]apply.Resource{
	"Namespace":                {GroupVersionResource: schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}},
	"Secret":                   {GroupVersionResource: schema.GroupVersionResource{Version: "v1", Resource: "secrets"}, Namespaced: true},
	"CustomResourceDefinition": {GroupVersionResource: definitions},
	"Kyma":                     {GroupVersionResource: v1beta2.GroupVersion.WithResource("kymas"), Namespaced: true},
	"ModuleTemplate":           {GroupVersionResource: v1beta2.GroupVersion.WithResource("moduletemplates"), Namespaced: true},
	"ModuleReleaseMeta":        {GroupVersionResource: v1beta2.GroupVersion.WithResource("modulereleasemetas"), Namespaced: true},
}

var definitions = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}

// cluster is a runtime as the manager sees it: its streams show what see read last and what was learned.
type cluster struct {
	t       *testing.T
	counter calls.Counter
	admin   dynamic.Interface
	apply   *apply.Cluster
	// warmingUp makes every kind count as one whose definition was established moments ago.
	warmingUp bool

	mutex    sync.Mutex
	stamps   map[inventory.ID]string
	listed   map[schema.GroupKind]bool
	reported []error
}

func connect(t *testing.T) *cluster {
	t.Helper()
	config, err := server()
	if err != nil {
		t.Fatalf("start an API server (is KUBEBUILDER_ASSETS set?): %v", err)
	}
	c := &cluster{t: t, stamps: map[inventory.ID]string{}, listed: map[schema.GroupKind]bool{}}
	c.admin = client(t, config)
	counted := rest.CopyConfig(config)
	counted.Wrap(func(next http.RoundTripper) http.RoundTripper { return c.counter.Wrap(next) })
	c.apply = &apply.Cluster{
		Dynamic: client(t, counted),
		Learn:   c.learn,
		Resource: func(_ context.Context, gvk schema.GroupVersionKind) (apply.Resource, error) {
			if resource, ok := resources[gvk.Kind]; ok {
				resource.WarmingUp = c.warmingUp
				return resource, nil
			}
			return apply.Resource{}, &apply.UnknownKindError{GroupVersionKind: gvk}
		},
	}
	return c
}

func client(t *testing.T, config *rest.Config) dynamic.Interface {
	t.Helper()
	config = rest.CopyConfig(config)
	config.QPS, config.Burst = -1, -1
	made, err := dynamic.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

func (c *cluster) Cluster() *apply.Cluster { return c.apply }

func (c *cluster) Report(err error) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.reported = append(c.reported, err)
}

func (c *cluster) ObjectVersion(id inventory.ID) (string, bool) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	stamp, ok := c.stamps[id]
	return stamp, ok || c.listed[id.GroupKind()]
}

func (c *cluster) Copies(gk schema.GroupKind) ([]inventory.ID, bool) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	ids := slices.Collect(maps.Keys(c.stamps))
	return slices.DeleteFunc(ids, func(id inventory.ID) bool { return id.GroupKind() != gk }), c.listed[gk]
}

func (c *cluster) learn(live *unstructured.Unstructured) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if live.GetLabels()[v1beta2.LabelManagedBy] == v1beta2.ManagedByKyma {
		c.stamps[inventory.IDOf(live)] = stampOf(live)
	}
}

// see lets the streams of some kinds catch up.
func (c *cluster) see(kinds ...string) {
	c.t.Helper()
	for _, kind := range kinds {
		resource := resources[kind]
		list, err := c.admin.Resource(resource.GroupVersionResource).List(c.t.Context(),
			metav1.ListOptions{LabelSelector: v1beta2.LabelManagedBy + "=" + v1beta2.ManagedByKyma})
		if err != nil {
			c.t.Fatal(err)
		}
		gk := schema.GroupKind{Group: resource.Group, Kind: kind}
		c.mutex.Lock()
		c.listed[gk] = true
		maps.DeleteFunc(c.stamps, func(id inventory.ID, _ string) bool { return id.GroupKind() == gk })
		for i := range list.Items {
			c.stamps[inventory.IDOf(&list.Items[i])] = stampOf(&list.Items[i])
		}
		c.mutex.Unlock()
	}
}

// costs runs a function and returns its calls.
func (c *cluster) costs(do func()) string {
	before := c.counter.Snapshot()
	do()
	lines := strings.Split(c.counter.Since(before).Plain().String(), "\n")
	for i := range lines {
		lines[i] = strings.TrimSpace(lines[i])
	}
	return strings.Join(lines, ", ")
}

// at returns where the administrator finds objects.
func (c *cluster) at(kind, namespace string) dynamic.ResourceInterface {
	resource := resources[kind]
	if !resource.Namespaced {
		return c.admin.Resource(resource.GroupVersionResource)
	}
	return c.admin.Resource(resource.GroupVersionResource).Namespace(namespace)
}

func (c *cluster) get(one DesiredObject) *unstructured.Unstructured {
	c.t.Helper()
	live, err := c.at(one.Object.GetKind(), one.Object.GetNamespace()).Get(c.t.Context(), one.Object.GetName(), metav1.GetOptions{})
	if err != nil {
		c.t.Fatal(err)
	}
	return live
}

// edit sends a merge patch as another client.
func (c *cluster) edit(one DesiredObject, patch string) {
	c.t.Helper()
	_, err := c.at(one.Object.GetKind(), one.Object.GetNamespace()).Patch(c.t.Context(), one.Object.GetName(), types.MergePatchType,
		[]byte(patch), metav1.PatchOptions{FieldManager: "somebody"})
	if err != nil {
		c.t.Fatal(err)
	}
}

// delete deletes copies and waits until they are gone.
func (c *cluster) delete(copies ...DesiredObject) {
	for _, one := range copies {
		at, name := c.at(one.Object.GetKind(), one.Object.GetNamespace()), one.Object.GetName()
		_ = at.Delete(context.Background(), name, metav1.DeleteOptions{})
		for range 200 {
			if live, err := get(context.Background(), at, name); live == nil && err == nil {
				break
			}
			<-time.After(25 * time.Millisecond)
		}
	}
}

// prepared returns a runtime that has the namespace and the definitions.
func prepared(t *testing.T, mirror *Syncer) *cluster {
	t.Helper()
	c := connect(t)
	for range 200 {
		outcome, err := mirror.Ensure(t.Context(), c, append([]DesiredObject{namespace(t)}, RuntimeCRDs()...))
		if err != nil {
			t.Fatal(err)
		}
		if outcome.Synced() && c.served() {
			return c
		}
		<-time.After(50 * time.Millisecond)
	}
	t.Fatal("the definitions are not served")
	return nil
}

func (c *cluster) served() bool {
	for _, kind := range []string{"Kyma", "ModuleTemplate", "ModuleReleaseMeta"} {
		if _, err := c.at(kind, "default").List(c.t.Context(), metav1.ListOptions{}); err != nil {
			return false
		}
	}
	return true
}

func namespace(t *testing.T) DesiredObject {
	t.Helper()
	object := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Namespace"}}
	object.SetName(v1beta2.RuntimeNamespace)
	object.SetLabels(map[string]string{"istio-injection": "enabled", v1beta2.LabelManagedBy: v1beta2.ManagedByKyma})
	return made(t, object, v1beta2.FieldManagerSync)
}

func made(t *testing.T, object *unstructured.Unstructured, manager string) DesiredObject {
	t.Helper()
	one, err := Make(object, manager)
	if err != nil {
		t.Fatal(err)
	}
	return one
}

// template returns a catalog entry.
func template(t *testing.T, name string, edits ...func(spec map[string]any)) DesiredObject {
	t.Helper()
	spec := map[string]any{
		"moduleName": "sample", "version": "1.0.0", "descriptor": map[string]any{}, "readiness": "Workloads",
		"data": map[string]any{"apiVersion": "a/v1", "kind": "Sample", "metadata": map[string]any{"name": "s"}, "spec": map[string]any{"size": int64(3)}},
	}
	for _, edit := range edits {
		edit(spec)
	}
	object := &unstructured.Unstructured{Object: map[string]any{"spec": spec}}
	object.SetGroupVersionKind(v1beta2.GroupVersion.WithKind("ModuleTemplate"))
	object.SetNamespace(v1beta2.RuntimeNamespace)
	object.SetName(name)
	object.SetLabels(map[string]string{v1beta2.LabelManagedBy: v1beta2.ManagedByKyma, v1beta2.LabelBeta: "true"})
	object.SetAnnotations(map[string]string{"doc": "text"})
	return made(t, object, v1beta2.FieldManagerCatalog)
}
