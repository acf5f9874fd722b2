package kymarelease

import (
	"context"
	"errors"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/manager/sharding"
	"github.com/kyma-project/lifecycle-manager/internal/module"
)

const (
	// retrySoon is for what passes by itself, such as a conflict with another writer.
	retrySoon = 100 * time.Millisecond
	// countPause is how long changes of Kymas and templates are collected before a release is looked at again.
	countPause = time.Second
)

// Reconciler keeps the status of KymaReleases.
type Reconciler struct {
	// Client reads from the cache, consistently with its own writes.
	Client client.Client
	// Index of the cache that finds the Kymas that name a release.
	Index string
	// Shard reports which releases this replica owns, by their own name; Moves reports when that changes, nil: it never does.
	Shard sharding.Owner
	Moves sharding.OwnershipChanges
	// Now returns the clock.
	Now func() metav1.Time
}

// Reconcile runs one pass of one release: everything is read from the cache, and the status is written when it differs.
func (r *Reconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	ctx, end, standing := r.Shard.Begin(ctx, sharding.Bucket(req.Namespace, req.Name))
	defer end()
	if standing != sharding.Mine {
		return ctrl.Result{}, nil
	}
	err := r.pass(ctx, req)
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
	release := &v1beta2.KymaRelease{}
	if err := r.Client.Get(ctx, req.NamespacedName, release); err != nil {
		return client.IgnoreNotFound(err)
	}
	facts, err := r.facts(ctx, release)
	if err != nil {
		return err
	}
	status := module.JudgeRelease(facts)
	if equality.Semantic.DeepEqual(status, release.Status) {
		return nil
	}
	release.Status, release.ManagedFields = status, nil
	if err := r.Client.Status().Update(ctx, release); err != nil {
		return fmt.Errorf("write the status of KymaRelease %s: %w", req.NamespacedName, err)
	}
	return nil
}

// facts reads what the status of a release is made from.
func (r *Reconciler) facts(ctx context.Context, release *v1beta2.KymaRelease) (module.ReleaseFacts, error) {
	facts := module.ReleaseFacts{
		Release: release, Templates: map[string]*v1beta2.ModuleTemplate{}, Mandatory: map[string]string{}, Now: r.Now(),
	}
	for _, one := range release.Spec.Modules {
		template, key := &v1beta2.ModuleTemplate{}, client.ObjectKey{
			Namespace: release.Namespace, Name: module.TemplateName(one.Name, one.Version),
		}
		switch err := r.Client.Get(ctx, key, template); {
		case err == nil:
			facts.Templates[template.Name] = template
		case !apierrors.IsNotFound(err):
			return facts, fmt.Errorf("read ModuleTemplate %s: %w", key, err)
		}
	}
	var metas v1beta2.ModuleReleaseMetaList
	if err := r.Client.List(ctx, &metas, client.InNamespace(release.Namespace), client.UnsafeDisableDeepCopy); err != nil {
		return facts, fmt.Errorf("list ModuleReleaseMetas: %w", err)
	}
	for i := range metas.Items {
		if mandatory := metas.Items[i].Spec.Mandatory; mandatory != nil {
			facts.Mandatory[metas.Items[i].Name] = mandatory.Version
		}
	}
	return facts, r.count(ctx, &facts)
}

// count counts the Kymas that name the release. Only names are read of the cache, which is not copied.
func (r *Reconciler) count(ctx context.Context, facts *module.ReleaseFacts) error {
	var kymas v1beta2.KymaList
	err := r.Client.List(ctx, &kymas, client.InNamespace(facts.Release.Namespace), client.MatchingFields{r.Index: facts.Release.Name},
		client.UnsafeDisableDeepCopy, client.DisableReadYourWritesConsistency)
	if err != nil {
		return fmt.Errorf("list the Kymas of KymaRelease %s: %w", client.ObjectKeyFromObject(facts.Release), err)
	}
	facts.Kymas = len(kymas.Items)
	for i := range kymas.Items {
		if kymas.Items[i].Status.Release == facts.Release.Name {
			facts.OnRelease++
		}
	}
	return nil
}
