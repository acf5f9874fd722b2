package module

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/pkg/conditions"
)

// Access is the reason why the runtime of a remote Kyma cannot be used, or why a local Kyma may not use the hub.
type Access struct {
	// Reason (one of the API's) and Message state it for users.
	Reason, Message string
	// Passing reports whether nothing has failed yet and an answer is pending.
	Passing bool
}

// Sync is the state of something that a runtime must hold beside its modules.
type Sync struct {
	// Type of the Kyma's condition for it.
	Type string
	// Holds, Reason and Message are the condition's.
	Holds           bool
	Reason, Message string
}

// RemoteState is what is known of a remote Kyma's runtime, beside its modules. That of a local Kyma is zero, except for Access when it may
// not use the hub.
type RemoteState struct {
	// Access is nil when the runtime can be used.
	Access *Access
	// ID is the runtime's identity, empty while it is not known.
	ID string
	// Foreign reports whether the runtime belongs to another Kyma: a Kyma that has nothing there is not bound to it.
	Foreign bool
	// Seen replaces status.lastSeen; nil leaves it as it was.
	Seen *v1beta2.LastSeen
	// WatcherGone reports whether nothing of upstream's watcher is left in the runtime; until then its condition stays.
	WatcherGone bool
	// Syncs are the conditions that are known now; others stay as they were, except those of the types in Moot, which are removed.
	Syncs []Sync
	Moot  []string
}

// HoldAll holds everything as it is until the runtime's spec is known: one verdict for each module of spec, status and Manifests, sorted by
// name. A module that neither the spec names nor a Manifest installs is Removed where no runtime was ever met.
func HoldAll(w Snapshot, access Access) []Verdict {
	r := newResolver(w)
	all := map[string]struct{}{}
	add(all, r.spec)
	add(all, r.status)
	add(all, r.byModule)
	state := v1beta2.StateError
	if access.Passing {
		state = v1beta2.StateProcessing
	}
	verdicts := make([]Verdict, 0, len(all))
	for _, name := range slices.Sorted(maps.Keys(all)) {
		v := Verdict{Module: name, Kind: Waiting, State: state, Reason: access.Reason, Message: access.Message}
		v.Manifest, v.Surplus = r.of(name)
		v.Origin = Origin{Spec: r.spec[name] != nil, Status: r.status[name] != nil, Manifest: v.Manifest != nil}
		v.stands(installedOf(r.status[name], v.Manifest))
		r.keepPending(&v)
		if !v.Origin.Spec && !v.Origin.Manifest && (!isRemote(w.Kyma) || !Met(w.Kyma)) {
			v.is(Removed, ruleDisabled, ruleDisabled.message()) // no runtime's user can have requested it, and nothing is installed
		}
		verdicts = append(verdicts, v)
	}
	switch access.Reason {
	case v1beta2.ReasonOwnershipConflict, v1beta2.ReasonRuntimeClaimed, v1beta2.ReasonKubeconfigRefused, v1beta2.ReasonLocalNamespaceRefused:
		return verdicts // the cluster belongs to another Kyma: nothing new is installed there
	case v1beta2.ReasonRuntimeConnecting:
		if w.Kyma.Status.LastSeen == nil {
			return verdicts // it may turn out to belong to another Kyma
		}
	}
	return r.withMandatory(verdicts) // the runtime's users do not decide about those
}

// MergeRemoteStatus adds to a status what is known of the runtime.
//
//  1. The last seen specs are kept, and the runtime's identity once; unless the runtime turns out to belong to another Kyma before this one
//     has installed anything there.
//  2. Every Sync sets its condition.
//  3. A runtime that cannot be used makes the Kyma and all of its managed modules Error, as upstream does.
//  4. A runtime that was never met yet leaves a Kyma Processing; so does an edit of the hub that could not be merged with the runtime's
//     spec yet, since the status is about the previous request.
//  5. A spec of the runtime that is not accepted makes a Ready Kyma Warning, and so do two specs that are not accepted together; anything
//     else that the runtime does not hold yet makes it Processing. An overruled edit is reported, and does not affect the state.
//  6. The state is final now, and Reconciling or Stalled say it in the words of kstatus.
func MergeRemoteStatus(w Snapshot, status v1beta2.KymaStatus, side RemoteState) v1beta2.KymaStatus {
	if side.Seen != nil {
		status.LastSeen = side.Seen
	}
	if webhook := conditions.Find(w.Kyma.Status.Conditions, ConditionWebhook); webhook != nil && !side.WatcherGone && Synced(w.Kyma) {
		status.Conditions = append(status.Conditions, *webhook)
		slices.SortFunc(status.Conditions, func(a, b metav1.Condition) int { return cmp.Compare(a.Type, b.Type) })
	}
	switch {
	case side.Foreign && unsettled(w):
		status.RuntimeID = ""
	case status.RuntimeID == "":
		status.RuntimeID = side.ID
	}
	moot := side.Moot
	if !Synced(w.Kyma) {
		moot = syncTypes
	}
	status.Conditions = slices.DeleteFunc(status.Conditions, func(c metav1.Condition) bool { return slices.Contains(moot, c.Type) })
	for _, sync := range side.Syncs {
		conditions.Set(&status.Conditions, sync.Type, conditionStatus(sync.Holds), sync.Reason, sync.Message,
			w.Kyma.Generation, w.Now)
	}
	switch access := side.Access; {
	case w.Kyma.DeletionTimestamp != nil:
	case access != nil && !access.Passing:
		unreachable(w, &status, access)
	case w.Behind || access != nil && status.LastSeen == nil:
		behind(w, &status, access)
		unsynced(w, &status)
	default:
		unsynced(w, &status)
	}
	if status.Release != "" && (side.Access != nil || w.Behind) {
		status.Release = w.Kyma.Status.Release // what was observed is not what the Kyma asks for now
	}
	steady(&w.Kyma.Status, &status)
	SetAbnormal(&status.Conditions, status.State, w.Now)
	return status
}

