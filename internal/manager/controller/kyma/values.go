package kyma

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/manager/priority"
	"github.com/kyma-project/lifecycle-manager/internal/module"
)

// readValues finds out what the objects hold that entries take values from, once for each: all 256 entries may name the same megabyte. Only
// a hash of it goes on.
func (r *Reconciler) readValues(ctx context.Context, world *module.Snapshot) {
	if r.HubValues == nil {
		return
	}
	world.Values = map[v1beta2.ValuesReference]module.ReferredValues{}
	for i := range world.Kyma.Spec.Modules {
		for _, named := range world.Kyma.Spec.Modules[i].ValuesFrom {
			named.Key = named.DataKey()
			if _, read := world.Values[named]; read {
				continue
			}
			text, problem := r.HubValues.Text(ctx, world.Kyma.Namespace, named)
			known := module.ReferredValues{Problem: problem}
			if problem == "" {
				known.Hash = module.HashValues(text)
			}
			world.Values[named] = known
		}
	}
}

// valuesChanged enqueues the Kymas whose entries take values from an object that changed, which may be many.
func (r *Reconciler) valuesChanged() source.Source {
	return r.HubValues.Source(priority.Enqueue(func(ctx context.Context, object client.Object) []reconcile.Request {
		kind := v1beta2.ValuesSecret
		if _, ok := object.(*corev1.ConfigMap); ok {
			kind = v1beta2.ValuesConfigMap
		}
		return r.kymasIn(ctx, func(kyma *v1beta2.Kyma) bool { return takesValuesFrom(kyma, kind, object.GetName()) },
			client.InNamespace(object.GetNamespace()), client.MatchingFields{indexValues: object.GetName()})
	}, priority.Always(priority.Soon), everything))
}

// takesValuesFrom reports whether an entry of a Kyma takes values from an object.
func takesValuesFrom(kyma *v1beta2.Kyma, kind v1beta2.ValuesKind, name string) bool {
	for i := range kyma.Spec.Modules {
		for _, named := range kyma.Spec.Modules[i].ValuesFrom {
			if named.Kind == kind && named.Name == name {
				return true
			}
		}
	}
	return false
}

// valuesNames returns the names of the objects that a Kyma takes values from.
func valuesNames(o client.Object) []string {
	kyma, ok := o.(*v1beta2.Kyma)
	if !ok {
		return nil
	}
	var names []string
	for i := range kyma.Spec.Modules {
		for _, named := range kyma.Spec.Modules[i].ValuesFrom {
			names = append(names, named.Name)
		}
	}
	return names
}
