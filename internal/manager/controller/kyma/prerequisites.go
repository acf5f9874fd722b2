package kyma

import (
	"context"
	"errors"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/manager/remotesync"
	"github.com/kyma-project/lifecycle-manager/internal/module"
	"github.com/kyma-project/lifecycle-manager/pkg/apply"
	"github.com/kyma-project/lifecycle-manager/pkg/conditions"
	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

var (
	errNotEstablished  = errors.New("the runtime does not serve Kymas yet: their definition is not established")
	errCopyTerminating = errors.New("the Kyma in the runtime is being deleted; it is recreated when it is gone")
	errNoPullSecret    = errors.New("the hub has no image pull Secret with the name in --skr-image-pull-secret")
)

// runtimeNamespace returns the namespace of modules, with the labels that the users' policies select.
var runtimeNamespace = sync.OnceValue(func() remotesync.DesiredObject {
	return copyOf(&corev1.Namespace{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: namespaceKind.Kind},
		ObjectMeta: metav1.ObjectMeta{Name: v1beta2.RuntimeNamespace, Labels: map[string]string{
			v1beta2.LabelManagedBy: v1beta2.ManagedByKyma, "istio-injection": "enabled", "namespaces.warden.kyma-project.io/validate": "enabled",
		}},
	}, v1beta2.FieldManagerSync)
})

// syncPrerequisites writes what a runtime needs beside modules: its namespace, the definitions that its users need, the pull Secret. A
// failure is reported in a condition and stops nothing else.
func (r *Reconciler) syncPrerequisites(ctx context.Context, s *remoteScope) {
	s.sync(v1beta2.ConditionCRDsSync, r.ensure(ctx, s, append([]remotesync.DesiredObject{runtimeNamespace()}, remotesync.RuntimeCRDs()...)...))
	if r.PullSecret != nil {
		s.sync(v1beta2.ConditionImagePullSecret, r.supplyPullSecret(ctx, s))
	} else {
		s.Moot = append(s.Moot, v1beta2.ConditionImagePullSecret)
	}
	known, synced, reason, message := r.Catalog.State(client.ObjectKeyFromObject(s.hub))
	if !synced && reason != v1beta2.ReasonSyncPending && reason != v1beta2.ReasonSyncFailed {
		known = false // it speaks of an outage that has ended
	}
	if known {
		s.Syncs = append(s.Syncs, module.Sync{Type: v1beta2.ConditionModuleCatalog, Holds: synced, Reason: reason, Message: message})
	} else if conditions.Find(s.hub.Status.Conditions, v1beta2.ConditionModuleCatalog) == nil {
		s.Syncs = append(s.Syncs, module.Sync{
			Type: v1beta2.ConditionModuleCatalog, Reason: v1beta2.ReasonSyncPending, Message: v1beta2.MessageCatalogUnknown,
		})
	}
	r.removeWatcher(ctx, s)
}

func (r *Reconciler) ensure(ctx context.Context, s *remoteScope, copies ...remotesync.DesiredObject) error {
	outcome, err := r.Syncer.Ensure(ctx, s.runtime, copies)
	s.retry = soonest(s.retry, outcome.RetryAfter)
	if err == nil && outcome.Pending != nil {
		return outcome.Pending
	}
	return err
}

func (r *Reconciler) supplyPullSecret(ctx context.Context, s *remoteScope) error {
	secret, err := r.PullSecret.Get(ctx)
	if err != nil {
		return err
	}
	if secret == nil {
		return errNoPullSecret
	}
	return r.ensure(ctx, s, copyOf(pullSecretCopy(secret), v1beta2.FieldManagerHub))
}

// copyOf returns the desired object of an object that is built here.
func copyOf(object client.Object, manager string) remotesync.DesiredObject {
	plain, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
	if err != nil {
		panic(err) // a type of Kubernetes' own that is no object
	}
	delete(plain, "status")
	if spec, ok := plain["spec"].(map[string]any); ok && len(spec) == 0 {
		delete(plain, "spec")
	}
	unstructured.RemoveNestedField(plain, "metadata", "creationTimestamp")
	made, err := remotesync.Make(&unstructured.Unstructured{Object: plain}, manager)
	if err != nil {
		panic(err) // it came out of a typed object: every value can be encoded
	}
	return made
}

func pullSecretCopy(secret *corev1.Secret) *corev1.Secret {
	return &corev1.Secret{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Secret"},
		ObjectMeta: metav1.ObjectMeta{
			Namespace: v1beta2.RuntimeNamespace, Name: secret.Name,
			Labels: map[string]string{v1beta2.LabelManagedBy: v1beta2.ManagedByKyma},
		},
		Type: secret.Type, Data: secret.Data,
	}
}

// upstreamMessages are upstream's messages: one for a condition that holds, one for a condition that does not.
var upstreamMessages = map[string][2]string{
	v1beta2.ConditionCRDsSync:        {v1beta2.MessageCRDsSynced, v1beta2.MessageCRDsNotSynced},
	v1beta2.ConditionImagePullSecret: {v1beta2.MessagePullSecretSynced, v1beta2.MessagePullSecretNotSynced},
	v1beta2.ConditionSpecSync:        {v1beta2.MessageSpecsAgree, "the Kyma in the runtime differs from what it must be"},
}

// sync reports one condition.
func (s *remoteScope) sync(kind string, err error) {
	if err != nil {
		s.failed(kind, err)
		return
	}
	s.Syncs = append(s.Syncs, module.Sync{Type: kind, Holds: true, Reason: v1beta2.ReasonSynced, Message: upstreamMessages[kind][0]})
}

// failed reports that something is not as it must be, and plans another try where no event will bring one.
func (s *remoteScope) failed(kind string, err error) {
	reason := v1beta2.ReasonSyncPending
	switch class := apply.Classify(err); {
	case errors.Is(err, errCopyTerminating): // its end is an event
	case isPassing(err), remotesync.Passing(class), errors.Is(err, errNotEstablished):
		s.retry = soonest(s.retry, s.patience(kind, err))
	default:
		reason = v1beta2.ReasonSyncFailed
		s.retry = soonest(s.retry, retryFailed)
	}
	s.Syncs = append(s.Syncs, module.Sync{Type: kind, Reason: reason, Message: upstreamMessages[kind][1] + ": " + err.Error()})
}

// patience returns how long to wait before a passing failure is checked again: as long as the error says, or else a quarter of the time
// that it has lasted, since a finalizer in the runtime can make that forever.
func (s *remoteScope) patience(kind string, err error) time.Duration {
	if waits, ok := errors.AsType[*apply.Error](err); ok && waits.RetryAfter > 0 {
		return waits.RetryAfter
	}
	was := conditions.Find(s.hub.Status.Conditions, kind)
	if was == nil || was.Status == metav1.ConditionTrue {
		return retrySoon
	}
	return min(max(s.now.Sub(was.LastTransitionTime.Time)/4, retrySoon), retryFailed)
}

// definitionID returns the ID of the CustomResourceDefinition of a kind of ours.
func definitionID(gvk schema.GroupVersionKind) inventory.ID {
	return inventory.ID{Group: inventory.CRDKind.Group, Kind: inventory.CRDKind.Kind, Name: plurals[gvk.Kind] + "." + gvk.Group}
}

var plurals = map[string]string{"Kyma": "kymas", "ModuleTemplate": "moduletemplates", "ModuleReleaseMeta": "modulereleasemetas"}
