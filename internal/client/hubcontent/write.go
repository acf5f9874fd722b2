package hubcontent

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/module/rollout"
)

// fieldManager writes what is imported, but for Manifests, whose fields the hub's manager must be able to remove.
const fieldManager = "kyma-cli"

// put writes one object as the export has it. What the manager acts on is suspended with the same request.
func (i *importing) put(ctx context.Context, s *step) error {
	o := s.want.DeepCopy()
	dropStatus(o)
	i.adapt(s, o)
	if s.pending() {
		suspend(o)
	}
	var err error
	switch {
	case s.id.Kind == kindManifest:
		err = i.client.Apply(ctx, client.ApplyConfigurationFromUnstructured(o), client.FieldOwner(v1beta2.FieldManagerHub), client.ForceOwnership)
	case s.action == Created:
		err = i.client.Create(ctx, o, client.FieldOwner(fieldManager))
	default:
		o = merge(o, s.live)
		err = i.client.Update(ctx, o, client.FieldOwner(fieldManager))
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", s.id, withoutContent(s.id, err))
	}
	s.live = o
	return nil
}

// adapt replaces in an object what names objects of the former hub.
func (i *importing) adapt(s *step, o *unstructured.Unstructured) {
	annotations := o.GetAnnotations()
	delete(annotations, v1beta2.AnnotationExportedFrom)
	if mark := annotations[v1beta2.AnnotationRollout]; s.id.Kind == kindRelease && i.uids[mark] != "" {
		annotations[v1beta2.AnnotationRollout] = i.uids[mark]
	}
	o.SetAnnotations(annotations)
	if s.owner == nil || s.owner.live == nil {
		return
	}
	yes := true
	o.SetOwnerReferences([]metav1.OwnerReference{{
		APIVersion: v1beta2.GroupVersion.String(), Kind: s.owner.id.Kind, Name: s.owner.id.Name, UID: s.owner.live.GetUID(),
		Controller: &yes, BlockOwnerDeletion: &yes,
	}})
	if s.owner.id.Kind == kindManifest {
		labels := o.GetLabels()
		labels[v1beta2.LabelInventory] = string(s.owner.live.GetUID())
		o.SetLabels(labels)
	}
}

// suspend marks an object, and makes the manager leave it alone.
func suspend(o *unstructured.Unstructured) {
	labels := o.GetLabels()
	if labels == nil {
		labels = map[string]string{}
	}
	labels[v1beta2.LabelSkipReconciliation] = v1beta2.EnabledValue
	o.SetLabels(labels)
	setAnnotation(o, v1beta2.AnnotationImport, v1beta2.ImportPending)
}

// merge returns what is there with the content of another object.
func merge(want, live *unstructured.Unstructured) *unstructured.Unstructured {
	merged := live.DeepCopy()
	for _, field := range contentFields(want, live) {
		if value, set := want.Object[field]; set {
			merged.Object[field] = value
		} else {
			delete(merged.Object, field)
		}
	}
	labels, annotations := merged.GetLabels(), merged.GetAnnotations()
	if labels == nil {
		labels = map[string]string{}
	}
	if annotations == nil {
		annotations = map[string]string{}
	}
	maps.Copy(labels, want.GetLabels())
	for key, value := range want.GetAnnotations() {
		if _, there := annotations[key]; key == v1beta2.AnnotationExportedFrom || key == v1beta2.AnnotationRollout && there {
			continue
		}
		annotations[key] = value
	}
	merged.SetLabels(labels)
	merged.SetAnnotations(annotations)
	return merged
}

