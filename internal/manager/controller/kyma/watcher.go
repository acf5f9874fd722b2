package kyma

import (
	"context"
	"errors"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/module"
	"github.com/kyma-project/lifecycle-manager/pkg/conditions"
)

// leftover is a kind of which upstream's watcher created objects in a runtime.
type leftover struct {
	group, version, resource string
	namespaced               bool
	names                    []string
}

// leftovers are objects that only upstream's watcher needed, the webhook first: without its server it would delay every write of the user.
var leftovers = []leftover{
	{"admissionregistration.k8s.io", "v1", "validatingwebhookconfigurations", false, []string{"skr-webhook"}},
	{"apps", "v1", "deployments", true, []string{"skr-webhook"}},
	{"", "v1", "services", true, []string{"skr-webhook", "skr-webhook-metrics"}},
	{"", "v1", "secrets", true, []string{"skr-webhook-tls"}},
	{"networking.k8s.io", "v1", "networkpolicies", true, []string{
		"kyma-project.io--seed-to-watcher", "kyma-project.io--watcher-to-apiserver",
		"kyma-project.io--metrics-to-watcher", "kyma-project.io--watcher-to-dns",
	}},
	{"rbac.authorization.k8s.io", "v1", "clusterrolebindings", false, []string{"read-kymas"}},
	{"rbac.authorization.k8s.io", "v1", "clusterroles", false, []string{"kyma-reader"}},
	{"", "v1", "serviceaccounts", true, []string{"skr-webhook-sa"}},
	{"scheduling.k8s.io", "v1", "priorityclasses", false, []string{"skr-webhook-priority"}},
}

// removeWatcher removes what upstream's watcher left, once: upstream records it in a condition, which stays until all of it is gone. Only
// objects that upstream's own field managers wrote are taken for upstream's.
func (r *Reconciler) removeWatcher(ctx context.Context, s *remoteScope) {
	if conditions.Find(s.hub.Status.Conditions, module.ConditionWebhook) == nil {
		return
	}
	var failures []error
	for _, kind := range leftovers {
		objects := resourceOf(s.runtime.Cluster().Dynamic, kind)
		for _, name := range kind.names {
			failures = append(failures, removeLeftover(ctx, objects, name))
		}
	}
	err := errors.Join(failures...)
	if err == nil {
		s.WatcherGone = true
		return
	}
	s.runtime.Report(err)
	s.retry = soonest(s.retry, retryDelay(err))
	s.Syncs = append(s.Syncs, module.Sync{
		Type: module.ConditionWebhook, Reason: v1beta2.ReasonSyncFailed,
		Message: "what the watcher of an earlier version left in the runtime could not be removed: " + err.Error(),
	})
}

func resourceOf(cluster dynamic.Interface, kind leftover) dynamic.ResourceInterface {
	all := cluster.Resource(schema.GroupVersionResource{Group: kind.group, Version: kind.version, Resource: kind.resource})
	if kind.namespaced {
		return all.Namespace(v1beta2.RuntimeNamespace)
	}
	return all
}

func removeLeftover(ctx context.Context, objects dynamic.ResourceInterface, name string) error {
	found, err := objects.Get(ctx, name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read %s: %w", name, err)
	}
	if !slices.ContainsFunc(found.GetManagedFields(), func(entry metav1.ManagedFieldsEntry) bool {
		return entry.Manager == v1beta2.FieldManagerHub || entry.Manager == v1beta2.OperatorPrefix+v1beta2.FieldManagerHub
	}) {
		return nil
	}
	uid := found.GetUID()
	background := metav1.DeletePropagationBackground
	err = objects.Delete(ctx, name, metav1.DeleteOptions{
		Preconditions: &metav1.Preconditions{UID: &uid}, PropagationPolicy: &background,
	})
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("delete %s: %w", name, err)
	}
	return nil
}
