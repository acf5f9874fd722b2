package manifest

import (
	"context"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	logf "sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/manager/runtimes"
	"github.com/kyma-project/lifecycle-manager/pkg/apply"
	"github.com/kyma-project/lifecycle-manager/pkg/conditions"
	"github.com/kyma-project/lifecycle-manager/pkg/crdsafety"
	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

// wentBack reports whether the Manifest asks for an earlier version than before.
func (w *scope) wentBack() bool {
	return w.manifest.Annotations[v1beta2.AnnotationRollback] != "" && w.manifest.DeletionTimestamp.IsZero()
}

// keepDefinitions takes the definitions out of a decision about a Manifest that went back: definitions do not go back. Those of the newer
// version stay where they serve all that the content uses, and are recorded as if they had been applied; those that only the newer version
// has stay, with the users' objects of their kinds, until the Manifest goes forward or is deleted. Where a definition does not serve the
// content, nothing is written at all. A definition that does not exist is applied as it stands in the content.
func (w *scope) keepDefinitions(ctx context.Context, decision *inventory.Decision) error {
	if !w.wentBack() {
		return nil
	}
	if err := w.keepPruned(ctx, decision); err != nil {
		return err
	}
	var missed []crdsafety.Finding
	var kept []inventory.Entry
	steps := decision.Apply[:0:0]
	for _, step := range decision.Apply {
		live, err := w.keptDefinition(ctx, step)
		if err != nil {
			return err
		}
		if live == nil {
			steps = append(steps, step)
			continue
		}
		findings, err := w.serves(live, step)
		if err != nil {
			return err
		}
		missed, kept = append(missed, findings...), append(kept, entryOfKept(step, live))
	}
	if missed = crdsafety.Refuse(missed, w.allowedRules()); len(missed) > 0 {
		return &runtimes.Problem{Reason: v1beta2.ReasonRollbackUnsafe, Retry: retryIncompatible, Message: fmt.Sprintf(
			"version %s cannot take over: the newer definitions stay, and do not serve it; "+
				"offer a corrected version, or take the newer one again: %s",
			w.manifest.Spec.Version, crdsafety.Describe(missed))}
	}
	decision.Apply, w.recorded = steps, inventory.Merge(w.recorded, kept, nil)
	return nil
}

// keepPruned takes the definitions that only the newer version has out of what is pruned. Where one needs a Service of the newer version to
// convert its objects, nothing is written at all: without it none of them could be read any more.
func (w *scope) keepPruned(ctx context.Context, decision *inventory.Decision) error {
	prune := decision.Prune[:0:0]
	for _, entry := range decision.Prune {
		if entry.GroupKind() != inventory.CRDKind || w.runtime.Live(entry.ID).Presence == inventory.Absent {
			prune = append(prune, entry)
			continue
		}
		live, err := w.readDefinition(ctx, entry.ID)
		if err != nil {
			return err
		}
		if live == nil {
			prune = append(prune, entry)
			continue
		}
		service, converts := convertingService(live)
		if converts && slices.ContainsFunc(decision.Prune, func(other inventory.Entry) bool { return other.ID == service }) {
			return &runtimes.Problem{Reason: v1beta2.ReasonRollbackUnsafe, Retry: retryIncompatible, Message: fmt.Sprintf(
				"version %s cannot take over: %s of the newer version stays, and its objects are converted by %s, which version %[1]s does not have",
				w.manifest.Spec.Version, entry.ID, service)}
		}
	}
	decision.Prune = prune
	return nil
}

// convertingService returns the Service that converts the objects of a definition.
func convertingService(definition *unstructured.Unstructured) (service inventory.ID, converts bool) {
	conversion, _, _ := unstructured.NestedMap(definition.Object, "spec", "conversion")
	client, _, _ := unstructured.NestedMap(conversion, "webhook", "clientConfig", "service")
	service.Kind = "Service"
	service.Namespace, _ = client["namespace"].(string)
	service.Name, _ = client["name"].(string)
	return service, conversion["strategy"] == "Webhook" && service.Name != ""
}

// keptDefinition returns the definition that stays in place of a step's; nil for anything but a definition of ours that is there. Only what
// was seen to be absent is not read: a kind that was not listed yet says nothing.
func (w *scope) keptDefinition(ctx context.Context, step inventory.Step) (*unstructured.Unstructured, error) {
	if step.Entry.GroupKind() != inventory.CRDKind || w.runtime.Live(step.Entry.ID).Presence == inventory.Absent {
		return nil, nil
	}
	live, err := w.readDefinition(ctx, step.Entry.ID)
	if err != nil || live == nil || live.GetAnnotations()[v1beta2.AnnotationOwnedBy] != w.owner() || live.GetDeletionTimestamp() != nil {
		return nil, err
	}
	return live, nil
}

// readDefinition reads a definition from the cluster; nil where there is none.
func (w *scope) readDefinition(ctx context.Context, id inventory.ID) (*unstructured.Unstructured, error) {
	live, err := w.runtime.Cluster().Dynamic.Resource(inventory.CRDResource).Get(ctx, id.Name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, w.clusterProblem(id, err)
	}
	return live, nil
}

// serves returns what the content misses with the definition that stays.
func (w *scope) serves(live *unstructured.Unstructured, step inventory.Step) ([]crdsafety.Finding, error) {
	findings, err := apply.ServesDefinition(live, step.Object)
	if err != nil {
		return nil, w.clusterProblem(step.Entry.ID, err)
	}
	return findings, nil
}

// entryOfKept returns the record of a definition that stays in place of a step's.
func entryOfKept(step inventory.Step, live *unstructured.Unstructured) inventory.Entry {
	entry := step.Entry
	entry.UID, entry.Fields = live.GetUID(), inventory.FieldsHash(live.GetManagedFields(), v1beta2.FieldManagerModule)
	return entry
}

// webhookKinds are the configurations of webhooks that decide about requests, which conversion webhooks do not.
var webhookKinds = map[string]schema.GroupVersionResource{
	"ValidatingWebhookConfiguration": {Group: "admissionregistration.k8s.io", Version: "v1", Resource: "validatingwebhookconfigurations"},
	"MutatingWebhookConfiguration":   {Group: "admissionregistration.k8s.io", Version: "v1", Resource: "mutatingwebhookconfigurations"},
}

// clearWebhook removes a webhook configuration of the version that a Manifest went back from, when the webhook cannot be answered and
// stands in the way of the version before, until that was ready once. It must be in the inventory, with the UID of the object. One that
// answers, if only to deny, stays, and so does one that was written for the version that is being installed: it answers once what runs it
// does. One that both versions have alike is removed where it blocks what may be its own backend. What the content has of it comes back
// last, see putBackWebhooks. It returns the result that ends the pass; nil when nothing was removed.
func (r *Reconciler) clearWebhook(ctx context.Context, w *scope, steps []inventory.Step, failed []apply.Outcome) error {
	if !w.wentBack() || !w.isGoingBack() {
		return nil
	}
	for _, outcome := range failed {
		webhook := apply.UnansweredWebhook(outcome.Err)
		if webhook == "" {
			continue
		}
		for _, entry := range w.recorded {
			resource, decides := webhookKinds[entry.Kind]
			if !decides || entry.Group != resource.Group || entry.UID == "" {
				continue
			}
			wanted, mayGo := w.mayRemove(entry, steps)
			if !mayGo && w.isUnchanged(entry, steps) && blocksItsBackend(entry, outcome.ID) {
				wanted, mayGo = nil, true
			}
			if !mayGo {
				continue
			}
			removed, err := w.removeWebhook(ctx, resource, entry, webhook, wanted)
			if err != nil {
				return w.clusterProblem(entry.ID, err)
			}
			if removed {
				return r.tellCleared(ctx, w, entry, webhook)
			}
		}
	}
	return nil
}

// isGoingBack reports whether the version that a Manifest went back to has not been ready since.
func (w *scope) isGoingBack() bool {
	history := w.manifest.Status.Revisions
	return len(history) > 0 && history[len(history)-1].Outcome != v1beta2.RevisionSucceeded
}

// mayRemove reports whether a recorded object can be what the failed version left: the content does not have it, or has another one that
// was not written yet. wanted is the content's, where there is one.
func (w *scope) mayRemove(entry inventory.Entry, steps []inventory.Step) (wanted *unstructured.Unstructured, mayGo bool) {
	at := slices.IndexFunc(w.desired, func(object *unstructured.Unstructured) bool { return inventory.IDOf(object) == entry.ID })
	if at < 0 {
		return nil, true
	}
	wanted = w.desired[at]
	unwritten := slices.ContainsFunc(steps, func(step inventory.Step) bool {
		return step.Entry.ID == entry.ID && (step.Why == inventory.WhyChanged || step.Why == inventory.WhyNew)
	})
	return wanted, unwritten && entry.Hash != inventory.ContentHash(wanted)
}

// removeWebhook deletes a recorded configuration if it has a webhook of that name, and reports whether it did. It stays where it is what
// the content wants: a pass whose end was not recorded has written it.
func (w *scope) removeWebhook(
	ctx context.Context, resource schema.GroupVersionResource, entry inventory.Entry, webhook string, wanted *unstructured.Unstructured,
) (bool, error) {
	configurations := w.runtime.Cluster().Dynamic.Resource(resource)
	live, err := configurations.Get(ctx, entry.Name, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return false, nil
	case err != nil:
		return false, err
	case live.GetUID() != entry.UID || live.GetAnnotations()[v1beta2.AnnotationOwnedBy] != w.owner() || !hasWebhook(live, webhook):
		return false, nil
	case wanted != nil && declares(live.Object["webhooks"], wanted.Object["webhooks"]):
		return false, nil
	}
	uid := live.GetUID()
	err = configurations.Delete(ctx, entry.Name, metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &uid}})
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		return false, nil
	}
	return err == nil, err
}

