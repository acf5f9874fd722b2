package declarative

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/kyma-project/lifecycle-manager/pkg/apply"
	"github.com/kyma-project/lifecycle-manager/pkg/installer"
)

// unseenAfter is the delay of a pass that no watch would trigger.
const unseenAfter = 15 * time.Second

// Reconcile implements reconcile.Reconciler. It reads the object itself, because a stale cache would return a previous status.
func (r *Reconciler[T]) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	object, ok := r.Prototype.DeepCopyObject().(T)
	if !ok {
		return ctrl.Result{}, fmt.Errorf("DeepCopyObject of %T returns another type", r.Prototype)
	}
	err := r.reader.Get(ctx, request.NamespacedName, object)
	switch {
	case apierrors.IsNotFound(err):
		r.targets.forget(request)
		return ctrl.Result{}, nil
	case err != nil:
		return ctrl.Result{}, err
	case object.GetLabels()[LabelSkip] == "true":
		return ctrl.Result{}, nil
	case object.GetDeletionTimestamp().IsZero():
		return r.keep(ctx, request, object)
	case controllerutil.ContainsFinalizer(object, r.Finalizer):
		return r.remove(ctx, request, object)
	default: // it does not carry our finalizer
		r.targets.forget(request)
		return ctrl.Result{}, nil
	}
}

// keep makes one pass over an object that is not being deleted.
func (r *Reconciler[T]) keep(ctx context.Context, request ctrl.Request, object T) (ctrl.Result, error) {
	if err := r.finalizer(ctx, object, controllerutil.AddFinalizer); err != nil {
		return ctrl.Result{}, fmt.Errorf("set the finalizer: %w", err)
	}
	before, status := object.DeepCopyObject(), object.GetStatus()
	rested := status.State == StateReady && status.ObservedGeneration == object.GetGeneration()
	report, err := r.install(ctx, request, object)
	if rested && slices.ContainsFunc(report.Objects, putBack) {
		r.targets.fought(request)
	}
	if err == nil && report.Ready && r.AfterApply != nil {
		err = failed(ReasonHookFailed, r.AfterApply(ctx, object, report))
	}
	return r.tell(ctx, before, object, report, err)
}

func (r *Reconciler[T]) install(ctx context.Context, request ctrl.Request, object T) (installer.Report, error) {
	inst, err := r.Installation(ctx, object)
	if err != nil {
		return installer.Report{}, failed(ReasonInstallationFailed, err)
	}
	target, err := r.connect(ctx, request, object)
	if err != nil {
		return installer.Report{}, failed(ReasonTargetFailed, err)
	}
	inst = r.complete(inst, object, target.cluster)
	return target.followed(ctx, request, func() (installer.Report, error) { return installer.Install(ctx, inst) })
}

// remove makes one pass over an object that is being deleted.
func (r *Reconciler[T]) remove(ctx context.Context, request ctrl.Request, object T) (ctrl.Result, error) {
	before := object.DeepCopyObject()
	report, err := r.uninstall(ctx, request, object)
	if err != nil || !report.Ready {
		return r.tell(ctx, before, object, report, err)
	}
	r.targets.forget(request)
	if err := r.finalizer(ctx, object, controllerutil.RemoveFinalizer); client.IgnoreNotFound(err) != nil {
		return ctrl.Result{}, fmt.Errorf("remove the finalizer: %w", err)
	}
	return ctrl.Result{}, nil
}

func (r *Reconciler[T]) uninstall(ctx context.Context, request ctrl.Request, object T) (installer.Report, error) {
	if r.BeforeDelete != nil {
		if err := r.BeforeDelete(ctx, object); err != nil {
			return installer.Report{}, failed(ReasonHookFailed, err)
		}
	}
	target, err := r.connect(ctx, request, object)
	if errors.Is(err, ErrTargetGone) {
		return installer.Report{Ready: true}, nil
	}
	if err != nil {
		return installer.Report{}, failed(ReasonTargetFailed, err)
	}
	inst := r.complete(installer.Installation{}, object, target.cluster)
	return target.followed(ctx, request, func() (installer.Report, error) { return installer.Uninstall(ctx, inst) })
}

// connect returns the cluster of an object.
func (r *Reconciler[T]) connect(ctx context.Context, request ctrl.Request, object T) (*target, error) {
	config := r.config
	if r.Target != nil {
		var err error
		if config, err = r.Target(ctx, object); err != nil {
			return nil, err
		}
	}
	name, namespace := r.identify(object)
	return r.targets.open(request, namespace+"/"+name, config)
}

// finalizer changes the finalizers of an object, if necessary, and loses none that another client sets at the same time.
func (r *Reconciler[T]) finalizer(ctx context.Context, object T, change func(client.Object, string) bool) error {
	before, ok := object.DeepCopyObject().(client.Object)
	if !ok || !change(object, r.Finalizer) {
		return nil
	}
	return r.client.Patch(ctx, object, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}))
}

// tell writes the result of a pass, if it has changed, and returns when the next pass comes, unless a watch triggers it.
func (r *Reconciler[T]) tell(ctx context.Context, before any, object T, report installer.Report, err error) (ctrl.Result, error) {
	if ctx.Err() != nil || installer.ReasonOf(err) == installer.ReasonRecordConflict { // the next pass has newer state
		return ctrl.Result{}, err
	}
	object.GetStatus().observe(verdictOf(object, report, err), object.GetGeneration(), report, err)
	if written := r.write(ctx, before, object); written != nil {
		return ctrl.Result{}, errors.Join(err, fmt.Errorf("write the status: %w", written))
	}
	if _, waits := errors.AsType[*warning](err); waits || err == nil && unseen(report) {
		return ctrl.Result{RequeueAfter: unseenAfter}, nil
	}
	return ctrl.Result{}, err
}

// putBack reports whether an object was written.
func putBack(object installer.ObjectReport) bool {
	return object.Action == apply.Created || object.Action == apply.Updated
}

// unseen reports whether no watch shows when a retry is worthwhile.
func unseen(report installer.Report) bool {
	return report.Reason == installer.ReasonWaitingForCheck || report.Reason == installer.ReasonDeletionBlocked
}
