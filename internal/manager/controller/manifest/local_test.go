package manifest

import (
	"context"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/manager/runtimes"
	"github.com/kyma-project/lifecycle-manager/pkg/conditions"
	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

// ofTenant is a Manifest for the hub itself, in a namespace that may not install there.
func ofTenant(m *v1beta2.Manifest) { m.Namespace = "tenant" }

func TestAdmit_RefusesLocalInstallationFromOtherNamespaces(t *testing.T) {
	no := false
	kyma := &v1beta2.Kyma{ObjectMeta: metav1.ObjectMeta{Namespace: "tenant", Name: "local", UID: "uid-kyma"}}
	kyma.Spec.Remote = &no
	for name, test := range map[string]struct {
		change  func(*v1beta2.Manifest)
		refused bool
	}{
		"alone":                       {func(*v1beta2.Manifest) {}, true},
		"of a local Kyma":             {ofKyma("local", "uid-kyma"), true},
		"alone and for a runtime":     {func(m *v1beta2.Manifest) { m.Spec.Remote = true }, false},
		"of a Kyma that is gone":      {ofKyma("gone", "uid-gone"), false},
		"alone, in a namespace named": {func(m *v1beta2.Manifest) { m.Namespace = "kcp-system" }, false},
		"alone, by an account":        {byAccount("deployer"), false},
	} {
		t.Run(name, func(t *testing.T) {
			manifest := newManifest(ofTenant, installed(3), test.change)
			manifest.Status.Synced = toStatus([]inventory.Entry{entryOf(accountID)})
			r := newReconciler(t, manifest, kyma)
			asked := &countingClusters{reached: reached{&cluster{}}}
			r.Clusters = asked
			if _, err := r.Reconcile(t.Context(), ctrl.Request{NamespacedName: client.ObjectKeyFromObject(manifest)}); err != nil {
				t.Fatal(err)
			}
			got := stored(t, r, manifest)
			ready := conditions.Find(got.Status.Conditions, v1beta2.ConditionReady)
			refused := ready.Reason == v1beta2.ReasonLocalNamespaceRefused
			if refused != test.refused || (asked.times == 0) != test.refused {
				t.Fatalf("told %+v after %d connections, refused: want %v", ready, asked.times, test.refused)
			}
			if !refused {
				return
			}
			if got.Status.State != v1beta2.StateError || !strings.Contains(ready.Message, "namespace tenant") ||
				!strings.Contains(ready.Message, "--local-namespaces") {
				t.Errorf("state %s, message %q", got.Status.State, ready.Message)
			}
			if len(got.Status.Synced) != 1 || !conditions.IsTrueAt(got.Status.Conditions, v1beta2.ConditionInstallation, 3) {
				t.Errorf("what runs is forgotten: %+v", got.Status)
			}
		})
	}
}

// countingClusters is a Fleet that counts connections.
type countingClusters struct {
	reached
	times int
}

func (a *countingClusters) Get(ctx context.Context, target Target) (Runtime, error) {
	a.times++
	return a.reached.Get(ctx, target)
}

// definition returns that of kind Sample, with an owner mark.
func definition(owner string) *unstructured.Unstructured {
	made := object("apiextensions.k8s.io/v1", "CustomResourceDefinition", "samples.example.com")
	made.SetAnnotations(map[string]string{v1beta2.AnnotationOwnedBy: owner})
	made.Object["spec"] = map[string]any{"group": "example.com", "names": map[string]any{"kind": "Sample"}}
	return made
}

// TestRemove_DeletesOnlyOursWhenConfined covers a Manifest that was installed when that was allowed, and whose spec users
// of its namespace have changed since: the default custom resource that it names may be any object of the hub.
func TestRemove_DeletesOnlyOursWhenConfined(t *testing.T) {
	recorded := inventory.Entry{
		ID:      inventory.ID{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition", Name: "samples.example.com"},
		Version: "v1", Hash: "hash",
	}
	for name, test := range map[string]struct {
		change   func(*v1beta2.Manifest)
		recorded bool
		owner    string
		goes     bool
	}{
		"a custom resource of our own kind goes":                       {ofTenant, true, "tenant/sample", true},
		"one of a kind that another Manifest defined stays":            {ofTenant, true, "kcp-system/other", false},
		"one of a kind that this Manifest did not define stays":        {ofTenant, false, "tenant/sample", false},
		"in a namespace that may install any that the spec names goes": {func(*v1beta2.Manifest) {}, false, "", true},
	} {
		t.Run(name, func(t *testing.T) {
			cr := object("example.com/v1", "Sample", "default")
			cr.SetNamespace("default")
			c := &cluster{dynamic: dynamicfake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(),
				map[schema.GroupVersionResource]string{
					samplesResource: "SampleList", inventory.CRDResource: "CustomResourceDefinitionList",
				}, cr, definition(test.owner)), scopes: map[string]bool{"Sample": true}}
			manifest := newManifest(withResource(""), test.change, func(m *v1beta2.Manifest) {
				m.DeletionTimestamp = &testTime
				m.Spec.CustomStateCheck = []v1beta2.CustomStateCheck{{JSONPath: "data.password", Value: "guess", MappedState: v1beta2.StateReady}}
				conditions.Set(&m.Status.Conditions, v1beta2.ConditionModuleCR, metav1.ConditionTrue, v1beta2.ReasonCreated, "", 3, testTime)
				if test.recorded {
					m.Status.Synced = toStatus([]inventory.Entry{recorded})
				}
			})
			r := newReconciler(t, manifest)
			r.Clusters = reached{c}
			w := newScope(manifest, testTime)
			if err := r.connect(t.Context(), w); err != nil {
				t.Fatal(err)
			}
			if err := r.removeModuleCRs(t.Context(), w); err != nil && !resultOf(err).waits() {
				t.Fatal(err)
			}
			_, err := c.dynamic.Resource(samplesResource).Namespace("default").Get(t.Context(), "default", metav1.GetOptions{})
			if gone := apierrors.IsNotFound(err); gone != test.goes {
				t.Errorf("gone %v (%v), want %v", gone, err, test.goes)
			}
			looks := false
			for _, interest := range w.interests(w.desired) {
				looks = looks || interest.Mode == runtimes.ModuleCR
			}
			if looks != test.goes {
				t.Errorf("its kind is watched: %v, want %v", looks, test.goes)
			}
		})
	}
}

// TestRemove_AppliesNothingWhenConfinedAndBlocked: elsewhere a module is kept whole for the custom resources that block its deletion.
func TestRemove_AppliesNothingWhenConfinedAndBlocked(t *testing.T) {
	manifest := newManifest(ofTenant, func(m *v1beta2.Manifest) { m.DeletionTimestamp = &testTime })
	r := newReconciler(t, manifest)
	w := newScope(manifest, testTime)
	r.Clusters = reached{&cluster{}}
	r.Content = nil // asking for content would panic
	if err := r.connect(t.Context(), w); err != nil {
		t.Fatal(err)
	}
	if compared, err := r.keepRunning(t.Context(), w); compared || err != nil {
		t.Errorf("compared %v, error %v", compared, err)
	}
}
