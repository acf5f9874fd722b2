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

// Access says why the runtime of a remote Kyma cannot be used, or why a local one may not use the hub.
type Access struct {
	// Reason (one of the API's) and Message say it for users.
	Reason, Message string
	// Passing reports whether nothing has failed: an answer is on its way.
	Passing bool
}

// Sync is one thing that a runtime must hold beside its modules.
type Sync struct {
	// Type of the Kyma's condition that speaks of it.
	Type string
	// Holds, Reason and Message are the condition's.
	Holds           bool
	Reason, Message string
}

// RemoteState is what is known of a remote Kyma's runtime, beside its modules. That of a local Kyma is zero, or has the Access that it
// lacks.
type RemoteState struct {
	// Access is nil when the runtime can be used.
	Access *Access
	// ID is the runtime's identity, empty while it is not known.
	ID string
	// Foreign reports whether the runtime is another Kyma's: one that has nothing there is not bound to it.
	Foreign bool
	// Seen replaces status.lastSeen; nil leaves it as it was.
	Seen *v1beta2.LastSeen
	// WatcherGone reports whether nothing of upstream's watcher is left in the runtime; until then the condition that tells of it stays.
	WatcherGone bool
	// Syncs are the conditions that are known now; others stay as they were, but for those of type Moot, which go.
	Syncs []Sync
	Moot  []string
}

// HoldAll holds everything as it is until it is known what the runtime asks for: one verdict for each module of spec, status and Manifests,
// sorted by name. What the spec does not name and no Manifest installs is Removed where no runtime was ever met.
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
		if !v.Origin.Spec && !v.Origin.Manifest && (!isRemote(w.Kyma) || !Met(w.Kyma)) {
			v.is(Removed, ruleDisabled, ruleDisabled.message()) // no runtime's user can have asked for it, and nothing of it is anywhere
		}
		verdicts = append(verdicts, v)
	}
	switch access.Reason {
	case v1beta2.ReasonOwnershipConflict, v1beta2.ReasonKubeconfigRefused, v1beta2.ReasonLocalNamespaceRefused:
		return verdicts // the cluster is another's: nothing new goes there
	case v1beta2.ReasonRuntimeConnecting:
		if w.Kyma.Status.LastSeen == nil {
			return verdicts // it may turn out to be
		}
	}
	return r.withMandatory(verdicts) // those are not for the runtime's users to decide
}

// MergeRemoteStatus adds to a status what is known of the runtime.
//
//  1. What was seen of the two specs, and the runtime's identity once, are kept; unless the runtime turns out to be another Kyma's before
//     this one has put anything there.
//  2. Every Sync sets its condition.
//  3. A runtime that cannot be used makes the Kyma and all of its managed modules Error, as upstream does.
//  4. A runtime that was never met yet leaves a Kyma Processing; so does an edit of the hub that could not be merged yet with what the
//     runtime asks for, since the status speaks of what was requested before.
//  5. A spec of the runtime that is not accepted makes a Ready Kyma Warning; anything else that the runtime does not hold yet makes it
//     Processing. That an edit was overruled is told, and counts for nothing.
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
	steady(&w.Kyma.Status, &status)
	return status
}

// unsettled reports whether a Kyma has nothing in a runtime: no module, and nothing that was seen there.
func unsettled(w Snapshot) bool {
	return w.Kyma.Status.LastSeen == nil && w.Kyma.DeletionTimestamp == nil &&
		!slices.ContainsFunc(w.Manifests, func(m v1beta2.Manifest) bool { return ours(w.Kyma, &m) })
}

// steady takes back what only looks like a change because Rollup did not know of the runtime: the times of what is as it was before.
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
		if entry.State != v1beta2.StateDeleting { // which says that its version counts for nothing once it is gone
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

// behind tells that the status speaks of what was requested before.
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
		case sync.Reason == v1beta2.ReasonRuntimeSpecRefused:
			worsen(w, status, v1beta2.StateWarning, sync.Reason, sync.Message)
		default:
			worsen(w, status, v1beta2.StateProcessing, sync.Reason, sync.Message)
		}
	}
}

// syncTypes are the conditions that tell what a runtime holds beside modules.
var syncTypes = []string{
	v1beta2.ConditionCRDsSync, v1beta2.ConditionImagePullSecret, v1beta2.ConditionModuleCatalog, v1beta2.ConditionSpecSync, ConditionWebhook,
}

// Synced reports whether the runtime of a Kyma holds a Kyma of its own, and what its users need beside modules.
func Synced(kyma *v1beta2.Kyma) bool {
	return isRemote(kyma) && kyma.Labels[v1beta2.LabelSync] != "false"
}

// Met reports whether a Kyma was in touch with its runtime before, here or by upstream: else it has put nothing there, and nothing there
// has asked for anything.
func Met(kyma *v1beta2.Kyma) bool {
	status := &kyma.Status
	return status.RuntimeID != "" || status.LastSeen != nil || conditions.Find(status.Conditions, v1beta2.ConditionCRDsSync) != nil
}

func isRemote(kyma *v1beta2.Kyma) bool { return kyma.Spec.Remote == nil || *kyma.Spec.Remote }

// worsen gives a Kyma that stands better a worse state, and says why.
func worsen(w Snapshot, status *v1beta2.KymaStatus, state v1beta2.State, reason, message string) {
	if severity(state) <= severity(status.State) && status.State != "" && state != v1beta2.StateError {
		return
	}
	status.State = state
	conditions.Set(&status.Conditions, v1beta2.ConditionReady, conditionStatus(false), reason, message, w.Kyma.Generation, w.Now)
	setOperation(w, status)
}
