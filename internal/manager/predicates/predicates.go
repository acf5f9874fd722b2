// Package predicates has the event filters that several controllers share.
//
// Non-goals: filters that only one controller needs stay with it.
package predicates

import (
	"bytes"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

// DeletionChanged passes updates by which a deletion began, and everything that is no update.
var DeletionChanged = predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
	return e.ObjectOld.GetDeletionTimestamp().IsZero() != e.ObjectNew.GetDeletionTimestamp().IsZero()
}}

// AccessChanged passes access Secrets that appear or disappear, and changes of their kubeconfig or of the Kyma that they belong to.
var AccessChanged = predicate.And(
	predicate.NewPredicateFuncs(func(o client.Object) bool { return o.GetLabels()[v1beta2.LabelKymaName] != "" }),
	predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		before, known := e.ObjectOld.(*corev1.Secret)
		after, ok := e.ObjectNew.(*corev1.Secret)
		return !known || !ok || before.Labels[v1beta2.LabelKymaName] != after.Labels[v1beta2.LabelKymaName] ||
			!bytes.Equal(before.Data[v1beta2.AccessSecretKey], after.Data[v1beta2.AccessSecretKey])
	}},
)
