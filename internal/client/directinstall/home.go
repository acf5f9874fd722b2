package directinstall

import (
	"context"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/internal/client/modulestatus"
	"github.com/kyma-project/lifecycle-manager/pkg/apply"
	"github.com/kyma-project/lifecycle-manager/pkg/content"
	"github.com/kyma-project/lifecycle-manager/pkg/installer"
	"github.com/kyma-project/lifecycle-manager/pkg/render"
)

// relation returns the relation of another owner mark to a direct installation: that of another one, of one that is gone, or a foreign one.
func relation(others map[string]*installer.RecordOf) func(string) apply.Relation {
	return func(mark string) apply.Relation {
		switch {
		case others[mark] != nil:
			return apply.OwnerSibling
		case ours(mark):
			return apply.OwnerGone
		}
		return apply.OwnerForeign
	}
}

// list reads the Secrets of all records.
func (j *job) list(ctx context.Context, into client.ObjectList) error {
	err := j.cluster.Client.List(ctx, into, client.InNamespace(modulestatus.DirectNamespace), client.HasLabels{modulestatus.LabelDirect})
	if apierrors.IsForbidden(err) {
		return refuse(ReasonForbidden, "the Secrets of namespace %s cannot be listed, which name what modules share: %w",
			modulestatus.DirectNamespace, err)
	}
	return err
}

// home leaves the namespace of the records out of the content if it already exists: modules declare it, and none owns it.
func (j *job) home(ctx context.Context, inst *installer.Installation) error {
	live, err := j.cluster.Dynamic.Resource(namespaces).Get(ctx, modulestatus.DirectNamespace, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return err
	}
	if ours(live.GetAnnotations()[installer.DefaultOwnerKey]) {
		return nil
	}
	for i := range inst.Sources {
		inst.Sources[i].Renderer = homeless{inst.Sources[i].Renderer}
	}
	return nil
}

// homeless renders everything but the namespace of the records.
type homeless struct{ render.Renderer }

// Render implements render.Renderer.
func (h homeless) Render(ctx context.Context, tree *content.Tree, input render.Input) (render.Rendered, error) {
	renderer := h.Renderer
	if renderer == nil {
		renderer = render.Raw{}
	}
	rendered, err := renderer.Render(ctx, tree, input)
	for i := range rendered.Steps {
		rendered.Steps[i] = slices.DeleteFunc(slices.Clone(rendered.Steps[i]), isHome)
	}
	rendered.Hooks = slices.DeleteFunc(slices.Clone(rendered.Hooks), isHome)
	return rendered, err
}

func isHome(object *unstructured.Unstructured) bool {
	return object.GetAPIVersion() == "v1" && object.GetKind() == "Namespace" && object.GetName() == modulestatus.DirectNamespace
}
