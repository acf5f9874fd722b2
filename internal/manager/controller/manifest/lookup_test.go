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
	"github.com/kyma-project/lifecycle-manager/pkg/render"
)

// secretNamed returns a Secret with a text of some length, as an API server returns it.
func secretNamed(name string, size int) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "Secret",
		"metadata": map[string]any{"namespace": "shop", "name": name, "managedFields": []any{map[string]any{"manager": "kubectl"}}},
		"data":     map[string]any{"key": strings.Repeat("x", size)},
	}}
}

func TestLookup(t *testing.T) {
	const admin = `{"apiVersion":"v1","data":{"key":"x"},"kind":"Secret","metadata":{"name":"admin","namespace":"shop"}}`
	for name, test := range map[string]struct {
		query   render.Lookup
		local   bool
		failing error
		want    string
		wrong   string
	}{
		"an object":                            {query: render.Lookup{APIVersion: "v1", Kind: "Secret", Namespace: "shop", Name: "admin"}, want: admin},
		"an object that is not there":          {query: render.Lookup{APIVersion: "v1", Kind: "Secret", Namespace: "shop", Name: "other"}, want: "null"},
		"an object of another namespace":       {query: render.Lookup{APIVersion: "v1", Kind: "Secret", Namespace: "home", Name: "admin"}, want: "null"},
		"a kind that is not served":            {query: render.Lookup{APIVersion: "example.com/v1", Kind: "Lamp", Name: "a"}, want: "null"},
		"the hub itself":                       {query: render.Lookup{APIVersion: "v1", Kind: "Secret", Namespace: "shop", Name: "admin"}, local: true, want: "null"},
		"the objects of an empty namespace":    {query: render.Lookup{APIVersion: "v1", Kind: "Secret", Namespace: "home"}, want: `{"apiVersion":"v1","items":[],"kind":"SecretList","metadata":{"continue":"","resourceVersion":""}}`},
		"an object that is too large":          {query: render.Lookup{APIVersion: "v1", Kind: "Secret", Namespace: "shop", Name: "large"}, wrong: content.ReasonContentTooLarge},
		"a cluster that does not say":          {query: render.Lookup{APIVersion: "v1", Kind: "Secret", Namespace: "shop", Name: "admin"}, failing: errors.New("no"), wrong: "shop/admin"},
		"a cluster that does not list for now": {query: render.Lookup{APIVersion: "v1", Kind: "Secret", Namespace: "shop"}, failing: errors.New("no"), wrong: "shop"},
	} {
		t.Run(name, func(t *testing.T) {
			w, c := settledWork()
			w.target.Local = test.local
			c.scopes = map[string]bool{"Secret": true}
			live := dynamicfake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(), map[schema.GroupVersionResource]string{
				secretsResource: "SecretList",
			}, secretNamed("admin", 1), secretNamed("large", maxFound))
			if test.failing != nil {
				live.PrependReactor("*", "secrets", func(clienttesting.Action) (bool, runtime.Object, error) { return true, nil, test.failing })
			}
			c.dynamic = live
			found, err := w.lookup(t.Context(), test.query)
			if test.wrong != "" {
				if text := fmt.Sprint(content.ReasonOf(err), err); err == nil || !strings.Contains(text, test.wrong) {
					t.Errorf("got %s, error %v, want %q", found, err, test.wrong)
				}
				return
			}
			if err != nil || string(found) != test.want {
				t.Errorf("got %s, error %v, want %s", found, err, test.want)
			}
			if test.local && len(live.Actions()) > 0 {
				t.Errorf("the hub was asked: %v", live.Actions())
			}
		})
	}
}
