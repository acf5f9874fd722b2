package statusreader

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/client/modulestatus"
)

// TestLeftbehind_WhatAModuleLeftBehindIsFound covers a module that was installed by hand and whose operator is gone: its default custom
// resource is the only trace of it.
func TestLeftbehind_WhatAModuleLeftBehindIsFound(t *testing.T) {
	c := admin(t)
	create(t, c, namespace("left"))
	resource := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "Secret", "metadata": map[string]any{"namespace": "left", "name": "only"},
	}}
	create(t, c, resource.DeepCopy())
	for i := range 3 {
		template := &v1beta2.ModuleTemplate{ObjectMeta: metav1.ObjectMeta{Namespace: "left", Name: fmt.Sprintf("orphan-0.%d.0", i)}}
		template.Spec = v1beta2.ModuleTemplateSpec{
			ModuleName: "orphan", Version: fmt.Sprintf("0.%d.0", i), Data: resource.DeepCopy(),
			Manager: &v1beta2.Manager{
				GroupVersionKind: metav1.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"}, Namespace: "left", Name: "gone",
			},
		}
		create(t, c, template)
		t.Cleanup(func() { _ = c.Delete(context.WithoutCancel(t.Context()), template) })
	}
	var asked atomic.Int64
	config, _ := server()
	counted := rest.CopyConfig(config)
	counted.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return counting(func(r *http.Request) (*http.Response, error) {
			if r.URL.Path == "/api/v1/secrets" {
				asked.Add(1)
			}
			return next.RoundTrip(r)
		})
	})
	in, err := Read(t.Context(), connect(t, counted), Scope{Namespace: "left"})
	if err != nil {
		t.Fatal(err)
	}
	modules := modulestatus.Modules(in)
	at := slices.IndexFunc(modules, func(m modulestatus.Module) bool { return m.Name == "orphan" })
	if at < 0 {
		t.Fatalf("no one knows of it: %+v", modules)
	}
	if is := modules[at].Installation; is.Reason != modulestatus.WhyManagerMissing || !strings.Contains(is.Message, "left/only") {
		t.Errorf("it is told as %+v", is)
	}
	if n := asked.Load(); n != 1 {
		t.Errorf("its kind was listed %d times for three versions", n)
	}
}
