package kyma

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"sigs.k8s.io/controller-runtime/pkg/client"
	logf "sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/module"
	"github.com/kyma-project/lifecycle-manager/pkg/apply"
)

// copiedLabels are the labels that the runtime's Kyma gets from the hub's.
var copiedLabels = []string{"kyma-project.io/runtime-id", "kyma-project.io/global-account-id", "kyma-project.io/subaccount-id"}

// readRuntimeKyma is the last rule of prepareRuntime. What the runtime's users write is hostile input: a refused spec leaves the one seen
// last in force, and so do two that cannot be merged, and a user who writes more often than users edit by hand.
func (r *Reconciler) readRuntimeKyma(s *remoteScope) {
	if known, _ := s.runtime.Known(client.ObjectKeyFromObject(s.hub)); !known {
		s.dropConnection() // else unknown objects would be taken for missing ones
		return
	}
	if s.found != nil {
		kyma, err := kymaOf(s.found)
		if err == nil {
			s.copy = kyma // also of a refused one the users see the status
			err = module.CheckRuntimeSpec(&kyma.Spec)
		}
		if err != nil {
			s.refuse(v1beta2.ReasonRuntimeSpecRefused, err.Error())
			return
		}
	}
	sides := module.MergeInput{Hub: module.SeenOnHub(&s.hub.Spec, s.hub.Status.LastSeen), Last: s.hub.Status.LastSeen}
	if s.copy != nil {
		seen := module.SeenOf(&s.copy.Spec)
		sides.Runtime = &seen
		if pause := r.editDelay(s, &seen); pause > 0 {
			s.retry = soonest(s.retry, pause)
			return
		}
	}
	merged := module.Merge(sides)
	if merged.Refused != "" {
		s.refuse(v1beta2.ReasonValuesInvalid, merged.Refused)
		return
	}
	s.merged = &merged
}

// kymaOf decodes the runtime's Kyma. Fields that this version does not know are ignored.
func kymaOf(object *unstructured.Unstructured) (*v1beta2.Kyma, error) {
	kyma := &v1beta2.Kyma{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, kyma); err != nil {
		return nil, fmt.Errorf("the Kyma %s/%s in the runtime cannot be read: %w", object.GetNamespace(), object.GetName(), err)
	}
	return kyma, nil
}

// refuse keeps the spec that was seen last in force.
func (s *remoteScope) refuse(reason, message string) {
	s.Syncs = append(s.Syncs, module.Sync{Type: v1beta2.ConditionSpecSync, Reason: reason, Message: message})
	if last := s.hub.Status.LastSeen; last == nil || last.Runtime == nil {
		s.Access = &module.Access{Reason: reason, Message: message}
	}
}

// unpinnable returns the modules whose exact version only the runtime requests, which must be allowed.
func (r *Reconciler) unpinnable(hub, effective *v1beta2.Kyma) map[string]bool {
	if r.RuntimeVersions {
		return nil
	}
	pinned := map[string]string{}
	for i := range hub.Spec.Modules {
		pinned[hub.Spec.Modules[i].Name] = hub.Spec.Modules[i].Version
	}
	refused := map[string]bool{}
	for i := range effective.Spec.Modules {
		if entry := &effective.Spec.Modules[i]; entry.Version != "" && pinned[entry.Name] != entry.Version {
			refused[entry.Name] = true
		}
	}
	return refused
}

// syncRuntimeKyma brings the runtime's Kyma to its desired state: it exists, with the spec in force and with its marks. It runs after the
// Manifests were written: a runtime that is slow to accept its Kyma delays no module.
func (r *Reconciler) syncRuntimeKyma(ctx context.Context, s *remoteScope) {
	if s.runtime == nil || s.merged == nil {
		return
	}
	var err error
	switch {
	case s.copy == nil:
		err = r.createCopy(ctx, s)
	case s.copy.DeletionTimestamp != nil:
		if err = s.releaseFinalizers(ctx); err == nil {
			err = errCopyTerminating // its end is an event, and then it is recreated
		}
		if seen := s.merged.Seen; !s.merged.Write {
			s.Seen = &seen // else what is taken over of it now would be lost with it
		}
	default:
		err = r.adjustCopy(ctx, s)
	}
	if err != nil {
		s.failed(v1beta2.ConditionSpecSync, err)
		s.runtime.Report(err)
		return
	}
	seen := s.merged.Seen
	s.Seen = &seen
	holds, reason, message := module.SpecSyncOutcome(&seen)
	s.Syncs = append(s.Syncs, module.Sync{Type: v1beta2.ConditionSpecSync, Holds: holds, Reason: reason, Message: message})
}