// unsettled reports whether a Kyma has nothing in a runtime: no module, and no spec that was read there.
func unsettled(w Snapshot) bool {
	return w.Kyma.Status.LastSeen == nil && w.Kyma.DeletionTimestamp == nil &&
		!slices.ContainsFunc(w.Manifests, func(m v1beta2.Manifest) bool { return ours(w.Kyma, &m) })
}

// steady reverts changes that only appear because Rollup does not consider the runtime: it restores the times of fields that did not
// change.
func steady(before, after *v1beta2.KymaStatus) {
	for i := range after.Conditions {
		now := &after.Conditions[i]
		if was := conditions.Find(before.Conditions, now.Type); was != nil && was.Status == now.Status && !was.LastTransitionTime.IsZero() {
			now.LastTransitionTime = was.LastTransitionTime
		}
	}
	if after.Operation == before.Operation {
		after.LastOperation = before.LastOperation
	}
	if after.State != v1beta2.StateReady && after.State != v1beta2.StateWarning {
		after.ActiveChannel = before.ActiveChannel
	}
}

func unreachable(w Snapshot, status *v1beta2.KymaStatus, access *Access) {
	good := 0
	for i := range status.Modules {
		entry := &status.Modules[i]
		if entry.State == v1beta2.StateUnmanaged {
			good++
			continue
		}
		entry.Message = conditions.Cut(access.Message)
		if entry.State != v1beta2.StateDeleting { // Deleting means that its version no longer counts once it is gone
			entry.State = v1beta2.StateError
		}
	}
	status.ModulesReady = fmt.Sprintf("%d/%d", good, len(status.Modules))
	if good < len(status.Modules) || w.Behind {
		conditions.Set(&status.Conditions, v1beta2.ConditionModules, conditionStatus(false), access.Reason, v1beta2.MessageModulesNotReady,
			w.Kyma.Generation, w.Now)
	}
	worsen(w, status, v1beta2.StateError, access.Reason, access.Message)
}

// behind reports in the status that it is about the previous request.
func behind(w Snapshot, status *v1beta2.KymaStatus, access *Access) {
	reason, message := v1beta2.ReasonSyncPending, v1beta2.MessageEditPending
	if access != nil {
		reason, message = access.Reason, access.Message
	}
	conditions.Set(&status.Conditions, v1beta2.ConditionModules, conditionStatus(false), reason, v1beta2.MessageModulesNotReady,
		w.Kyma.Generation, w.Now)
	worsen(w, status, v1beta2.StateProcessing, reason, message)
}

func unsynced(w Snapshot, status *v1beta2.KymaStatus) {
	for _, kind := range syncTypes {
		sync := conditions.Find(status.Conditions, kind)
		switch {
		case sync == nil || sync.Status == metav1.ConditionTrue || sync.Reason == v1beta2.ReasonOverruled:
		case sync.Reason == v1beta2.ReasonRuntimeSpecRefused, sync.Reason == v1beta2.ReasonValuesInvalid:
			worsen(w, status, v1beta2.StateWarning, sync.Reason, sync.Message)
		default:
			worsen(w, status, v1beta2.StateProcessing, sync.Reason, sync.Message)
		}
	}
}

// syncTypes are the conditions that report what a runtime holds beside modules.
var syncTypes = []string{
	v1beta2.ConditionCRDsSync, v1beta2.ConditionImagePullSecret, v1beta2.ConditionModuleCatalog, v1beta2.ConditionSpecSync, ConditionWebhook,
}

// Synced reports whether the runtime of a Kyma holds a copy of the Kyma, and what its users need beside modules.
func Synced(kyma *v1beta2.Kyma) bool {
	return isRemote(kyma) && kyma.Labels[v1beta2.LabelSync] != "false"
}

// Met reports whether a Kyma was connected to its runtime before, by this operator or upstream's: else nothing of it is there, and nothing
// there has requested a module.
func Met(kyma *v1beta2.Kyma) bool {
	status := &kyma.Status
	return status.RuntimeID != "" || status.LastSeen != nil || conditions.Find(status.Conditions, v1beta2.ConditionCRDsSync) != nil
}

func isRemote(kyma *v1beta2.Kyma) bool { return kyma.Spec.Remote == nil || *kyma.Spec.Remote }

// worsen sets a worse state with its reason, unless the Kyma is in such a state already.
func worsen(w Snapshot, status *v1beta2.KymaStatus, state v1beta2.State, reason, message string) {
	if state.Severity() <= status.State.Severity() && status.State != "" && state != v1beta2.StateError {
		return
	}
	status.State = state
	conditions.Set(&status.Conditions, v1beta2.ConditionReady, conditionStatus(false), reason, message, w.Kyma.Generation, w.Now)
	setOperation(w, status)
}
