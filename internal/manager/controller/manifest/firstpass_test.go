package manifest

import (
	"context"
	"slices"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

// undiscovered is a cluster of which no kind was discovered yet.
type undiscovered struct{ *cluster }

func (undiscovered) Namespaced(schema.GroupVersionKind) (namespaced, known bool) { return false, false }

func TestRenderDesired_DiscoversKindsBeforePlacingObjects(t *testing.T) {
	manifest := newManifest(func(m *v1beta2.Manifest) { m.Spec.TargetNamespace = "target" })
	r := newReconciler(t, manifest)
	parts := []Part{{Source: v1beta2.ResolvedSource{Name: "raw-manifest", Digest: digest}, Steps: [][]*unstructured.Unstructured{{
		object("example.com/v1", "Sample", "theirs"), object("example.com/v1", "Wide", "scoped"), object("example.com/v1", "Unserved", "later"),
	}}}}
	r.Content = &contents{parts: parts}
	w := newScope(manifest, testTime)
	w.runtime = undiscovered{&cluster{scopes: map[string]bool{"Sample": true, "Wide": false}}}
	if err := r.renderDesired(context.Background(), w); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, placed := range w.desired {
		got = append(got, inventory.IDOf(placed).String())
	}
	want := []string{"Sample.example.com target/theirs", "Wide.example.com scoped", "Unserved.example.com later"}
	if !slices.Equal(got, want) {
		t.Errorf("placed %q, want %q", got, want)
	}
}

func TestCreateModuleCR_RequestsItsNamespaceAgain(t *testing.T) {
	inDefaultPlace := func(m *v1beta2.Manifest) { m.Spec.Resource.SetNamespace("") }
	w, c := settledWork(ofKyma("kyma", "kyma-uid"), withResource(""), inDefaultPlace)
	r := newReconciler(t, w.manifest.DeepCopy())
	c.scopes = map[string]bool{"Sample": true, "Namespace": false}
	lists := map[schema.GroupVersionResource]string{
		samplesResource: "SampleList", {Version: "v1", Resource: "namespaces"}: "NamespaceList",
	}
	hub := dynamicfake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(), lists)
	c.dynamic = hub
	missing := true
	hub.PrependReactor("create", "samples", func(clienttesting.Action) (bool, runtime.Object, error) {
		if missing {
			return true, nil, apierrors.NewNotFound(schema.GroupResource{Resource: "namespaces"}, v1beta2.RuntimeNamespace)
		}
		return false, nil, nil
	})
	if err := r.createModuleCR(t.Context(), w); err == nil {
		t.Fatal("it was created in a namespace that is not there")
	}
	if !slices.Contains(c.again, namespaceOnce) {
		t.Errorf("the namespace is not asked for again: %q", c.again)
	}
	missing = false
	if err := r.createModuleCR(t.Context(), w); err != nil || !w.moduleCRCreated() {
		t.Fatalf("error %v, created %t", err, w.moduleCRCreated())
	}
	if !slices.ContainsFunc(hub.Actions(), func(a clienttesting.Action) bool { return a.Matches("create", "namespaces") }) {
		t.Error("the namespace was never made")
	}
}