func (r *Reconciler) createCopy(ctx context.Context, s *remoteScope) error {
	if !s.runtime.Established(definitionID(kymaKind)) {
		return errNotEstablished
	}
	kyma := &v1beta2.Kyma{}
	kyma.SetGroupVersionKind(kymaKind)
	kyma.Namespace, kyma.Name = copyID.Namespace, copyID.Name
	kyma.Labels, kyma.Annotations = copyLabels(s.hub), s.annotations()
	kyma.Spec.Channel = s.merged.Effective.Channel // Apply would leave out what means the default
	module.Apply(&kyma.Spec, s.merged.Effective)
	object, err := runtime.DefaultUnstructuredConverter.ToUnstructured(kyma)
	if err != nil {
		return fmt.Errorf("convert the runtime's Kyma: %w", err)
	}
	delete(object, "status")
	resource, err := s.runtime.Cluster().Resource(ctx, kymaKind)
	if err != nil {
		return err
	}
	made, err := apply.Create(ctx, kymasAt(s.runtime, resource), resource, &unstructured.Unstructured{Object: object},
		metav1.CreateOptions{FieldManager: s.manager()})
	if err != nil { // also where another client, such as another hub, has created one meanwhile: it is read first
		return fmt.Errorf("create the Kyma in the runtime: %w", err)
	}
	s.learn(made)
	r.Catalog.Wake(client.ObjectKeyFromObject(s.hub)) // namespace or definition may have been recreated, too
	r.recordRuntimeKymaCreated(s.hub)
	return nil
}

// manager returns the field manager of the runtime Kyma's spec, the same for every kind of write.
func (s *remoteScope) manager() string { return v1beta2.FieldManagerHub + "-" + string(s.hub.UID) }

// adjustCopy writes the spec by a patch that fits only what was read, and missing marks.
func (r *Reconciler) adjustCopy(ctx context.Context, s *remoteScope) error {
	if !s.merged.Write && s.marked(s.copy) {
		return nil
	}
	wanted := s.copy.DeepCopy()
	if s.merged.Write {
		module.Apply(&wanted.Spec, s.merged.Effective)
	}
	if !equality.Semantic.DeepEqual(wanted.Spec, s.copy.Spec) {
		if err := s.patchCopy(ctx, wanted); err != nil {
			return err
		}
	}
	if s.marked(s.copy) {
		return nil
	}
	return s.markCopy(ctx)
}

// patchCopy writes what differs from what was read, if no other client wrote meanwhile.
func (s *remoteScope) patchCopy(ctx context.Context, wanted *v1beta2.Kyma) error {
	kymas, err := kymasIn(ctx, s.runtime)
	if err != nil {
		return err
	}
	patch, err := client.MergeFromWithOptions(s.copy, client.MergeFromWithOptimisticLock{}).Data(wanted)
	if err != nil {
		return fmt.Errorf("compare the Kyma in the runtime: %w", err)
	}
	written, err := kymas.Patch(ctx, copyID.Name, types.MergePatchType, patch, metav1.PatchOptions{FieldManager: s.manager()})
	if err != nil {
		return fmt.Errorf("write the Kyma in the runtime: %w", err)
	}
	s.learn(written)
	return nil
}

// markCopy marks the runtime's Kyma as ours, if no other client wrote it meanwhile: that may have been another Kyma's mark.
func (s *remoteScope) markCopy(ctx context.Context) error {
	kymas, err := kymasIn(ctx, s.runtime)
	if err != nil {
		return err
	}
	metadata := map[string]any{
		"name": copyID.Name, "namespace": copyID.Namespace,
		"uid":    string(s.copy.UID), // or one that is gone meanwhile would be recreated, asking for no module
		"labels": copyLabels(s.hub), "annotations": s.annotations(),
	}
	if !contains(s.copy.Annotations, s.annotations()) {
		metadata["resourceVersion"] = s.copy.ResourceVersion
	}
	body, err := json.Marshal(map[string]any{"apiVersion": v1beta2.GroupVersion.String(), "kind": kymaKind.Kind, "metadata": metadata})
	if err != nil {
		return fmt.Errorf("encode the marks of the Kyma in the runtime: %w", err)
	}
	force := true
	options := metav1.PatchOptions{FieldManager: v1beta2.FieldManagerSync, Force: &force}
	written, err := kymas.Patch(ctx, copyID.Name, types.ApplyPatchType, body, options)
	if err != nil {
		return fmt.Errorf("mark the Kyma in the runtime: %w", err)
	}
	before := s.copy
	s.learn(written)
	if s.overtaken(before, s.copy) {
		s.retry = soonest(s.retry, retrySoon)
	}
	return nil
}

// overtaken reports whether the result of a write of ours contains an edit by another client, made since the last read. The cache learned
// it with the write, so its event will enqueue nothing.
func (s *remoteScope) overtaken(before, after *v1beta2.Kyma) bool {
	return after.Generation != before.Generation || s.marked(before) && !s.marked(after)
}

