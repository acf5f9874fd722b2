package formats

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kyma-project/lifecycle-manager/pkg/content"
	"github.com/kyma-project/lifecycle-manager/pkg/render"
	"github.com/kyma-project/lifecycle-manager/pkg/render/internal/rendertest"
	"github.com/kyma-project/lifecycle-manager/pkg/render/kustomize"
)

func TestFormats_RenderingEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	tree := rendertest.Content("", rendertest.Config("a"), "manifests/a.yaml", rendertest.Config("a"), "kustomization.yaml", "resources: [a]\n")
	for name, renderer := range map[string]render.Renderer{"first file": render.FirstFile{}, "bundle": render.Bundle{}, "kustomize": kustomize.Renderer{}} {
		_, err := renderer.Render(ctx, tree, render.Input{})
		if err == nil {
			t.Fatalf("%s renders all the same", name)
		}
		rendertest.WantRefusal(t, err, content.ReasonInternal, "rendering was given up: context canceled")
	}
}

func TestFormats_BuiltinKnowsTheSourceTypes(t *testing.T) {
	for name, test := range map[string]struct{ folder, want string }{
		"":           {"", "ConfigMap a"},
		"oci-ref":    {"", "ConfigMap a"},
		"oci-dir":    {"a.yaml", "ConfigMap a"},
		"bundle":     {"manifests/a.yaml", "ConfigMap a"},
		"kustomize":  {"a.yaml", "ConfigMap x-a"},
		"helm-chart": {"", "ConfigMap a"},
	} {
		if len(Builtin()) != 6 {
			t.Fatalf("%d formats", len(Builtin()))
		}
		tree := rendertest.Content(test.folder, rendertest.Config("a"))
		if name == "kustomize" {
			tree = rendertest.Content("a.yaml", rendertest.Config("a"), "kustomization.yaml", "resources: [a.yaml]\nnamePrefix: x-\n")
		}
		if name == "helm-chart" {
			tree = rendertest.Content("Chart.yaml", "apiVersion: v2\nname: c\nversion: 1.0.0\n", "templates/a.yaml", rendertest.Config("{{ .Release.Name }}"))
		}
		rendered, err := Builtin()[name].Render(t.Context(), tree, render.Input{Name: "a"})
		if err != nil || !cmp.Equal(rendertest.Identities(rendered.Objects()), []string{test.want}) {
			t.Errorf("%q renders %v: %v", name, rendertest.Identities(rendered.Objects()), err)
		}
	}
}