func hasWebhook(configuration *unstructured.Unstructured, name string) bool {
	webhooks, _, _ := unstructured.NestedSlice(configuration.Object, "webhooks")
	return slices.ContainsFunc(webhooks, func(item any) bool {
		fields, isMap := item.(map[string]any)
		return isMap && fields["name"] == name
	})
}

// declares reports whether a value has everything that another one says; the API server adds defaults to it.
func declares(live, wanted any) bool {
	switch wanted := wanted.(type) {
	case map[string]any:
		fields, isMap := live.(map[string]any)
		for name, value := range wanted {
			if !isMap || !declares(fields[name], value) {
				return false
			}
		}
		return isMap
	case []any:
		items, isList := live.([]any)
		return isList && slices.EqualFunc(items, wanted, declares)
	}
	return equality.Semantic.DeepEqual(live, wanted)
}

// tellCleared reports that a webhook was removed, and lets the next pass go on at once.
func (r *Reconciler) tellCleared(ctx context.Context, w *scope, entry inventory.Entry, webhook string) error {
	message := fmt.Sprintf("webhook %s of the newer version did not answer and blocked the rollback: %s was removed", webhook, entry.ID)
	if slices.ContainsFunc(w.desired, func(object *unstructured.Unstructured) bool { return inventory.IDOf(object) == entry.ID }) {
		message += "; it comes back when the version before is ready"
	}
	logf.FromContext(ctx).Info("Webhook removed", "object", entry.ID.String(), "webhook", webhook)
	r.Events.Eventf(w.manifest, nil, corev1.EventTypeWarning, v1beta2.ReasonWebhookRemoved, "Apply", "%s", conditions.Note(message))
	return &passResult{
		state: v1beta2.StateProcessing, reason: v1beta2.ReasonApplying, message: message, parsed: true, retry: retryCleared,
	}
}

// retryCleared is the pause before a write that a webhook blocked is tried again: API servers learn of a removal by a watch of their own.
const retryCleared = time.Second
