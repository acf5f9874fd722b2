package kyma

import (
	"context"
	"maps"
	"time"

	"golang.org/x/time/rate"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/manager/priority"
	"github.com/kyma-project/lifecycle-manager/internal/module"
	"github.com/kyma-project/lifecycle-manager/pkg/conditions"
)

// Approvals is the policy that says which versions need consent.
type Approvals interface {
	// Policy returns the policy in force, nil without one.
	Policy() *module.ApprovalPolicy
	// OnChange registers a function that is called after another policy took effect.
	OnChange(do func())
}

// observeConsent adds to the Snapshot what policy and entries say about consent, and what the versions that wait for it ask for. It returns
// when to ask again for what cannot be found out.
func (r *Reconciler) observeConsent(ctx context.Context, world *module.Snapshot, s *remoteScope) time.Duration {
	if r.Approvals != nil {
		world.Approvals = r.Approvals.Policy()
	}
	var known bool
	world.RuntimeConsent, known = r.runtimeConsent(s)
	world.RuntimeUnread = !known
	world.Changes = map[module.ChangeKey]module.Change{}
	var retry time.Duration
	for _, needed := range module.NeededChanges(*world) {
		if r.Rights == nil {
			world.Changes[needed.ChangeKey] = module.Change{Problem: v1beta2.ReasonInternal}
			continue
		}
		change, pause := r.Rights.Change(ctx, client.ObjectKeyFromObject(world.Kyma), needed)
		world.Changes[needed.ChangeKey] = change
		retry = soonest(retry, pause)
	}
	return retry
}

// runtimeConsent returns what the entries of the runtime's Kyma say about consent, and whether that is known. It counts also where the rest
// of that Kyma's spec is refused: it is about the word of its users, which is stored nowhere.
func (r *Reconciler) runtimeConsent(s *remoteScope) (map[string]module.EntryConsent, bool) {
	switch {
	case !s.remote:
		return nil, true
	case s.runtime == nil || s.found != nil && s.copy == nil:
		return nil, false
	}
	said := map[string]module.EntryConsent{}
	if s.copy != nil {
		said = module.ConsentIn(&s.copy.Spec)
	}
	if pause := r.consentDelay(s, said); pause > 0 {
		s.retry = soonest(s.retry, pause)
		return nil, false
	}
	return said, true
}

// consentLimiter bounds how often changes of what a runtime's entries say are accepted: each may be a write of the Kyma's status.
type consentLimiter struct {
	limiter *rate.Limiter
	said    map[string]module.EntryConsent
}

// consentDelay returns the pause after which what a runtime's entries say is accepted; zero means now. Until then it counts as unknown, so
// that nothing new begins.
func (r *Reconciler) consentDelay(s *remoteScope, said map[string]module.EntryConsent) time.Duration {
	key := client.ObjectKeyFromObject(s.hub)
	known, ok := r.consents.Load(key)
	if !ok {
		if len(said) > 0 {
			r.consents.Store(key, &consentLimiter{limiter: rate.NewLimiter(rate.Every(editInterval), editsAtOnce), said: said})
		}
		return 0
	}
	held, ok := known.(*consentLimiter)
	if !ok || maps.Equal(held.said, said) {
		return 0
	}
	if !held.limiter.AllowN(r.Now().Time, 1) {
		return editInterval
	}
	held.said = said
	return 0
}

// approvalsChanged enqueues the Kymas with a version that waits: another policy may let it begin, or hold what waits for something else.
func (r *Reconciler) approvalsChanged() source.Source {
	return source.Func(func(ctx context.Context, queue workqueue.TypedRateLimitingInterface[reconcile.Request]) error {
		r.Approvals.OnChange(func() {
			if ctx.Err() != nil {
				return
			}
			priority.Add(queue, priority.Later, r.kymasIn(ctx, hasVersionWaiting)...)
		})
		return nil
	})
}

// hasVersionWaiting reports whether a version of a module waits for anything, as the status says.
func hasVersionWaiting(kyma *v1beta2.Kyma) bool {
	for i := range kyma.Status.Modules {
		if entry := &kyma.Status.Modules[i]; entry.Pending != nil || entry.Maintenance || entry.Offered != "" || entry.Version == "" {
			return true
		}
	}
	return false
}

// recordConsent records events about versions that began to wait for consent, or do not wait for it any more. It runs after the status was
// written, which tells of each once.
func (r *Reconciler) recordConsent(kyma, before *v1beta2.Kyma, verdicts []module.Verdict) {
	for i := range verdicts {
		v := &verdicts[i]
		if v.Mandatory || v.Consent == "" {
			continue
		}
		was, is := entryOf(before, v.Module), entryOf(kyma, v.Module)
		waited, waits := awaitsConsent(was), awaitsConsent(is)
		switch {
		case waits && (!waited || was.Pending.Digest != is.Pending.Digest):
			note := "version " + is.Pending.Version + " will need consent"
			if v.Reason == v1beta2.ReasonApprovalRequired {
				note = v.Message
			}
			r.Events.Eventf(kyma, nil, corev1.EventTypeNormal, v1beta2.ReasonApprovalRequired, "Approve", "%s", conditions.Note(v.Module+": "+note))
		case waited && !waits && v.Consent == module.ConsentGiven:
			r.Events.Eventf(kyma, nil, corev1.EventTypeNormal, v1beta2.ReasonApproved, "Approve",
				"%s: version %s has the consent that it waited for", v.Module, was.Pending.Version)
		case waited && !waits && v.Consent == module.ConsentForced:
			r.Events.Eventf(kyma, nil, corev1.EventTypeNormal, v1beta2.ReasonApprovalForced, "Approve",
				"%s: version %s does not wait for consent any longer, since its channel forces it", v.Module, was.Pending.Version)
		}
	}
}

// awaitsConsent reports whether an entry says that a version waits for consent.
func awaitsConsent(entry *v1beta2.ModuleStatus) bool {
	return entry != nil && entry.Pending != nil && module.AwaitsConsent(entry, entry.Pending.Version)
}

// entryOf returns the status entry of a module, nil when there is none.
func entryOf(kyma *v1beta2.Kyma, name string) *v1beta2.ModuleStatus {
	for i := range kyma.Status.Modules {
		if kyma.Status.Modules[i].Name == name {
			return &kyma.Status.Modules[i]
		}
	}
	return nil
}
