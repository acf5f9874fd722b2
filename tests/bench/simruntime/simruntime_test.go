package simruntime

import (
	"context"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"
)

var (
	configMaps  = schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}
	deployments = schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"}
	spaces      = schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}
	definers    = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}
	samples     = schema.GroupVersionResource{Group: "example.org", Version: "v1", Resource: "samples"}
)

func start(t testing.TB, options Options) *Runtimes {
	t.Helper()
	options.Runtimes = max(options.Runtimes, 1)
	options.Logf = t.Logf
	fleet, err := Start(context.Background(), options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(fleet.Close)
	return fleet
}

func clientOf(t testing.TB, config *rest.Config) dynamic.Interface {
	t.Helper()
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	return client
}

func parsed(t testing.TB, document string) *unstructured.Unstructured {
	t.Helper()
	obj := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(document), &obj.Object); err != nil {
		t.Fatal(err)
	}
	return obj
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func until(t testing.TB, what string, done func() bool) {
	t.Helper()
	tick, late := time.NewTicker(5*time.Millisecond), time.After(10*time.Second)
	defer tick.Stop()
	for !done() {
		select {
		case <-tick.C:
		case <-late:
			t.Fatal(what + ": it did not come about")
		}
	}
}

func next(t testing.TB, w watch.Interface) watch.Event {
	t.Helper()
	select {
	case event, ok := <-w.ResultChan():
		if !ok {
			t.Fatal("the stream ended")
		}
		return event
	case <-time.After(10 * time.Second):
		t.Fatal("no event")
	}
	return watch.Event{}
}

const deployment = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: operator, namespace: default}
spec:
  selector: {matchLabels: {app: operator}}
  template:
    metadata: {labels: {app: operator}}
    spec: {containers: [{name: manager, image: "example.org/operator:1.0.0"}]}
`

func TestSimruntime_AnObjectLivesAndIsWatched(t *testing.T) {
	fleet := start(t, Options{Runtimes: 2})
	r := fleet.Runtime(0)
	maps := clientOf(t, r.Config()).Resource(configMaps).Namespace("default")
	ctx := t.Context()
	list, err := maps.List(ctx, metav1.ListOptions{LabelSelector: "app=a", Limit: 10})
	must(t, err)
	stream, err := maps.Watch(ctx, metav1.ListOptions{LabelSelector: "app=a", ResourceVersion: list.GetResourceVersion()})
	must(t, err)
	defer stream.Stop()
	obj := parsed(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: default, labels: {app: a}}, data: {k: v}}")
	made, err := maps.Create(ctx, obj, metav1.CreateOptions{FieldManager: "me"})
	must(t, err)
	if made.GetUID() == "" || made.GetResourceVersion() == "" || len(made.GetManagedFields()) != 1 || made.GetManagedFields()[0].Operation != "Update" {
		t.Error(made)
	}
	if e := next(t, stream); e.Type != watch.Added {
		t.Error(e)
	}
	force := true
	same, err := maps.Apply(ctx, "a", obj, metav1.ApplyOptions{FieldManager: "me"})
	must(t, err)
	again, err := maps.Apply(ctx, "a", obj, metav1.ApplyOptions{FieldManager: "me"})
	must(t, err)
	if same.GetResourceVersion() == made.GetResourceVersion() || again.GetResourceVersion() != same.GetResourceVersion() {
		t.Error(made.GetResourceVersion(), same.GetResourceVersion(), again.GetResourceVersion())
	}
	if e := next(t, stream); e.Type != watch.Modified {
		t.Error(e)
	}
	theirs := obj.DeepCopy()
	must(t, unstructured.SetNestedField(theirs.Object, "w", "data", "k"))
	if _, err := maps.Apply(ctx, "a", theirs, metav1.ApplyOptions{FieldManager: "other"}); !apierrors.IsConflict(err) {
		t.Error(err)
	}
	_, err = maps.Apply(ctx, "a", theirs, metav1.ApplyOptions{FieldManager: "other", Force: force})
	must(t, err)
	next(t, stream)
	theirs.SetUID("another")
	if _, err := maps.Apply(ctx, "a", theirs, metav1.ApplyOptions{FieldManager: "other", Force: force}); !apierrors.IsInvalid(err) {
		t.Error(err)
	}
	wrong := types.UID("wrong")
	if err := maps.Delete(ctx, "a", metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &wrong}}); !apierrors.IsConflict(err) {
		t.Error(err)
	}
	must(t, maps.Delete(ctx, "a", metav1.DeleteOptions{}))
	if e := next(t, stream); e.Type != watch.Deleted {
		t.Error(e)
	}
	if _, err := maps.Get(ctx, "a", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Error(err)
	}
	counts := fleet.Counts()
	t.Logf("%+v\n%s", counts, counts.Calls)
	if counts.Revisions != 4 || counts.Dials != 1 || counts.Watches != 1 {
		t.Error(counts.Revisions, counts.Dials, counts.Watches)
	}
}

func TestSimruntime_ADefinitionServesItsKind(t *testing.T) {
	fleet := start(t, Options{})
	client := clientOf(t, fleet.Runtime(0).Config())
	ctx := t.Context()
	_, err := client.Resource(definers).Create(ctx, parsed(t, `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: samples.example.org}
