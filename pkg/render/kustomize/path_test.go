package kustomize

import (
	"context"
	"testing"

	"github.com/kyma-project/lifecycle-manager/pkg/content"
	"github.com/kyma-project/lifecycle-manager/pkg/render"
)

// The path of a Manifest's source comes with the input: one renderer is there for all.
func TestKustomizeBeginsWhereTheInputSays(t *testing.T) {
	tree := &content.Tree{Files: []content.File{
		{Path: "base/kustomization.yaml", Data: []byte("resources: [map.yaml]\n")},
		{Path: "base/map.yaml", Data: []byte("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: one}\n")},
		{Path: "overlay/kustomization.yaml", Data: []byte("resources: [../base]\nnamePrefix: my-\n")},
	}}
	for path, want := range map[string]string{"overlay": "my-one", "base": "one", "": "one"} {
		rendered, err := Renderer{Path: "base"}.Render(context.Background(), tree, render.Input{Path: path})
		if err != nil {
			t.Fatal(err)
		}
		if got := rendered.Steps[0][0].GetName(); got != want {
			t.Errorf("with the path %q of the input, kustomize makes %s, want %s", path, got, want)
		}
	}
}
