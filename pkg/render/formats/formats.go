// Package formats lists every format of content that this module renders, by the source type that selects it.
//
// It is the package to import where the format is only known at run time, as in the manager, and it links the Helm and Kustomize libraries.
// Non-goals: it renders nothing itself. A program that knows its formats imports their packages alone.
package formats

import (
	"github.com/kyma-project/lifecycle-manager/pkg/render"
	"github.com/kyma-project/lifecycle-manager/pkg/render/helm"
	"github.com/kyma-project/lifecycle-manager/pkg/render/kustomize"
)

// Builtin returns a new map of the renderers by the source types of Manifests. The empty type is a single file.
func Builtin() map[string]render.Renderer {
	return map[string]render.Renderer{
		"":           render.Raw{},
		"oci-ref":    render.Raw{},
		"oci-dir":    render.FirstFile{},
		"helm-chart": helm.Renderer{},
		"kustomize":  kustomize.Renderer{},
		"bundle":     render.Bundle{},
	}
}
