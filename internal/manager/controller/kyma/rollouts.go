package kyma

import (
	"cmp"
	"context"
	"math/rand/v2"
	"slices"
	"time"

	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/manager/priority"
	"github.com/kyma-project/lifecycle-manager/internal/module"
	"github.com/kyma-project/lifecycle-manager/internal/module/rollout"
)

// few is the number of Kymas up to which they go before what concerns many. A rollout that gives places names no more.
const few = 500

// rolloutOf adds the ModuleRollout of a release and returns the versions that it may lead to beside those of the channels. It looks for one
// of a release without a mark, too, which a client may have dropped. Without the kind on the hub nothing is added, and no Kyma gets another
// version of a marked module.
func (r *Reconciler) rolloutOf(ctx context.Context, world *module.Snapshot, release *v1beta2.ModuleReleaseMeta) ([]string, error) {
	if !r.Rollouts {
		return nil, nil
	}
	its := &v1beta2.ModuleRollout{}
	found, err := r.get(ctx, client.ObjectKeyFromObject(release), its)
	if err != nil || !found {
		return nil, err
	}
	world.Rollouts[release.Name] = its
	return fromVersions(its), nil
}

// rolloutEvents enqueues the Kymas that a change of a ModuleRollout lets have something else than before. Counts, times and messages of a
// rollout change all the time and enqueue none. What is there when the manager starts enqueues none either: every Kyma is reconciled then
// anyway. Many Kymas come after what users do, and spread over delay where that is set.
func (r *Reconciler) rolloutEvents(delay time.Duration) handler.EventHandler {
	type queue = workqueue.TypedRateLimitingInterface[reconcile.Request]
	enqueue := func(ctx context.Context, q queue, before, now client.Object) {
		requests := r.concerned(ctx, changeOf(before, now))
		if len(requests) <= few {
			priority.Add(q, priority.Soon, requests...)
			return
		}
		for _, request := range requests {
			var pause time.Duration
			if delay > 0 {
				pause = rand.N(delay) //nolint:gosec // spreads load, guards nothing
			}
			priority.AddAfter(q, priority.Later, pause, request)
		}
	}
	return handler.Funcs{
		CreateFunc: func(ctx context.Context, e event.CreateEvent, q queue) {
			if !e.IsInInitialList {
				enqueue(ctx, q, nil, e.Object)
			}
		},
		UpdateFunc: func(ctx context.Context, e event.UpdateEvent, q queue) { enqueue(ctx, q, e.ObjectOld, e.ObjectNew) },
		DeleteFunc: func(ctx context.Context, e event.DeleteEvent, q queue) { enqueue(ctx, q, e.Object, nil) },
	}
}

func changeOf(before, now client.Object) rollout.Change {
	var change rollout.Change
	change.Before, _ = before.(*v1beta2.ModuleRollout)
	change.Now, _ = now.(*v1beta2.ModuleRollout)
	return change
}

// markChanged passes releases whose mark changed, which says that another rollout decides, or none.
var markChanged = predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
	return e.ObjectOld.GetAnnotations()[v1beta2.AnnotationRollout] != e.ObjectNew.GetAnnotations()[v1beta2.AnnotationRollout]
}}

// concerned returns the Kymas that a change of a rollout concerns.
func (r *Reconciler) concerned(ctx context.Context, change rollout.Change) []reconcile.Request {
	one := cmp.Or(change.Now, change.Before)
	if one == nil || !change.Relevant() {
		return nil
	}
	release := &v1beta2.ModuleReleaseMeta{}
	if err := r.Client.Get(ctx, client.ObjectKeyFromObject(one), release, client.DisableReadYourWritesConsistency); err != nil {
		return nil // the module has no version to offer; a release that comes enqueues the Kymas itself
	}
	mark, named := release.Annotations[v1beta2.AnnotationRollout], change.Named()
	if mark == "" {
		return nil // the rollout decides once its release is marked, which is a change of the release
	}
	namesOnly := change.NamesOnly()
	is := func(kyma *v1beta2.Kyma) bool {
		return named[rollout.Prefix(string(kyma.UID))] || !namesOnly && concerns(change, mark, release, kyma)
	}
	options := []client.ListOption{client.InNamespace(one.Namespace)}
	if release.Spec.Mandatory == nil {
		options = append(options, client.MatchingFields{indexModule: release.Name})
	}
	return append(r.kymasIn(ctx, is, options...), r.unindexed(release.Namespace, release.Name)...)
}

// concerns reports whether a change of a rollout concerns a Kyma, by what its status says that it has. Of a mandatory module the status
// says nothing: such a Kyma is taken for one that has the version before, and for one that has none.
func concerns(change rollout.Change, mark string, release *v1beta2.ModuleReleaseMeta, kyma *v1beta2.Kyma) bool {
	applicant := rollout.Applicant{UID: string(kyma.UID), Labels: kyma.Labels}
	if release.Spec.Mandatory != nil {
		return concernsMandatory(change, mark, release.Spec.Mandatory.Version, applicant)
	}
	channel, follows := module.Follows(kyma, release.Name)
	if !follows {
		return false
	}
	for i := range kyma.Status.Modules {
		if entry := &kyma.Status.Modules[i]; entry.Name == release.Name {
			applicant.Running = entry.Version
		}
	}
	for _, offered := range release.Spec.Channels {
		if offered.Channel == channel {
			return change.Concerns(mark, channel, offered.Version, applicant)
		}
	}
	return false
}

func concernsMandatory(change rollout.Change, mark, offered string, applicant rollout.Applicant) bool {
	running := []string{"", offered}
	for _, one := range []*v1beta2.ModuleRollout{change.Before, change.Now} {
		if one != nil {
			running = append(running, fromVersions(one)...)
		}
	}
	return slices.ContainsFunc(running, func(version string) bool {
		applicant.Running = version
		return change.Concerns(mark, "", offered, applicant)
	})
}

// fromVersions returns the versions before those that a rollout leads to.
func fromVersions(one *v1beta2.ModuleRollout) []string {
	versions := make([]string, 0, len(one.Status.Channels))
	for i := range one.Status.Channels {
		if from := one.Status.Channels[i].From.Version; from != "" {
			versions = append(versions, from)
		}
	}
	return versions
}
