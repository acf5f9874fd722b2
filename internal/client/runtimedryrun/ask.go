package runtimedryrun

import (
	"context"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/installable"
	"github.com/kyma-project/lifecycle-manager/pkg/apply"
	"github.com/kyma-project/lifecycle-manager/pkg/installer"
	"github.com/kyma-project/lifecycle-manager/pkg/render"
)

// Question is what a cluster is asked.
type Question struct {
	// Config reaches the cluster.
	Config *rest.Config
	// Module that it is of: what is installed of it directly counts as let go of, since it does not go into a Kyma before that.
	Module string
	// Manifest that would install the version: its name and namespace mark the objects.
	Manifest *v1beta2.Manifest
	// Objects of the version, as package versioncontent renders them.
	Objects []*unstructured.Unstructured
	// AllowCRDChanges are the rules that the version or its Kyma allows to be broken.
	AllowCRDChanges []v1beta2.CRDRule
}

// Ask returns what the cluster would do with each object. The values of Secrets are not in it.
func Ask(ctx context.Context, q Question) ([]apply.Difference, error) {
	objects, err := q.marked()
	if err != nil {
		return nil, err
	}
	var allowed []string
	for _, rule := range slices.Concat(q.AllowCRDChanges, q.Manifest.Spec.AllowCRDChanges) {
		allowed = append(allowed, string(rule))
	}
	return installer.Diff(ctx, installer.Installation{
		Name: q.Manifest.Name, Namespace: q.Manifest.Namespace, Config: q.Config,
		Sources:  []installer.Source{installer.Objects("version", objects...)},
		OwnerKey: v1beta2.AnnotationOwnedBy, FieldManager: v1beta2.FieldManagerModule, Ownership: apply.AdoptIfUnowned,
		AllowCRDChanges: allowed, Claim: q.claim, Predecessors: []string{installable.FieldManagerDirect},
	})
}

// claim names the direct installation of another module that an object belongs to.
func (q *Question) claim(object *unstructured.Unstructured) string {
	if object.GetAnnotations()[installer.DefaultOwnerKey] == installable.DirectOwner(q.Module) {
		return ""
	}
	return installable.ClaimedDirectly(object)
}

// marked returns the objects as the manager would apply them.
func (q *Question) marked() ([]*unstructured.Unstructured, error) {
	objects := render.Mark(q.Objects, installable.Marks(q.Manifest))
	objects, err := render.PullSecret(objects, q.Manifest.Status.ImagePullSecret, installable.ManagerIn(objects, q.Manifest.Spec.Manager))
	if err != nil {
		return nil, fmt.Errorf("the image pull Secret: %w", err)
	}
	return objects, nil
}
