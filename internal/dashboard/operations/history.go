package operations

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// HistoryNamespace holds the history of operations: one for each cluster. Every dashboard of a cluster records there, wherever it runs,
// so that each of them lists the operations of the others, refuses requests that conflict with them, and resumes those that others left.
// It holds nothing else, since the permission to write ConfigMaps beside the manager would be the permission to rewrite the manager's
// policies.
const HistoryNamespace = "klm-dashboard"

// create writes a new record. For the first one of a cluster, it also creates the namespace if it is missing: config/components/dashboard
// has the same one.
func (r *records) create(ctx context.Context, text *corev1.ConfigMap) (*corev1.ConfigMap, error) {
	options := metav1.CreateOptions{FieldManager: fieldManager}
	made, err := r.maps.Create(ctx, text, options)
	if !apierrors.IsNotFound(err) {
		return made, err
	}
	space := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: r.space, Labels: map[string]string{
		"app.kubernetes.io/name":             "lifecycle-manager",
		"app.kubernetes.io/component":        "dashboard",
		"pod-security.kubernetes.io/enforce": "restricted",
		"pod-security.kubernetes.io/warn":    "restricted",
	}}}
	if _, err := r.spaces.Create(ctx, space, options); err != nil && !apierrors.IsAlreadyExists(err) {
		return nil, err
	}
	return r.maps.Create(ctx, text, options)
}
