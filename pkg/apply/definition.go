package apply

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

	"github.com/kyma-project/lifecycle-manager/pkg/crdsafety"
	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

// maxChecked bounds the custom resources that are checked against a new schema; the rest are assumed to fit.
const maxChecked = 5000

// CheckDefinition compares a CustomResourceDefinition with the one in the cluster, and the existing objects of its kind with the new
// schema. It returns what the change would break, and nothing for a new definition. Only a change that is breaking by its definitions costs
// more than one call: then the objects are listed, live. Errors are *Error; ClassRefused means that the wanted definition itself cannot be
// used.
func (c *Cluster) CheckDefinition(ctx context.Context, wanted *unstructured.Unstructured) ([]crdsafety.Finding, error) {
	before, after, err := c.definitions(ctx, wanted)
	if err != nil || before == nil {
		return nil, err
	}
	id := inventory.IDOf(wanted)
	if reflect.DeepEqual(before.Spec, after.Spec) {
		return nil, nil
	}
	findings := crdsafety.Compare(before, after)
	if len(findings) == 0 {
		return nil, nil // then everything that the old schema accepted fits the new one too
	}
	return c.weigh(ctx, id, before, after, findings)
}

// ServesDefinition returns what the clients of a definition would miss with the one of its name that is in the cluster, which was read and
// stays. Errors are *Error.
func ServesDefinition(live, used *unstructured.Unstructured) ([]crdsafety.Finding, error) {
	id := inventory.IDOf(used)
	stays, wanted := &apiextensionsv1.CustomResourceDefinition{}, &apiextensionsv1.CustomResourceDefinition{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(live.Object, stays); err != nil {
		return nil, &Error{ID: id, Class: ClassInternal, Message: fmt.Sprintf("%s in the cluster cannot be read: %v", id, err)}
	}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(used.Object, wanted); err != nil {
		return nil, unusable(id, err)
	}
	return crdsafety.Serves(stays, wanted), nil
}

// definitions returns the definition that is in the cluster, nil where there is none that can be read, and the wanted one.
func (c *Cluster) definitions(
	ctx context.Context, wanted *unstructured.Unstructured,
) (before, after *apiextensionsv1.CustomResourceDefinition, err error) {
	id := inventory.IDOf(wanted)
	resource, err := c.Resource(ctx, wanted.GroupVersionKind())
	if err != nil {
		return nil, nil, Explain("read", id, err, wanted)
	}
	live, err := c.Dynamic.Resource(resource.GroupVersionResource).Get(ctx, wanted.GetName(), metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, Explain("read", id, err, wanted)
	}
	before, after = &apiextensionsv1.CustomResourceDefinition{}, &apiextensionsv1.CustomResourceDefinition{}
	if runtime.DefaultUnstructuredConverter.FromUnstructured(live.Object, before) != nil {
		return nil, nil, nil //nolint:nilerr // what the API server has is not ours to judge
	}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(wanted.Object, after); err != nil {
		return nil, nil, unusable(id, err)
	}
	return before, after, nil
}

func unusable(id inventory.ID, err error) *Error {
	return &Error{ID: id, Class: ClassRefused, Message: fmt.Sprintf("%s cannot be used: %v", id, err)}
}

// weigh checks the objects that exist. Those that do not fit the new schema are further findings, and findings that break none of them
// do not count. Where objects may not be listed, or there are too many to check, every finding counts: an unseen object may break.
func (c *Cluster) weigh(
	ctx context.Context, id inventory.ID, before, after *apiextensionsv1.CustomResourceDefinition, findings []crdsafety.Finding,
) ([]crdsafety.Finding, error) {
	validator, err := crdsafety.NewValidator(after)
	if err != nil {
		return nil, unusable(id, err)
	}
	resource := listedAt(before)
	if resource.Version == "" || before.DeletionTimestamp != nil {
		return findings, nil
	}
	evidence := crdsafety.NewEvidence(before, after, resource.Version, findings)
	misfits, all, err := c.misfits(ctx, resource, before, validator, evidence)
	switch {
	case apierrors.IsForbidden(err):
		return append(findings, crdsafety.Finding{
			Rule: crdsafety.ObjectInvalid, Definition: before.Name, Version: resource.Version,
			Message: "objects may exist that do not fit: listing " + resource.GroupResource().String() + " is forbidden, grant it",
		}), nil
	case apierrors.IsNotFound(err): // not served yet, or no longer
		return findings, nil
	case err != nil:
		return nil, Explain("list objects of", id, err)
	case all:
		findings = evidence.Weigh()
	}
	return append(findings, misfits...), nil
}

// listedAt returns the resource in the storage version where that is served, and otherwise in another served version.
func listedAt(crd *apiextensionsv1.CustomResourceDefinition) schema.GroupVersionResource {
	resource := schema.GroupVersionResource{Group: crd.Spec.Group, Resource: crd.Spec.Names.Plural}
	for i := range crd.Spec.Versions {
		if v := crd.Spec.Versions[i]; v.Served && (v.Storage || resource.Version == "") {
			resource.Version = v.Name
		}
	}
	return resource
}

// misfits returns the problems of the objects that do not fit the new schema, and reports whether it checked all objects. An object that
// does not fit the old schema either is left out: the change is not the cause.
func (c *Cluster) misfits(
	ctx context.Context, resource schema.GroupVersionResource, before *apiextensionsv1.CustomResourceDefinition,
	validator *crdsafety.Validator, evidence *crdsafety.Evidence,
) (found []crdsafety.Finding, all bool, err error) {
	known, _ := crdsafety.NewValidator(before) // nil when the old schema cannot be used
	checked := 0
	err = visit(ctx, c.Dynamic.Resource(resource), func(object *unstructured.Unstructured) bool {
		evidence.Add(object)
		if problems := validator.Validate(object); len(problems) > 0 && (known == nil || len(known.Validate(object)) == 0) {
			found = append(found, problems...)
		}
		checked++
		return checked < maxChecked
	})
	return found, checked < maxChecked, err
}
