package operations

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// HistoryNamespace holds the history of operations: one for each cluster. Every dashboard of a cluster records there, wherever it runs
// itself, so that each of them lists what the others did, refuses what gets in the way of what they do, and resumes what they left.
// It holds nothing else, since the right to write ConfigMaps beside the manager would be the right to rewrite the manager's policies.
const HistoryNamespace = "klm-dashboard"

// create writes a new record. The first one of a cluster may find no namespace for it, and makes that: config/components/dashboard has the
// same one.
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
