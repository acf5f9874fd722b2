package manifest

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

func TestRequeueReason(t *testing.T) {
	for name, test := range map[string]struct {
		found passResult
		want  string
	}{
		"refused credentials":              {passResult{state: v1beta2.StateError, reason: v1beta2.ReasonRuntimeUnauthorized}, "manifest_unauthorized"},
		"refused credentials at a removal": {passResult{state: v1beta2.StateDeleting, reason: v1beta2.ReasonRuntimeUnauthorized}, "manifest_unauthorized"},
		"a runtime that does not answer":   {passResult{state: v1beta2.StateError, reason: v1beta2.ReasonRuntimeUnreachable}, "manifest_client_init"},
		"a removal that is blocked":        {passResult{state: v1beta2.StateDeleting, reason: v1beta2.ReasonDeletionBlocked}, "manifest_pre_delete_enqueue_required"},
		"a registry that does not answer":  {passResult{state: v1beta2.StateError, reason: v1beta2.ReasonRegistryUnreachable}, "manifest_parse_spec"},
		"values that do not fit":           {passResult{state: v1beta2.StateError, reason: v1beta2.ReasonValuesInvalid}, "manifest_render_resources"},
		"objects that are not ready":       {passResult{state: v1beta2.StateProcessing, reason: v1beta2.ReasonWaitingForCRDs}, "manifest_sync_resources_enqueue_required"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := requeueReason(test.found); got != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
		})
	}
}

// counted remembers what was counted.
type counted []string

func (c *counted) Requeued(reason string, unexpected bool) {
	*c = append(*c, map[bool]string{false: "intended ", true: "unexpected "}[unexpected]+reason)
}

// unread is a client that answers every read with an error.
type unread struct {
	client.Client
	err error
}

func (u unread) Get(_ context.Context, _ client.ObjectKey, _ client.Object, _ ...client.GetOption) error {
	return u.err
}

func TestRequeues_CountErrorsByStep(t *testing.T) {
	r := newReconciler(t, newManifest())
	var got counted
	r.Requeues = &got
	hub := r.Client
	request := ctrl.Request{NamespacedName: client.ObjectKeyFromObject(newManifest())}
	r.Client = unread{hub, errors.New("broken")}
	if _, err := r.Reconcile(t.Context(), request); err == nil {
		t.Error("the error got lost")
	}
	r.Client = unread{hub, apierrors.NewNotFound(schema.GroupResource{Resource: "manifests"}, "sample")}
	if _, err := r.Reconcile(t.Context(), request); err != nil {
		t.Error(err)
	}
	if diff := cmp.Diff(counted{"unexpected manifest_retrieval"}, got); diff != "" {
		t.Errorf("counts differ (-want +got):\n%s", diff)
	}
}
