package operations

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/internal/client/kymaedit"
	"github.com/kyma-project/lifecycle-manager/internal/client/modulestatus"
	"github.com/kyma-project/lifecycle-manager/pkg/apply"
)

// configure plans to write the custom resource of a module, in the cluster of the module.
func (p *planner) configure(ctx context.Context) (*plan, error) {
	at, err := p.where(ctx, p.deed.Kyma)
	if err != nil {
		return nil, err
	}
	made := &plan{way: wayResource, elsewhere: at.elsewhere()}
	kind, err := at.kindOf(ctx, p.deed.Module)
	if err != nil {
		return made.refuse(err), nil
	}
	object := p.deed.Object
	if object.GroupVersionKind().GroupKind() != kind {
		made.refused = refuse(WhyInvalid, "the object is a %s, and module %s is configured by a %s",
			object.GroupVersionKind().GroupKind(), p.deed.Module, kind)
		return made, nil
	}
	made.steps = []step{{
		title: fmt.Sprintf("Write %s %s", object.GetKind(), object.GetName()),
		try: func(ctx context.Context) ([]Change, error) {
			change, err := at.write(ctx, object, true)
			return []Change{change}, err
		},
		do: func(ctx context.Context, r *reporter) error {
			change, err := at.write(ctx, object, false)
			r.object(change.Object, string(change.Change), change.Error)
			return err
		},
	}}
	return made, nil
}

// kindOf returns the kind of the custom resource of a module: from the Kyma's status, its template, or the record of a direct
// installation.
func (at *place) kindOf(ctx context.Context, module string) (schema.GroupKind, error) {
	if s := at.scene; s != nil {
		if known := s.StatusOf(module); known != nil && known.Resource != nil {
			return schema.FromAPIVersionAndKind(known.Resource.APIVersion, known.Resource.Kind).GroupKind(), nil
		}
		if template := s.Installed(module); template != nil && template.Spec.Data != nil && s.Has(module) {
			return template.Spec.Data.GroupVersionKind().GroupKind(), nil
		}
	}
	if record := at.directly(ctx, module); record != nil && record.Resource != nil {
		return schema.FromAPIVersionAndKind(record.Resource.APIVersion, record.Resource.Kind).GroupKind(), nil
	}
	return schema.GroupKind{}, refuse(WhyNotFound, "module %s is not installed here, or has no custom resource", module)
}

// write replaces an object by the user's edited version:
//
//  1. a missing object is created
//  2. an object that would not change is left alone, also if an earlier call wrote it
//  3. an object that was changed since it was read is not overwritten
func (c *cluster) write(ctx context.Context, object *unstructured.Unstructured, dry bool) (Change, error) {
	made := Change{
		Object: modulestatus.Ref{
			APIVersion: object.GetAPIVersion(), Kind: object.GetKind(), Namespace: object.GetNamespace(), Name: object.GetName(),
		},
		Change: apply.ChangeUnchanged, Fields: []Field{},
	}
	refused := func(err error) (Change, error) {
		made.Change, made.Error = apply.ChangeRefused, errorText(err)
		return made, err
	}
	live := &unstructured.Unstructured{}
	live.SetGroupVersionKind(object.GroupVersionKind())
	err := c.Get(ctx, client.ObjectKeyFromObject(object), live)
	if apierrors.IsNotFound(err) {
		made.Change = apply.ChangeCreate
		if err := c.create(ctx, object, dry); err != nil {
			return refused(err)
		}
		return made, nil
	}
	if err != nil {
		return refused(err)
	}
	tried := over(object, live)
	if err := c.Update(ctx, tried, client.DryRunAll, client.FieldOwner(kymaedit.FieldManager)); err != nil {
		return refused(err)
	}
	if made.Fields = fieldsOf(apply.Compare(live, tried)); len(made.Fields) == 0 {
		return made, nil
	}
	made.Change = apply.ChangeUpdate
	if changedSince(object, live) {
		return refused(refuse(WhyBusy, "%s has changed since you read it: reload it and repeat your change",
			made.Object))
	}
	if dry {
		return made, nil
	}
	if err := c.Update(ctx, over(object, live), client.FieldOwner(kymaedit.FieldManager)); err != nil {
		return refused(err)
	}
	return made, nil
}

// over returns the object in place of the live one: fields that programs keep on it for themselves stay unchanged.
func over(object, live *unstructured.Unstructured) *unstructured.Unstructured {
	made := object.DeepCopy()
	made.SetResourceVersion(live.GetResourceVersion())
	made.SetUID(live.GetUID())
	made.SetFinalizers(live.GetFinalizers())
	made.SetOwnerReferences(live.GetOwnerReferences())
	made.SetManagedFields(nil)
	delete(made.Object, "status")
	if status, there := live.Object["status"]; there {
		made.Object["status"] = status
	}
	return made
}

// changedSince reports whether the live object was changed after it was read; its status does not count.
func changedSince(read, live *unstructured.Unstructured) bool {
	version := read.GetResourceVersion()
	sameSpec := read.GetGeneration() != 0 && read.GetGeneration() == live.GetGeneration()
	return version != "" && version != live.GetResourceVersion() && !sameSpec
}

// create creates a missing object, with the fields that a user may set.
func (c *cluster) create(ctx context.Context, object *unstructured.Unstructured, dry bool) error {
	fresh := object.DeepCopy()
	fresh.SetResourceVersion("")
	fresh.SetUID("")
	options := []client.CreateOption{client.FieldOwner(kymaedit.FieldManager)}
	if dry {
		options = append(options, client.DryRunAll)
	}
	return c.Create(ctx, fresh, options...)
}
