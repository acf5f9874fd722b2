package kymaedit

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/module"
)

// Created is the result of a new Kyma.
const Created Action = "created"

// ExistsError is a Kyma of the requested name that differs from the requested one.
type ExistsError struct{ Kyma client.ObjectKey }

// Error names the Kyma.
func (e *ExistsError) Error() string {
	return fmt.Sprintf("kyma %s already exists and differs", e.Kyma)
}

// Create creates a Kyma, and stores in it what the API server made of it. An equal Kyma that exists already is Unchanged: a creation can be
// repeated. The errors are *ExistsError and those of the API server.
func Create(ctx context.Context, c client.Client, kyma *v1beta2.Kyma, dry DryRun) (Action, error) {
	if dry == DryRunClient {
		return Created, nil
	}
	options := []client.CreateOption{client.FieldOwner(FieldManager)}
	if dry == DryRunServer {
		options = append(options, client.DryRunAll)
	}
	wanted := kyma.DeepCopy()
	err := c.Create(ctx, kyma, options...)
	switch {
	case err == nil:
		return Created, nil
	case !apierrors.IsAlreadyExists(err):
		return "", err
	}
	if err := c.Get(ctx, client.ObjectKeyFromObject(wanted), kyma); err != nil {
		return "", err
	}
	if !alike(wanted, kyma) {
		return "", &ExistsError{client.ObjectKeyFromObject(kyma)}
	}
	return Unchanged, nil
}

// alike reports whether an existing Kyma is the requested one; the API's defaults, and fields that no request sets, are no difference.
func alike(wanted, there *v1beta2.Kyma) bool {
	for name, value := range wanted.Labels {
		if there.Labels[name] != value {
			return false
		}
	}
	w, t := &wanted.Spec, &there.Spec
	if there.DeletionTimestamp != nil || isRemote(w) != isRemote(t) || w.Channel != t.Channel || w.Release != t.Release ||
		len(t.Modules) != len(w.Modules) || w.SkipMaintenanceWindows != t.SkipMaintenanceWindows {
		return false
	}
	for i := range w.Modules {
		want := &w.Modules[i]
		entry := find(t, want.Name)
		if entry == nil || entry.Channel != want.Channel || entry.Version != want.Version {
			return false
		}
	}
	return true
}

func isRemote(spec *v1beta2.KymaSpec) bool { return spec.Remote == nil || *spec.Remote }

// Suspend sets or removes the label that lets the lifecycle manager leave a Kyma or a Manifest alone, and reports whether that changed
// anything.
func Suspend(object client.Object, on bool) bool {
	labels := object.GetLabels()
	before, there := labels[v1beta2.LabelSkipReconciliation]
	switch {
	case on && before == v1beta2.EnabledValue, !on && !there:
		return false
	case !on:
		delete(labels, v1beta2.LabelSkipReconciliation)
	case labels == nil:
		labels = map[string]string{v1beta2.LabelSkipReconciliation: v1beta2.EnabledValue}
	default:
		labels[v1beta2.LabelSkipReconciliation] = v1beta2.EnabledValue
	}
	object.SetLabels(labels)
	return true
}

// IsSuspended reports whether the lifecycle manager leaves a Kyma alone.
func IsSuspended(kyma *v1beta2.Kyma) bool { return module.KymaSuspended(kyma) }
