package apply

import (
	"context"
	"slices"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	clienttesting "k8s.io/client-go/testing"
	"sigs.k8s.io/yaml"
)

// partsDefinition returns a definition of Parts, served or not, whose spec has these fields.
func partsDefinition(t *testing.T, served, properties string) *unstructured.Unstructured {
	t.Helper()
	made := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(`
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: parts.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {kind: Part, plural: parts}
  versions:
  - name: v1
    served: `+served+`
    storage: true
    schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {`+properties+`}}}}}
`), &made.Object); err != nil {
		t.Fatal(err)
	}
	return made
}

// Existing objects are listed once, and only when a rule finds a problem. Objects that could not be listed count as existing.
func TestCheckDefinitionLooksBeforeItBelieves(t *testing.T) {
	definitions := schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}
	parts := schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "parts"}
	const sized, bound = "size: {type: integer}", "size: {type: integer, maximum: 5}"
	part := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "example.com/v1", "kind": "Part", "metadata": map[string]any{"name": "a", "namespace": "default"},
		"spec": map[string]any{"size": int64(1)},
	}}
	for _, test := range []struct {
		name, served, after string
		exists              []runtime.Object
		refuse              error
		want, calls         string
	}{
		{"the same", "true", sized, nil, nil, "", "get"},
		{"a change that is always safe", "true", sized + ", name: {type: string}", nil, nil, "", "get"},
		{"without an object", "true", bound, nil, nil, "", "get list"},
		{"with an object", "true", bound, []runtime.Object{part}, nil, "BoundNarrowed", "get list"},
		{"objects that may not be listed may exist", "true", bound, nil,
			apierrors.NewForbidden(parts.GroupResource(), "", nil), "BoundNarrowed ObjectInvalid", "get list"},
		{"a kind that is not served yet may have objects", "true", bound, nil,
			apierrors.NewNotFound(parts.GroupResource(), ""), "BoundNarrowed", "get list"},
		{"no version is served in which they could be listed", "false", bound, nil, nil, "BoundNarrowed", "get"},
	} {
		t.Run(test.name, func(t *testing.T) {
			client := dynamicfake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(),
				map[schema.GroupVersionResource]string{definitions: "CustomResourceDefinitionList", parts: "PartList"},
				append(test.exists, partsDefinition(t, test.served, sized))...)
			client.PrependReactor("list", "parts", func(clienttesting.Action) (bool, runtime.Object, error) {
				return test.refuse != nil, nil, test.refuse
			})
			cluster := &Cluster{Dynamic: client, Resource: func(context.Context, schema.GroupVersionKind) (Resource, error) {
				return Resource{GroupVersionResource: definitions}, nil
			}}
			findings, err := cluster.CheckDefinition(t.Context(), partsDefinition(t, test.served, test.after))
			if err != nil {
				t.Fatal(err)
			}
			var rules, verbs []string
			for _, finding := range findings {
				rules = append(rules, finding.Rule)
			}
			for _, action := range client.Actions() {
				verbs = append(verbs, action.GetVerb())
			}
			if got := strings.Join(rules, " "); got != test.want {
				t.Errorf("rules %q, want %q", got, test.want)
			}
			if got := strings.Join(verbs, " "); got != test.calls {
				t.Errorf("calls %q, want %q", got, test.calls)
			}
			if slices.Contains(rules, "ObjectInvalid") && !strings.Contains(findings[1].Message, "parts.example.com is forbidden") {
				t.Errorf("message %q", findings[1].Message)
			}
		})
	}
	// A failure is neither: it is reported, and tried again.
	client := dynamicfake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(),
		map[schema.GroupVersionResource]string{definitions: "CustomResourceDefinitionList", parts: "PartList"}, partsDefinition(t, "true", sized))
	client.PrependReactor("list", "parts", func(clienttesting.Action) (bool, runtime.Object, error) {
		return true, nil, apierrors.NewInternalError(context.DeadlineExceeded)
	})
	cluster := &Cluster{Dynamic: client, Resource: func(context.Context, schema.GroupVersionKind) (Resource, error) {
		return Resource{GroupVersionResource: definitions}, nil
	}}
	if findings, err := cluster.CheckDefinition(t.Context(), partsDefinition(t, "true", bound)); err == nil {
		t.Errorf("a failed LIST tells nothing, and yet %v", findings)
	}
}
