package manifest

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/kyma-project/lifecycle-manager/pkg/content"
	"github.com/kyma-project/lifecycle-manager/pkg/installer/engine"
	"github.com/kyma-project/lifecycle-manager/pkg/render"
)

// secretNamed returns a Secret with a text of some length, as an API server returns it.
func secretNamed(name string, size int) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "Secret", "metadata": map[string]any{"namespace": "shop", "name": name},
		"data": map[string]any{"key": strings.Repeat("x", size)},
	}}
}

// What is answered is held by TestLookup of pkg/installer/engine.
func TestLookup(t *testing.T) {
	admin := render.Lookup{APIVersion: "v1", Kind: "Secret", Namespace: "shop", Name: "admin"}
	for name, test := range map[string]struct {
		name    string
		local   bool
		failing error
		want    string
		wrong   string
	}{
		"in a runtime":                {name: "admin", want: `"name":"admin"`},
		"in the hub itself":           {name: "admin", local: true, want: "null"},
		"an object that is too large": {name: "large", wrong: content.ReasonContentTooLarge},
		"a cluster that does not say": {name: "admin", failing: errors.New("no"), wrong: "shop/admin"},
	} {
		t.Run(name, func(t *testing.T) {
			w, c := settledWork()
			w.target.Local = test.local
			c.scopes = map[string]bool{"Secret": true}
			live := dynamicfake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(), map[schema.GroupVersionResource]string{
				secretsResource: "SecretList",
			}, secretNamed("admin", 1), secretNamed("large", engine.MaxFound))
			if test.failing != nil {
				live.PrependReactor("*", "secrets", func(clienttesting.Action) (bool, runtime.Object, error) { return true, nil, test.failing })
			}
			c.dynamic = live
			query := admin
			query.Name = test.name
			found, err := w.lookup(t.Context(), query)
			if text := fmt.Sprint(content.ReasonOf(err), err); test.wrong != "" && !strings.Contains(text, test.wrong) {
				t.Errorf("got %s, error %v, want %q", found, err, test.wrong)
			}
			if (err != nil) != (test.wrong != "") || !strings.Contains(string(found), test.want) {
				t.Errorf("got %s, error %v, want %s", found, err, test.want)
			}
			if test.local && len(live.Actions()) > 0 {
				t.Errorf("the hub was asked: %v", live.Actions())
			}
		})
	}
}
