package modulereleasemeta

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/manager/sharding"
	"github.com/kyma-project/lifecycle-manager/pkg/conditions"
)

const (
	// retrySoon is for what passes by itself, such as a conflict with another writer.
	retrySoon = time.Second
	// named is how many Manifests an event names.
	named = 3
)

// Metrics publishes how many mandatory modules there are.
type Metrics interface {
	CountMandatory(modules int)
}

// Reconciler protects the releases of mandatory modules from deletion while their modules are installed.
type Reconciler struct {
	// Client reads from the cache, consistently with its own writes.
	Client client.Client
	// Reader reads past the cache.
	Reader client.Reader
	// Events reports to users what a release waits for.
	Events events.EventRecorder
	// Metrics publishes how many there are.
	Metrics Metrics
	// Shard reports which releases this replica owns, by their own name; Moves reports when that changes, nil: it never does.
	Shard sharding.Owner
	Moves sharding.OwnershipChanges
}

// Reconcile runs one pass of one release.
//
// Every replica counts the releases; only the owner of the bucket of the release's name does the rest.
//
//  1. A mandatory one that is not being deleted has the finalizer; one that is not mandatory (any more) does not.
//  2. One that is being deleted and has it: the Manifests of its module are deleted, and waited for.
//  3. When the API server itself has none left the finalizer is removed.
func (r *Reconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	err := r.count(ctx)
	ctx, end, standing := r.Shard.Begin(ctx, sharding.Bucket(req.Namespace, req.Name))
	defer end()
	if err == nil && standing == sharding.Mine {
		err = r.pass(ctx, req)
	}
	switch {
	case err == nil, errors.Is(ctx.Err(), context.Canceled):
		return ctrl.Result{}, nil
	case apierrors.IsConflict(err), apierrors.IsNotFound(err):
		return ctrl.Result{RequeueAfter: retrySoon}, nil
	default:
		return ctrl.Result{}, err
	}
}

func (r *Reconciler) pass(ctx context.Context, req ctrl.Request) error {
	release := &v1beta2.ModuleReleaseMeta{}
	if err := r.Client.Get(ctx, req.NamespacedName, release); err != nil {
		return client.IgnoreNotFound(err)
	}
	before := len(release.Finalizers)
	switch {
	case release.DeletionTimestamp == nil && release.Spec.Mandatory != nil:
		controllerutil.AddFinalizer(release, v1beta2.FinalizerMandatoryModule)
	case !controllerutil.ContainsFinalizer(release, v1beta2.FinalizerMandatoryModule):
	case release.DeletionTimestamp == nil:
		controllerutil.RemoveFinalizer(release, v1beta2.FinalizerMandatoryModule)
	default:
		left, err := r.deleteManifests(ctx, release)
		if err != nil || left {
			return err
		}
		controllerutil.RemoveFinalizer(release, v1beta2.FinalizerMandatoryModule)
	}
	if before == len(release.Finalizers) {
		return nil
	}
	if err := r.Client.Update(ctx, release); err != nil { // as upstream: its Role has no patch
		return fmt.Errorf("write the finalizer of ModuleReleaseMeta %s: %w", req.NamespacedName, err)
	}
	return nil
}

// deleteManifests deletes what is left of a module, and reports whether anything is.
func (r *Reconciler) deleteManifests(ctx context.Context, release *v1beta2.ModuleReleaseMeta) (left bool, err error) {
	manifests, err := manifestsOf(ctx, r.Client, release)
	if err == nil && len(manifests) == 0 {
		manifests, err = manifestsOf(ctx, r.Reader, release) // a cache may not know the latest one
	}
	if err != nil || len(manifests) == 0 {
		return false, err
	}
	var problems []error
	for i := range manifests {
		if manifest := &manifests[i]; manifest.DeletionTimestamp == nil {
			problems = append(problems, client.IgnoreNotFound(r.Client.Delete(ctx, manifest, client.Preconditions{UID: &manifest.UID})))
		}
	}
	r.recordWaiting(release, manifests)
	return true, errors.Join(problems...)
}

func (r *Reconciler) recordWaiting(release *v1beta2.ModuleReleaseMeta, manifests []v1beta2.Manifest) {
	names := make([]string, 0, named)
	for i := range manifests[:min(named, len(manifests))] {
		names = append(names, manifests[i].Name)
	}
	note := fmt.Sprintf("It goes when the module is gone from every Kyma; Manifests left: %d, such as %s",
		len(manifests), strings.Join(names, ", "))
	r.Events.Eventf(release, nil, corev1.EventTypeNormal, v1beta2.ReasonModuleDeleting, "Delete", "%s", conditions.Note(note))
}

// manifestsOf returns the Manifests of a release's mandatory module.
func manifestsOf(ctx context.Context, reader client.Reader, release *v1beta2.ModuleReleaseMeta) ([]v1beta2.Manifest, error) {
	list := &v1beta2.ManifestList{}
	err := reader.List(ctx, list, client.InNamespace(release.Namespace), client.MatchingLabels{
		v1beta2.LabelModuleName: release.Name, v1beta2.LabelMandatoryModule: v1beta2.EnabledValue,
	})
	if err != nil {
		return nil, fmt.Errorf("list the Manifests of mandatory module %s: %w", client.ObjectKeyFromObject(release), err)
	}
	return list.Items, nil
}

// count publishes how many mandatory modules there are.
func (r *Reconciler) count(ctx context.Context) error {
	releases := &v1beta2.ModuleReleaseMetaList{}
	if err := r.Client.List(ctx, releases, client.UnsafeDisableDeepCopy); err != nil {
		return fmt.Errorf("list the releases: %w", err)
	}
	modules := 0
	for i := range releases.Items {
		if release := &releases.Items[i]; release.Spec.Mandatory != nil && release.DeletionTimestamp == nil {
			modules++
		}
	}
	r.Metrics.CountMandatory(modules)
	return nil
}
