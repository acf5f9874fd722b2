package render

import (
	"context"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kyma-project/lifecycle-manager/pkg/content"
)

// Renderer turns unpacked content into objects. A new format implements this and is registered in internal/manager/setup. It is a
// function of its arguments: no cluster, no network, no clock; errors are *content.Error.
type Renderer interface {
	Render(ctx context.Context, tree *content.Tree, input Input) (Rendered, error)
}

// Input is what a renderer may use beside the content. Plain formats use none of it.
type Input struct {
	// Name of the installation; Helm's release name.
	Name string
	// Namespace that namespaced objects go to that name none; Helm's release namespace. Empty means DefaultNamespace.
	Namespace string
	// Path of the folder in the content that the format begins at, for those that refer to what is beside it (Kustomize).
	Path string
	// Values for formats that take some; nil for none.
	Values map[string]any
	// KubeVersion ("v1.36.3") and APIVersions ("apps/v1", "apps/v1/Deployment") of the cluster; empty means a library default.
	KubeVersion string
	APIVersions []string
}

// Rendered is what content declares.
type Rendered struct {
	// Steps are applied one after the other, the objects of each in the order of their kinds. Most formats have one step.
	Steps [][]*unstructured.Unstructured
}

// Objects returns those of all steps in order.
func (r Rendered) Objects() []*unstructured.Unstructured {
	var all []*unstructured.Unstructured
	for _, step := range r.Steps {
		all = append(all, step...)
	}
	return all
}
