package server

import (
	"context"
	"fmt"
	"net/http"

	authorizationv1 "k8s.io/api/authorization/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/internal/client/modulestatus"
)

// noResource is the message for a module that has nothing to configure.
const noResource = "the module has no custom resource"

// moduleResource is the custom resource of a module: the current object, the default one, and the schema of its kind.
type moduleResource struct {
	Object   map[string]any                   `json:"object"`
	Default  map[string]any                   `json:"default"`
	Schema   *apiextensionsv1.JSONSchemaProps `json:"schema"`
	Editable bool                             `json:"editable"`
	Reason   string                           `json:"reason,omitempty"`
}

// resource answers .../resource. It reads as the requesting user, in the cluster of the module.
func (s *Server) resource(ctx context.Context, u *User, r *http.Request) (any, error) {
	o, err := s.named(ctx, u, r)
	if err != nil {
		return nil, err
	}
	made := o.byDefault()
	is := moduleResource{}
	if made != nil {
		is.Default = made.Object
	}
	ref := o.module.Resource
	if ref == nil {
		is.Reason = noResource
		return is, nil
	}
	from, err := s.runtimeOf(ctx, u, o.kyma)
	if err != nil {
		is.Reason = problemOf(acted(err)).Message
		return is, nil
	}
	beyond(ctx)
	return recalled(ctx, u, "resource "+o.module.Kyma+" "+o.module.Name, func(ctx context.Context) (moduleResource, error) {
		return is.read(ctx, from, *ref)
	})
}

// byDefault returns the default custom resource of the module's template.
func (o *one) byDefault() *unstructured.Unstructured {
	if o.module.Template == nil {
		return nil
	}
	for i := range o.now.in.Templates {
		t := &o.now.in.Templates[i]
		if t.Namespace == o.module.Template.Namespace && t.Name == o.module.Template.Name {
			return t.Spec.Data
		}
	}
	return nil
}

// read fills in the data from the cluster of the module. Missing permissions are reported, not hidden.
func (is moduleResource) read(ctx context.Context, from client.Client, ref modulestatus.Ref) (moduleResource, error) {
	kind := schema.FromAPIVersionAndKind(ref.APIVersion, ref.Kind)
	mapping, err := from.RESTMapper().RESTMapping(kind.GroupKind(), kind.Version)
	if meta.IsNoMatchError(err) {
		is.Reason = fmt.Sprintf("the cluster does not know %s yet: the module brings it", kind.GroupKind())
		return is, nil
	} else if err != nil {
		return is, err
	}
	is.Schema = schemaOf(ctx, from, mapping)
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(kind)
	switch err := from.Get(ctx, client.ObjectKey{Namespace: ref.Namespace, Name: ref.Name}, object); {
	case apierrors.IsNotFound(err):
		is.Reason = ref.String() + " does not exist"
	case apierrors.IsForbidden(err):
		is.Reason = "you may not read " + ref.String()
		return is, nil
	case err != nil:
		return is, err
	default:
		object.SetManagedFields(nil)
		is.Object = object.Object
	}
	verb := "patch"
	if is.Object == nil {
		verb = "create"
	}
	is.Editable = allowed(ctx, from, verb, mapping.Resource, ref)
	if !is.Editable {
		is.Reason = fmt.Sprintf("you may not %s %s", verb, ref)
	}
	return is, nil
}

func allowed(ctx context.Context, in client.Client, verb string, resource schema.GroupVersionResource, ref modulestatus.Ref) bool {
	review := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{
		ResourceAttributes: &authorizationv1.ResourceAttributes{
			Verb: verb, Group: resource.Group, Resource: resource.Resource, Namespace: ref.Namespace, Name: ref.Name,
		},
	}}
	return in.Create(ctx, review) == nil && review.Status.Allowed
}

// schemaOf returns the schema of a kind's version, nil if its definition cannot be read.
func schemaOf(ctx context.Context, from client.Reader, mapping *meta.RESTMapping) *apiextensionsv1.JSONSchemaProps {
	var definition apiextensionsv1.CustomResourceDefinition
	name := mapping.Resource.Resource + "." + mapping.Resource.Group
	if err := from.Get(ctx, client.ObjectKey{Name: name}, &definition); err != nil {
		return nil
	}
	return schemaIn(&definition, mapping.GroupVersionKind.Version)
}

// schemaIn returns the schema of one version in a definition, nil if it has none.
func schemaIn(definition *apiextensionsv1.CustomResourceDefinition, version string) *apiextensionsv1.JSONSchemaProps {
	for i := range definition.Spec.Versions {
		v := &definition.Spec.Versions[i]
		if v.Name == version && v.Schema != nil {
			return v.Schema.OpenAPIV3Schema
		}
	}
	return nil
}