// learn records the result of a write as what the runtime holds now.
func (s *remoteScope) learn(written *unstructured.Unstructured) {
	s.runtime.Cluster().Learn(written)
	if kyma, err := kymaOf(written); err == nil {
		s.copy = kyma
	}
}

// syncRuntimeStatus writes the status to the runtime's Kyma where it differs, and returns when to try again.
func (r *Reconciler) syncRuntimeStatus(ctx context.Context, s *remoteScope, status *v1beta2.KymaStatus) time.Duration {
	if s.runtime == nil || s.copy == nil || s.copy.DeletionTimestamp != nil || !s.isReportable(status) {
		return 0
	}
	before := s.copy
	err := r.writeStatus(ctx, s, module.RuntimeStatus(status, s.copy.Generation))
	switch {
	case err == nil && s.overtaken(before, s.copy):
		return retrySoon
	case err == nil:
		return 0
	}
	s.runtime.Report(err)
	logf.FromContext(ctx).V(1).Info("Could not show the status in the runtime", "cause", err.Error())
	return retryDelay(err)
}

func (r *Reconciler) writeStatus(ctx context.Context, s *remoteScope, status v1beta2.KymaStatus) error {
	if equality.Semantic.DeepEqual(s.copy.Status, status) {
		return nil
	}
	kymas, err := kymasIn(ctx, s.runtime)
	if err != nil {
		return err
	}
	wanted := s.copy.DeepCopy()
	wanted.Status = status
	patch, err := client.MergeFrom(s.copy).Data(wanted)
	if err != nil {
		return fmt.Errorf("compare the status of the Kyma in the runtime: %w", err)
	}
	options := metav1.PatchOptions{FieldManager: v1beta2.FieldManagerHub}
	written, err := kymas.Patch(ctx, copyID.Name, types.MergePatchType, patch, options, "status")
	if err != nil {
		return fmt.Errorf("write the status of the Kyma in the runtime: %w", err)
	}
	s.learn(written)
	return nil
}

func kymasIn(ctx context.Context, runtime Runtime) (dynamic.ResourceInterface, error) {
	resource, err := runtime.Cluster().Resource(ctx, kymaKind)
	if err != nil {
		return nil, err
	}
	return kymasAt(runtime, resource), nil
}

func kymasAt(runtime Runtime, resource apply.Resource) dynamic.ResourceInterface {
	return runtime.Cluster().Dynamic.Resource(resource.GroupVersionResource).Namespace(copyID.Namespace)
}

func copyLabels(hub *v1beta2.Kyma) map[string]string {
	labels := map[string]string{v1beta2.LabelManagedBy: v1beta2.ManagedByKyma, v1beta2.LabelWatchedBy: v1beta2.ManagedByKyma}
	for _, name := range copiedLabels {
		if value, ok := hub.Labels[name]; ok {
			labels[name] = value
		}
	}
	return labels
}

// annotations returns the marks of the runtime's Kyma: its Kyma on the hub, and which hub that is.
func (s *remoteScope) annotations() map[string]string {
	marks := map[string]string{v1beta2.AnnotationOwnedBy: client.ObjectKeyFromObject(s.hub).String()}
	if s.hubID != "" {
		marks[v1beta2.AnnotationHub] = s.hubID
	}
	return marks
}

// marked reports whether the runtime's Kyma carries all marks.
func (s *remoteScope) marked(copied *v1beta2.Kyma) bool {
	return contains(copied.Labels, copyLabels(s.hub)) && contains(copied.Annotations, s.annotations())
}

func contains(all, some map[string]string) bool {
	merged := maps.Clone(all)
	if merged == nil {
		merged = map[string]string{}
	}
	maps.Copy(merged, some)
	return maps.Equal(merged, all)
}

// isOwnCopy reports whether a Kyma is the one that this manager keeps in a runtime which is a hub at the same time: it must not be managed.
// It is stricter than modulestatus.IsCopy, which also counts the copies of the public lifecycle-manager.
func isOwnCopy(kyma *v1beta2.Kyma) bool { return module.IsRuntimeCopy(kyma) }

// retryDelay returns the pause after a call to a runtime that failed:
//  1. a moment where the failure ends by itself;
//  2. a few where a response was lost, or the server failed or is overloaded: one that is known to be down is not called anyway;
//  3. longer for everything else.
func retryDelay(err error) time.Duration {
	if isPassing(err) {
		return retrySoon
	}
	switch apply.Classify(err) {
	case apply.ClassUnreachable, apply.ClassInternal, apply.ClassThrottled:
		return 5 * retrySoon
	default:
		return retryFailed
	}
}

// isPassing reports whether a failure ends by itself.
func isPassing(err error) bool {
	return apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err) || apierrors.IsNotFound(err)
}