// putStatus writes the status of an object that is suspended.
func (i *importing) putStatus(ctx context.Context, s *step) error {
	o := s.want.DeepCopy()
	renumber(o, exportedGeneration, s.live.GetGeneration())
	if s.id.Kind == kindRollout {
		i.renameKymas(o)
	}
	if reflect.DeepEqual(o.Object["status"], s.live.Object["status"]) {
		return nil
	}
	patch, err := json.Marshal(map[string]any{"status": o.Object["status"]})
	if err != nil {
		return fmt.Errorf("the status of %s cannot be encoded: %w", s.id, err)
	}
	err = i.client.Status().Patch(ctx, s.live.DeepCopy(), client.RawPatch(types.MergePatchType, patch), client.FieldOwner(fieldManager))
	if err != nil {
		return fmt.Errorf("write the status of %s: %w", s.id, err)
	}
	return nil
}

// renameKymas replaces the Kymas in the position of a rollout, which names them by the beginning of their UID. One that was not exported
// has no place.
func (i *importing) renameKymas(o *unstructured.Unstructured) {
	here := map[string]string{}
	for there, uid := range i.uids {
		here[rollout.Prefix(there)] = rollout.Prefix(uid)
	}
	channels, _, _ := unstructured.NestedSlice(o.Object, "status", "channels")
	for _, channel := range channels {
		fields, _ := channel.(map[string]any)
		for _, list := range []string{"underway", "back"} {
			named, _ := fields[list].([]any)
			var renamed []any
			for _, prefix := range named {
				if text, _ := prefix.(string); here[text] != "" {
					renamed = append(renamed, here[text])
				}
			}
			if len(named) > 0 {
				fields[list] = renamed
			}
		}
	}
	if channels != nil {
		_ = unstructured.SetNestedSlice(o.Object, channels, "status", "channels")
	}
}

// release ends the suspension. A Kyma precedes its Manifests, since it claims the runtime: a Manifest of a suspended Kyma would write to
// one that no hub has claimed. Rollouts come last: a wave does not wait for Kymas that are suspended.
func (i *importing) release(ctx context.Context) error {
	manifests := map[*step][]*step{}
	for _, s := range i.steps {
		if s.id.Kind == kindManifest && s.pending() {
			manifests[s.owner] = append(manifests[s.owner], s)
		}
	}
	kymas := i.filter(func(s *step) bool {
		return s.id.Kind == kindKyma && (s.pending() || s.takesOver != "" || len(manifests[s]) > 0)
	})
	err := i.each(ctx, "suspension of Kymas", kymas, func(ctx context.Context, kyma *step) error {
		if kyma.pending() || kyma.takesOver != "" {
			if err := i.resume(ctx, kyma); err != nil {
				return err
			}
		}
		for _, manifest := range manifests[kyma] {
			if err := i.resume(ctx, manifest); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	if err := i.each(ctx, "suspension of Manifests", manifests[nil], i.resume); err != nil {
		return err
	}
	rollouts := i.filter(func(s *step) bool { return s.id.Kind == kindRollout && s.pending() })
	return i.each(ctx, "suspension of rollouts", rollouts, i.resume)
}

// resume removes the mark of an object and its suspension, unless it is suspended in the export, too. A Kyma is told to take its runtime
// over with the same request.
func (i *importing) resume(ctx context.Context, s *step) error {
	annotations := map[string]any{v1beta2.AnnotationImport: nil}
	if s.takesOver != "" {
		annotations[v1beta2.AnnotationTakeOverFrom] = s.takesOver
	}
	metadata := map[string]any{"annotations": annotations}
	if s.pending() {
		label := any(nil)
		if own, set := s.want.GetLabels()[v1beta2.LabelSkipReconciliation]; set {
			label = own
		}
		metadata["labels"] = map[string]any{v1beta2.LabelSkipReconciliation: label}
	}
	patch, err := json.Marshal(map[string]any{"metadata": metadata})
	if err != nil {
		return err
	}
	err = i.client.Patch(ctx, s.live.DeepCopy(), client.RawPatch(types.MergePatchType, patch), client.FieldOwner(fieldManager))
	if err != nil {
		return fmt.Errorf("end the suspension of %s: %w", s.id, err)
	}
	return nil
}
