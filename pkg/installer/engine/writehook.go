package engine

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kyma-project/lifecycle-manager/pkg/apply"
	"github.com/kyma-project/lifecycle-manager/pkg/hooks"
	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

// WriteHook writes the object of a hook, and returns it as it is then. What runs to completion is created and never changed: that would
// take an earlier run for this one.
func WriteHook(
	ctx context.Context, cluster *apply.Cluster, hook hooks.Hook, object *unstructured.Unstructured, options apply.Options,
) (*unstructured.Unstructured, apply.Outcome) {
	if hook.RunsToCompletion() {
		return createHook(ctx, cluster, object, options.Manager)
	}
	step := inventory.Step{Object: object, Entry: hooks.EntryOf(object, "", inventory.Entry{}), Why: inventory.WhyNew}
	outcome := cluster.Apply(ctx, []inventory.Step{step}, options)[0]
	object.SetUID(outcome.UID)
	return object, outcome
}

func createHook(
	ctx context.Context, cluster *apply.Cluster, object *unstructured.Unstructured, manager string,
) (made *unstructured.Unstructured, outcome apply.Outcome) {
	id := inventory.IDOf(object)
	resource, err := cluster.Resource(ctx, object.GroupVersionKind())
	if err == nil {
		client := cluster.Dynamic.Resource(resource.GroupVersionResource).Namespace(object.GetNamespace())
		options := metav1.CreateOptions{FieldManager: manager, FieldValidation: metav1.FieldValidationStrict}
		made, err = apply.Create(ctx, client, resource, object, options)
	}
	if err != nil {
		told := apply.Explain("create", id, err, object)
		return nil, apply.Outcome{ID: id, Action: apply.Failed, Err: told, Class: told.Class}
	}
	if cluster.Learn != nil {
		cluster.Learn(made)
	}
	return made, apply.Outcome{ID: id, Action: apply.Created, UID: made.GetUID()}
}
