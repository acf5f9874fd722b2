package simruntime

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"

	"github.com/kyma-project/lifecycle-manager/tests/testkit/apiserver"
)

// conversation is what a user says to a server, and what was answered, without what differs by nature.
type conversation struct {
	*testing.T
	client   dynamic.Interface
	answers  []string
	versions map[string]string
}

func (c *conversation) note(what string, obj *unstructured.Unstructured, err error) {
	if err != nil {
		var status apierrors.APIStatus = apierrors.NewInternalError(err)
		if known, ok := err.(apierrors.APIStatus); ok {
			status = known
		}
		text := fmt.Sprintf("%s: %d %s", what, status.Status().Code, status.Status().Reason)
		if details := status.Status().Details; details != nil {
			for _, cause := range details.Causes {
				text += fmt.Sprintf(" [%s %s]", cause.Type, cause.Field)
			}
		}
		c.answers = append(c.answers, text)
		return
	}
	key := obj.GetKind() + obj.GetName()
	changed := c.versions[key] != obj.GetResourceVersion()
	c.versions[key] = obj.GetResourceVersion()
	managers := []string{}
	for _, entry := range obj.GetManagedFields() {
		managers = append(managers, fmt.Sprintf("%s %s %s", entry.Manager, entry.Operation, entry.Subresource))
	}
	slices.Sort(managers)
	data, _, _ := unstructured.NestedMap(obj.Object, "data")
	c.answers = append(c.answers, fmt.Sprintf("%s: changed %t, generation %d, leaving %t, data %v, labels %v, finalizers %v, managers %q", what, changed,
		obj.GetGeneration(), obj.GetDeletionTimestamp() != nil, data, slices.Sorted(maps.Keys(obj.GetLabels())), obj.GetFinalizers(), managers))
}

// sayLocked holds the whole conversation.
func (c *conversation) say() {
	ctx := context.Background()
	all := c.client.Resource(configMaps).Namespace("default")
	apply := func(what, manager, document string, force bool) *unstructured.Unstructured {
		obj := parsed(c, document)
		got, err := all.Apply(ctx, obj.GetName(), obj, metav1.ApplyOptions{FieldManager: manager, Force: force})
		c.note(what, got, err)
		return got
	}
	const one = "{apiVersion: v1, kind: ConfigMap, metadata: {name: one, namespace: default, labels: {a: b}}, data: {k: v}}"
	made, err := all.Create(ctx, parsed(c, one), metav1.CreateOptions{FieldManager: "me", FieldValidation: "Strict"})
	c.note("create", made, err)
	_, err = all.Create(ctx, parsed(c, one), metav1.CreateOptions{FieldManager: "me"})
	c.note("create again", nil, err)
	_, err = all.Create(ctx, parsed(c, "{apiVersion: v1, kind: ConfigMap, metadata: {name: odd, namespace: default}, unheard: of}"),
		metav1.CreateOptions{FieldValidation: "Strict"})
	c.note("create with an unknown field", nil, err)
	_, err = c.client.Resource(configMaps).Namespace("nowhere").Create(ctx, parsed(c, "{apiVersion: v1, kind: ConfigMap, metadata: {name: x}}"), metav1.CreateOptions{})
	c.note("create in no namespace", nil, err)
	apply("apply what is there", "me", one, false)
	apply("apply it once more", "me", one, false)
	apply("another applies the same", "you", one, false)
	apply("another disagrees", "you", "{apiVersion: v1, kind: ConfigMap, metadata: {name: one, namespace: default}, data: {k: w}}", false)
	apply("another insists", "you", "{apiVersion: v1, kind: ConfigMap, metadata: {name: one, namespace: default}, data: {k: w}}", true)
	apply("the first takes a label back", "me", "{apiVersion: v1, kind: ConfigMap, metadata: {name: one, namespace: default}, data: {l: x}}", false)
	apply("an unknown field is applied", "me", "{apiVersion: v1, kind: ConfigMap, metadata: {name: one, namespace: default}, unheard: of}", false)
	apply("another UID is applied", "me", "{apiVersion: v1, kind: ConfigMap, metadata: {name: one, namespace: default, uid: wrong}, data: {l: x}}", true)
	apply("a UID without an object", "me", "{apiVersion: v1, kind: ConfigMap, metadata: {name: none, namespace: default, uid: wrong}, data: {l: x}}", true)
	apply("an old version is applied", "me", "{apiVersion: v1, kind: ConfigMap, metadata: {name: one, namespace: default, resourceVersion: '1'}, data: {l: x}}", true)
	patch := func(what string, kind types.PatchType, text string) {
		got, err := all.Patch(ctx, "one", kind, []byte(text), metav1.PatchOptions{FieldManager: "patcher"})
		c.note(what, got, err)
	}
	patch("merge patch", types.MergePatchType, `{"data": {"m": "1"}, "metadata": {"finalizers": ["example.org/f"]}}`)
	patch("merge patch that changes nothing", types.MergePatchType, `{"data": {"m": "1"}}`)
	patch("merge patch with another UID", types.MergePatchType, `{"metadata": {"uid": "wrong"}}`)
	patch("merge patch with an old version", types.MergePatchType, `{"metadata": {"resourceVersion": "1"}}`)
	patch("json patch", types.JSONPatchType, `[{"op": "replace", "path": "/data/m", "value": "2"}]`)
	patch("json patch of what is not there", types.JSONPatchType, `[{"op": "replace", "path": "/data/none/m", "value": "2"}]`)
	patch("json patch whose test fails", types.JSONPatchType, `[{"op": "test", "path": "/data/m", "value": "3"}]`)
	patch("strategic merge patch", types.StrategicMergePatchType, `{"data": {"m": "3"}}`)
	_, err = all.Patch(ctx, "none", types.MergePatchType, []byte(`{}`), metav1.PatchOptions{})
	c.note("patch of nothing", nil, err)
	uid := types.UID("wrong")
	c.gone("delete another UID", all.Delete(ctx, "one", metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &uid}}))
	c.gone("delete with a finalizer", all.Delete(ctx, "one", metav1.DeleteOptions{}))
	got, err := all.Get(ctx, "one", metav1.GetOptions{})
	c.note("it leaves", got, err)
	patch("the finalizer goes", types.JSONPatchType, `[{"op": "remove", "path": "/metadata/finalizers"}]`)
	_, err = all.Get(ctx, "one", metav1.GetOptions{})
	c.note("it is gone", nil, err)
	c.gone("delete nothing", all.Delete(ctx, "one", metav1.DeleteOptions{}))
	c.workload(ctx)
	_, err = c.client.Resource(schema.GroupVersionResource{Group: "example.org", Version: "v1", Resource: "unknowns"}).List(ctx, metav1.ListOptions{})
	c.note("a kind that no one serves", nil, err)
}

