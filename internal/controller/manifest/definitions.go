package manifest

import (
	"context"
	"fmt"
	"reflect"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/pkg/crdsafety"
	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

const (
	// objectsPerCall is the page of existing custom resources that are held against a new schema.
	objectsPerCall = 250
	// maxChecked bounds them: after so many that fit, the next ones are taken to fit too.
	maxChecked = 5000
)

// checkCRDs holds every CustomResourceDefinition that is about to change against the one in the cluster, and what exists of its kind against
// the new schema. A change that breaks somebody is refused before anything is written, unless the spec allows its rules by name.
func (r *Reconciler) checkCRDs(ctx context.Context, w *work, steps []inventory.Step) error {
	for _, step := range steps {
		if step.Entry.GroupKind() != crdKind || step.Why == inventory.WhyMissing || step.Why == inventory.WhyDrifted {
			continue
		}
		live, err := get(ctx, w.runtime.Cluster(), step.Object)
		if apierrors.IsNotFound(err) {
			continue // a new definition is no upgrade
		}
		if err != nil {
			return w.clusterProblem(step.Entry.ID, err)
		}
		if err := w.checkCRD(ctx, live, step.Object); err != nil {
			return err
		}
	}
	return nil
}

func (w *work) checkCRD(ctx context.Context, live, wanted *unstructured.Unstructured) error {
	before, after := &apiextensionsv1.CustomResourceDefinition{}, &apiextensionsv1.CustomResourceDefinition{}
	if runtime.DefaultUnstructuredConverter.FromUnstructured(live.Object, before) != nil {
		return nil // what the API server has is not ours to judge
	}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(wanted.Object, after); err != nil {
		return invalidContent(fmt.Sprintf("CustomResourceDefinition %s cannot be read: %v", wanted.GetName(), err))
	}
	if reflect.DeepEqual(before.Spec, after.Spec) {
		return nil
	}
	findings := crdsafety.Compare(before, after)
	if len(findings) == 0 {
		return nil // then everything that the old schema accepted fits the new one too
	}
	broken, err := w.checkObjects(ctx, before, after)
	if err != nil {
		return err
	}
	allowed := make([]string, 0, len(w.manifest.Spec.AllowCRDChanges))
	for _, rule := range w.manifest.Spec.AllowCRDChanges {
		allowed = append(allowed, string(rule))
	}
	left := crdsafety.Refuse(append(findings, broken...), allowed)
	if len(left) == 0 {
		return nil
	}
	return &Problem{Reason: v1beta2.ReasonCRDChangeRefused, Message: crdsafety.Message(wanted.GetName(), left), Retry: retryRefused}
}

// checkObjects holds what exists against the new schema, in the version that the API server stores.
func (w *work) checkObjects(ctx context.Context, before, after *apiextensionsv1.CustomResourceDefinition) ([]crdsafety.Finding, error) {
	version := ""
	for i := range before.Spec.Versions {
		if v := before.Spec.Versions[i]; v.Served && (v.Storage || version == "") {
			version = v.Name
		}
	}
	validator, err := crdsafety.NewValidator(after)
	if err != nil {
		return nil, invalidContent(fmt.Sprintf("CustomResourceDefinition %s: %v", after.Name, err))
	}
	if version == "" || before.DeletionTimestamp != nil {
		return nil, nil
	}
	resource := schema.GroupVersionResource{Group: before.Spec.Group, Version: version, Resource: before.Spec.Names.Plural}
	var found []crdsafety.Finding
	options := metav1.ListOptions{Limit: objectsPerCall}
	for checked := 0; checked < maxChecked; {
		list, err := w.runtime.Cluster().Dynamic.Resource(resource).List(ctx, options)
		if apierrors.IsNotFound(err) {
			return found, nil // not served yet
		}
		if err != nil {
			return nil, w.clusterProblem(inventory.ID{Group: before.Spec.Group, Kind: before.Spec.Names.Kind}, err)
		}
		for i := range list.Items {
			found = append(found, validator.Validate(&list.Items[i])...)
		}
		checked += len(list.Items)
		if options.Continue = list.GetContinue(); options.Continue == "" {
			break
		}
	}
	return found, nil
}
