package main

import (
	"context"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	corev1apply "k8s.io/client-go/applyconfigurations/core/v1"
	metav1apply "k8s.io/client-go/applyconfigurations/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
)

const (
	// finalizer keeps a Greeter until its greeting is deleted.
	finalizer = "samples.kyma-project.io/greeter"
	// fieldOwner is the field manager of the greetings.
	fieldOwner = client.FieldOwner("greeter")
)

var (
	kind = schema.GroupVersionKind{Group: "samples.kyma-project.io", Version: "v1", Kind: "Greeter"}
	// marks are the labels of every greeting.
	marks = map[string]string{"app.kubernetes.io/managed-by": "greeter"}
)

// Reconciler keeps one greeting for each Greeter.
type Reconciler struct {
	Client  client.Client
	Version string
}

// Reconcile writes the greeting, or removes it when the Greeter is being deleted.
func (r *Reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	greeter := newGreeter()
	if err := r.Client.Get(ctx, request.NamespacedName, greeter); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if !greeter.GetDeletionTimestamp().IsZero() {
		return ctrl.Result{}, r.cleanUp(ctx, greeter)
	}
	before := greeter.DeepCopy()
	if controllerutil.AddFinalizer(greeter, finalizer) {
		if err := r.Client.Patch(ctx, greeter, client.MergeFrom(before)); err != nil {
			return ctrl.Result{}, fmt.Errorf("set the finalizer: %w", err)
		}
	}
	if err := r.greet(ctx, greeter); err != nil {
		return ctrl.Result{}, fmt.Errorf("write the greeting: %w", err)
	}
	return ctrl.Result{}, r.report(ctx, greeter)
}

// greet applies the ConfigMap, which changes nothing when it is as it should be.
func (r *Reconciler) greet(ctx context.Context, greeter *unstructured.Unstructured) error {
	owner := metav1apply.OwnerReference().WithAPIVersion(greeter.GetAPIVersion()).WithKind(greeter.GetKind()).
		WithName(greeter.GetName()).WithUID(greeter.GetUID()).WithController(true)
	greeting := corev1apply.ConfigMap(nameOf(greeter), greeter.GetNamespace()).
		WithLabels(marks).WithOwnerReferences(owner).
		WithData(map[string]string{"greeting": Greeting(greeter), "by": "greeter " + r.Version})
	return r.Client.Apply(ctx, greeting, client.ForceOwnership, fieldOwner)
}

// report reports Ready in two ways: as Kyma's state and as a condition.
func (r *Reconciler) report(ctx context.Context, greeter *unstructured.Unstructured) error {
	before := greeter.DeepCopy()
	ready := metav1.Condition{
		Type: "Ready", Status: metav1.ConditionTrue, Reason: "Greeted", Message: "the greeting is in ConfigMap " + nameOf(greeter),
		ObservedGeneration: greeter.GetGeneration(),
	}
	conditions := conditionsOf(greeter)
	meta.SetStatusCondition(&conditions, ready)
	list := make([]any, 0, len(conditions))
	for i := range conditions {
		entry, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&conditions[i])
		if err != nil {
			return err
		}
		list = append(list, entry)
	}
	greeter.Object["status"] = map[string]any{
		"state": "Ready", "observedGeneration": greeter.GetGeneration(), "conditions": list,
	}
	if equality.Semantic.DeepEqual(before, greeter) {
		return nil
	}
	if err := r.Client.Status().Patch(ctx, greeter, client.MergeFrom(before)); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("write the status: %w", err)
	}
	return nil
}

// cleanUp removes the greeting and then the finalizer of the Greeter.
func (r *Reconciler) cleanUp(ctx context.Context, greeter *unstructured.Unstructured) error {
	greeting := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: greeter.GetNamespace(), Name: nameOf(greeter)}}
	if err := r.Client.Delete(ctx, greeting); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("remove the greeting: %w", err)
	}
	before := greeter.DeepCopy()
	if !controllerutil.RemoveFinalizer(greeter, finalizer) {
		return nil
	}
	if err := r.Client.Patch(ctx, greeter, client.MergeFrom(before)); err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("remove the finalizer: %w", err)
	}
	return nil
}

// Greeting returns the greeting for a Greeter.
func Greeting(greeter *unstructured.Unstructured) string {
	whom, _, _ := unstructured.NestedString(greeter.Object, "spec", "whom")
	text := fmt.Sprintf("Hello, %s!", whom)
	if loud, _, _ := unstructured.NestedBool(greeter.Object, "spec", "loud"); loud {
		return strings.ToUpper(text)
	}
	return text
}

// conditionsOf reads the conditions of an earlier pass; unreadable ones are written again.
func conditionsOf(greeter *unstructured.Unstructured) []metav1.Condition {
	status := struct {
		Conditions []metav1.Condition `json:"conditions"`
	}{}
	content, _, _ := unstructured.NestedMap(greeter.Object, "status")
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(content, &status); err != nil {
		return nil
	}
	return status.Conditions
}

func newGreeter() *unstructured.Unstructured {
	greeter := &unstructured.Unstructured{}
	greeter.SetGroupVersionKind(kind)
	return greeter
}

// nameOf returns the name of the ConfigMap with the greeting.
func nameOf(greeter *unstructured.Unstructured) string { return "greeting-" + greeter.GetName() }