// workload tells of generations and a status.
func (c *conversation) workload(ctx context.Context) {
	all := c.client.Resource(deployments).Namespace("default")
	obj := parsed(c, deployment)
	got, err := all.Create(ctx, obj, metav1.CreateOptions{FieldManager: "me"})
	c.note("create a Deployment", got, err)
	for _, patch := range []string{`{"spec": {"replicas": 3}}`, `{"metadata": {"labels": {"a": "b"}}}`, `{"status": {"replicas": 7}}`} {
		got, err = all.Patch(ctx, "operator", types.MergePatchType, []byte(patch), metav1.PatchOptions{FieldManager: "patcher"})
		c.note("patch "+patch, got, err)
	}
	got, err = all.Patch(ctx, "operator", types.MergePatchType, []byte(`{"status": {"observedGeneration": 2, "replicas": 3}, "spec": {"replicas": 9}}`),
		metav1.PatchOptions{FieldManager: "controller"}, "status")
	c.note("patch of the status", got, err)
	c.gone("delete a Deployment", all.Delete(ctx, "operator", metav1.DeleteOptions{}))
}

func (c *conversation) gone(what string, err error) {
	if err == nil {
		c.answers = append(c.answers, what+": accepted")
		return
	}
	c.note(what, nil, err)
}

// TestAnswersAreThoseOfAnAPIServer says the same to a real API server and here, with and without its OpenAPI document.
func TestAnswersAreThoseOfAnAPIServer(t *testing.T) {
	apiserver.Need(t)
	config, err := apiserver.Start()
	if err != nil {
		t.Fatal(err)
	}
	document, err := discovery.NewDiscoveryClientForConfigOrDie(config).RESTClient().Get().AbsPath("/openapi/v2").
		SetHeader("Accept", "application/json").DoRaw(t.Context())
	must(t, err)
	genuine := &conversation{T: t, client: clientOf(t, config), versions: map[string]string{}}
	genuine.say()
	for name, schema := range map[string][]byte{"with the schema": document, "without one": nil} {
		t.Run(name, func(t *testing.T) {
			fleet := start(t, Options{Schema: schema})
			fleet.Runtime(0).ReadyAfter(-1)
			simulated := &conversation{T: t, client: clientOf(t, fleet.Runtime(0).Config()), versions: map[string]string{}}
			simulated.say()
			if diff := cmp.Diff(genuine.answers, simulated.answers); diff != "" {
				t.Errorf("other answers here (+) than by an API server (-):\n%s", diff)
			}
		})
	}
}
