package operation

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/tests/faults/rig"
)

// closeWithin is how long the deletion of a Kyma may take once there is no fault any more. After repeatedly broken streams of the hub, a
// manager may miss events for up to a minute, the longest time that client-go waits before it lists again.
const closeWithin = time.Minute

// swept are the kinds of a Scenario's objects, besides those of its own definition.
var swept = []schema.GroupVersionKind{
	{Version: "v1", Kind: "ConfigMap"}, {Version: "v1", Kind: "Secret"}, {Version: "v1", Kind: "ServiceAccount"},
	{Group: "apps", Version: "v1", Kind: "Deployment"},
	{Group: "rbac.authorization.k8s.io", Version: "v1", Kind: "ClusterRole"},
	{Group: "rbac.authorization.k8s.io", Version: "v1", Kind: "ClusterRoleBinding"},
	{Group: "apiextensions.k8s.io", Version: "v1", Kind: "CustomResourceDefinition"},
}

// Close deletes the Kyma, as a user does, and then everything else of the Scenario. A Kyma that is not deleted, and objects that remain in
// a runtime after it, are errors; they are removed nevertheless, so that the next Scenario finds a clean rig. The manager must run, without
// faults.
func (s *Scenario) Close(ctx context.Context) error {
	err := errors.Join(s.unclaim(ctx), deleteKyma(ctx, s))
	if err == nil {
		if err = Await(ctx, s, deleted, closeWithin); err != nil {
			err = fmt.Errorf("the Kyma cannot be deleted afterwards: %w", err)
			err = errors.Join(err, s.force(ctx))
		}
	}
	for server, decoys := range s.Decoys {
		for _, decoy := range decoys {
			err = errors.Join(err, client.IgnoreNotFound(server.Client.Delete(ctx, decoy)))
		}
	}
	left, sweepErr := s.sweep(ctx)
	if len(left) > 0 {
		sweepErr = errors.Join(sweepErr, fmt.Errorf("left behind: %s", strings.Join(left, ", ")))
	}
	return errors.Join(err, sweepErr, s.withdraw(ctx))
}

// force removes the finalizers of the Kyma and its Manifests, and deletes the Kyma of the runtime with all its copies.
func (s *Scenario) force(ctx context.Context) error {
	manifests, err := s.Manifests(ctx)
	objects := []client.Object{s.Kyma()}
	for i := range manifests {
		objects = append(objects, &manifests[i])
	}
	for _, object := range objects {
		err = errors.Join(err, remove(ctx, s.Rig.Hub, object))
	}
	err = errors.Join(err, remove(ctx, s.Home, &v1beta2.Kyma{ObjectMeta: metav1.ObjectMeta{
		Namespace: v1beta2.RuntimeNamespace, Name: v1beta2.RuntimeKymaName,
	}}))
	for _, plural := range []string{"kymas", "moduletemplates", "modulereleasemetas"} {
		definition := &apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{Name: plural + "." + v1beta2.GroupVersion.Group}}
		err = errors.Join(err, remove(ctx, s.Home, definition))
	}
	return err
}

// remove deletes an object despite its finalizers.
func remove(ctx context.Context, on *rig.Server, object client.Object) error {
	bare := client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"finalizers":null}}`))
	for range 3 {
		if err := on.Client.Delete(ctx, object); err != nil {
			if missing(err) {
				return nil
			}
			return err
		}
		if err := on.Client.Patch(ctx, object, bare); err != nil && !missing(err) {
			return err
		}
	}
	return nil
}

// sweep removes the remaining objects of this Scenario from the runtimes and returns their names.
func (s *Scenario) sweep(ctx context.Context) ([]string, error) {
	var left []string
	for _, server := range s.Rig.Runtimes {
		for _, kind := range swept {
			list := &unstructured.UnstructuredList{}
			list.SetGroupVersionKind(kind.GroupVersion().WithKind(kind.Kind + "List"))
			if err := server.Client.List(ctx, list); err != nil {
				return left, err
			}
			for i := range list.Items {
				if object := &list.Items[i]; strings.Contains(object.GetName(), s.ID) {
					left = append(left, fmt.Sprintf("%s %s in %s", kind.Kind, object.GetName(), server.Proxy.Name()))
					if err := remove(ctx, server, object); err != nil {
						return left, err
					}
				}
			}
		}
	}
	return left, nil
}

// withdraw removes the Secret and the offers from the hub.
func (s *Scenario) withdraw(ctx context.Context) error {
	hub, in := s.Rig.Hub.Client, client.InNamespace(v1beta2.DefaultNamespace)
	var err error
	for _, kind := range []string{"ModuleRollout", "Secret", "ModuleTemplate", "ModuleReleaseMeta"} {
		list := &metav1.PartialObjectMetadataList{}
		version := v1beta2.GroupVersion
		if kind == "Secret" {
			version = schema.GroupVersion{Version: "v1"}
		}
		list.SetGroupVersionKind(version.WithKind(kind + "List"))
		err = errors.Join(err, hub.List(ctx, list, in))
		for i := range list.Items {
			if object := &list.Items[i]; strings.Contains(object.Name, s.ID) {
				if kind == "ModuleRollout" { // one that did not complete is held until its release is gone, which is next
					err = errors.Join(err, remove(ctx, s.Rig.Hub, object))
					continue
				}
				err = errors.Join(err, client.IgnoreNotFound(hub.Delete(ctx, object)))
			}
		}
	}
	return err
}