spec:
  group: example.org
  scope: Namespaced
  names: {plural: samples, kind: Sample, singular: sample, listKind: SampleList}
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}}
    schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {
      size: {type: integer, default: 3}, parts: {type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [name],
        items: {type: object, required: [name], properties: {name: {type: string}, v: {type: string}}}}}}, status: {type: object, x-kubernetes-preserve-unknown-fields: true}}}}
`), metav1.CreateOptions{})
	must(t, err)
	until(t, "the definition is established", func() bool {
		crd, err := client.Resource(definers).Get(ctx, "samples.example.org", metav1.GetOptions{})
		conditions, _, _ := unstructured.NestedSlice(crd.Object, "status", "conditions")
		return err == nil && len(conditions) == 2
	})
	all := client.Resource(samples).Namespace("default")
	for i, who := range []string{"a", "b"} {
		obj := parsed(t, "{apiVersion: example.org/v1, kind: Sample, metadata: {name: s, namespace: default}, spec: {parts: [{name: "+who+", v: x}]}, status: {state: Ready}}")
		made, err := all.Apply(ctx, "s", obj, metav1.ApplyOptions{FieldManager: who})
		must(t, err)
		parts, _, _ := unstructured.NestedSlice(made.Object, "spec", "parts")
		size, _, _ := unstructured.NestedInt64(made.Object, "spec", "size")
		if len(parts) != i+1 || size != 3 || made.Object["status"] != nil || made.GetGeneration() != int64(i+1) {
			t.Error(made.Object)
		}
	}
	data := []byte(`{"metadata": {"labels": {"x": "y"}}, "status": {"state": "Ready"}}`)
	patched, err := all.Patch(ctx, "s", types.MergePatchType, data, metav1.PatchOptions{}, "status")
	must(t, err)
	if state, _, _ := unstructured.NestedString(patched.Object, "status", "state"); state != "Ready" || patched.GetGeneration() != 2 {
		t.Error(patched)
	}
	must(t, client.Resource(definers).Delete(ctx, "samples.example.org", metav1.DeleteOptions{}))
	until(t, "the kind is gone", func() bool {
		_, err := all.List(ctx, metav1.ListOptions{})
		return apierrors.IsNotFound(err)
	})
}

func TestSimruntime_AWorkloadRunsAfterAWhile(t *testing.T) {
	fleet := start(t, Options{})
	r := fleet.Runtime(0)
	r.ReadyAfter(20 * time.Millisecond)
	all := clientOf(t, r.Config()).Resource(deployments).Namespace("default")
	stream, err := all.Watch(t.Context(), metav1.ListOptions{})
	must(t, err)
	defer stream.Stop()
	_, err = all.Create(t.Context(), parsed(t, deployment), metav1.CreateOptions{FieldValidation: "Strict"})
	must(t, err)
	for _, want := range []string{"", "False", "True"} {
		e := next(t, stream)
		obj, _ := e.Object.(*unstructured.Unstructured)
		found, _, _ := unstructured.NestedSlice(obj.Object, "status", "conditions")
		got := ""
		if len(found) > 0 {
			available, _ := found[0].(map[string]any)
			got, _ = available["status"].(string)
		}
		if got != want {
			t.Errorf("available is %q, want %q", got, want)
		}
	}
}

func TestSimruntime_ANamespaceGoesWithItsContent(t *testing.T) {
	fleet := start(t, Options{})
	client := clientOf(t, fleet.Runtime(0).Config())
	ctx := t.Context()
	_, err := client.Resource(spaces).Create(ctx, parsed(t, "{apiVersion: v1, kind: Namespace, metadata: {name: a}}"), metav1.CreateOptions{})
	must(t, err)
	maps := client.Resource(configMaps).Namespace("a")
	_, err = maps.Create(ctx, parsed(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: x}}"), metav1.CreateOptions{})
	must(t, err)
	_, err = maps.Create(ctx, parsed(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: held, finalizers: [example.org/f]}}"), metav1.CreateOptions{})
	must(t, err)
	must(t, client.Resource(spaces).Delete(ctx, "a", metav1.DeleteOptions{}))
	if _, err := maps.Create(ctx, parsed(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: z}}"), metav1.CreateOptions{}); !apierrors.IsForbidden(err) {
		t.Error(err)
	}
	until(t, "all but what is held is gone", func() bool {
		list, err := maps.List(ctx, metav1.ListOptions{})
		return err == nil && len(list.Items) == 1
	})
	_, err = maps.Patch(ctx, "held", types.JSONPatchType, []byte(`[{"op": "remove", "path": "/metadata/finalizers"}]`), metav1.PatchOptions{})
	must(t, err)
	if _, err := client.Resource(spaces).Get(ctx, "a", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Error(err)
	}
}
