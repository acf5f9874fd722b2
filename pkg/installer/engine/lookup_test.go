package engine_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/kyma-project/lifecycle-manager/pkg/apply"
	"github.com/kyma-project/lifecycle-manager/pkg/content"
	"github.com/kyma-project/lifecycle-manager/pkg/installer/engine"
	"github.com/kyma-project/lifecycle-manager/pkg/render"
)

var secretsResource = schema.GroupVersionResource{Version: "v1", Resource: "secrets"}

// secretNamed returns a Secret with a text of some length, as an API server returns it.
func secretNamed(name string, size int) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "Secret",
		"metadata": map[string]any{"namespace": "shop", "name": name, "managedFields": []any{map[string]any{"manager": "kubectl"}}},
		"data":     map[string]any{"key": strings.Repeat("x", size)},
	}}
}

// onlySecrets serves Secrets and no other kind.
func onlySecrets(_ context.Context, gvk schema.GroupVersionKind) (apply.Resource, error) {
	if gvk.Kind != "Secret" {
		return apply.Resource{}, &apply.UnknownKindError{GroupVersionKind: gvk}
	}
	return apply.Resource{GroupVersionResource: secretsResource, Namespaced: true}, nil
}

// continued has an API server that lists a page and says that there is more.
func continued(live *dynamicfake.FakeDynamicClient) {
	live.PrependReactor("list", "secrets", func(clienttesting.Action) (bool, runtime.Object, error) {
		list := &unstructured.UnstructuredList{Object: map[string]any{"apiVersion": "v1", "kind": "SecretList"}}
		list.SetContinue("more")
		return true, list, nil
	})
}

func failing(err error) func(*dynamicfake.FakeDynamicClient) {
	return func(live *dynamicfake.FakeDynamicClient) {
		live.PrependReactor("*", "secrets", func(clienttesting.Action) (bool, runtime.Object, error) { return true, nil, err })
	}
}

func TestLookup(t *testing.T) {
	const admin = `{"apiVersion":"v1","data":{"key":"x"},"kind":"Secret","metadata":{"name":"admin","namespace":"shop"}}`
	forbidden := apierrors.NewForbidden(secretsResource.GroupResource(), "admin", errors.New("no"))
	for name, test := range map[string]struct {
		query  render.Lookup
		server func(*dynamicfake.FakeDynamicClient)
		want   string
		wrong  string
	}{
		"an object without its managed fields": {query: render.Lookup{APIVersion: "v1", Kind: "Secret", Namespace: "shop", Name: "admin"}, want: admin},
		"an object that is not there":          {query: render.Lookup{APIVersion: "v1", Kind: "Secret", Namespace: "shop", Name: "other"}, want: "null"},
		"an object of another namespace":       {query: render.Lookup{APIVersion: "v1", Kind: "Secret", Namespace: "home", Name: "admin"}, want: "null"},
		"a kind that is not served":            {query: render.Lookup{APIVersion: "example.com/v1", Kind: "Lamp", Name: "a"}, want: "null"},
		"the objects of an empty namespace":    {query: render.Lookup{APIVersion: "v1", Kind: "Secret", Namespace: "home"}, want: `{"apiVersion":"v1","items":[],"kind":"SecretList","metadata":{"continue":"","resourceVersion":""}}`},
		"an object that is too large":          {query: render.Lookup{APIVersion: "v1", Kind: "Secret", Namespace: "shop", Name: "large"}, wrong: content.ReasonContentTooLarge},
		"a list that goes on":                  {query: render.Lookup{APIVersion: "v1", Kind: "Secret", Namespace: "shop"}, server: continued, wrong: content.ReasonContentTooLarge},
		"an object that the user may not read": {query: render.Lookup{APIVersion: "v1", Kind: "Secret", Namespace: "shop", Name: "admin"}, server: failing(forbidden), wrong: "forbidden"},
		"a cluster that does not list for now": {query: render.Lookup{APIVersion: "v1", Kind: "Secret", Namespace: "shop"}, server: failing(errors.New("not now")), wrong: "not now"},
	} {
		t.Run(name, func(t *testing.T) {
			live := dynamicfake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(), map[schema.GroupVersionResource]string{
				secretsResource: "SecretList",
			}, secretNamed("admin", 1), secretNamed("large", engine.MaxFound))
			if test.server != nil {
				test.server(live)
			}
			found, err := engine.Lookup(t.Context(), &apply.Cluster{Dynamic: live, Resource: onlySecrets}, test.query)
			if test.wrong != "" {
				if text := fmt.Sprint(content.ReasonOf(err), err); err == nil || !strings.Contains(text, test.wrong) {
					t.Errorf("got %s, error %v, want %q", found, err, test.wrong)
				}
				return
			}
			if err != nil || string(found) != test.want {
				t.Errorf("got %s, error %v, want %s", found, err, test.want)
			}
		})
	}
}
