package module

import (
	"encoding/json"
	"maps"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

// Plan is what must be written. The zero Plan is empty.
type Plan struct {
	// Apply by server-side apply with force, as field manager "lifecycle-manager". The Manifests are complete: name, labels, annotations,
	// finalizers, owner and spec. An existing one carries its UID and resourceVersion, so that a stale view is a conflict; a new one has
	// neither.
	Apply []*v1beta2.Manifest
	// Adjust by JSON merge patch what an apply cannot express: the removal of own fields that another manager set, and the annotation that
	// marks a module as unmanaged.
	Adjust []Adjustment
	// Delete with UID and resourceVersion as preconditions. Each carries the label module-name, the key of its Result.
	Delete []v1beta2.Manifest
}

// Adjustment is a JSON merge patch of one Manifest.
type Adjustment struct {
	// Module is the key of its Result.
	Module string
	// Manifest to patch.
	Manifest *v1beta2.Manifest
	// Patch is a JSON merge patch that names UID and resourceVersion, so that a stale view is a conflict.
	Patch []byte
}

// Empty reports whether there is nothing to write.
func (p Plan) Empty() bool { return len(p.Apply)+len(p.Adjust)+len(p.Delete) == 0 }

// MakePlan compares the Manifests that the verdicts require with those that exist.
//
// A Manifest is applied when a field that this operator owns differs from the wanted value, and adjusted when it only has too many fields.
// It is deleted when its module is Removed and there is no Successor and no module of After to wait for, and when it is a surplus one
// of a module that is ready with another. Nothing else is deleted. While the Snapshot is Behind, no module is removed or unmanaged.
func MakePlan(w Snapshot, verdicts []Verdict) Plan {
	plan := planner{}
	for i := range verdicts {
		v := &verdicts[i]
		switch v.Kind {
		case Unmanaged:
			if !w.Behind {
				plan.unmanage(v)
			}
		case Removed:
			plan.fulfil(w, v)
			if v.Successor != "" || len(v.After) > 0 {
				continue
			}
			if w.Behind && !v.Mandatory {
				continue // the hub's spec may request it, and the pass that merged that was interrupted
			}
			plan.remove(v, v.Manifest)
			plan.removeAll(v, v.Surplus)
		case Run, Keep, Waiting:
			plan.fulfil(w, v)
			if v.Kind == Run && settled(w, v) {
				plan.removeAll(v, v.Surplus)
			}
		case Refused:
		}
	}
	return plan.Plan
}

// planner is a Plan under construction.
type planner struct{ Plan }

// fulfil plans the writes that make a Manifest as its verdict requires, if the verdict has a template.
func (p *planner) fulfil(w Snapshot, v *Verdict) {
	if v.Template == nil {
		return
	}
	want := wanted(w.Kyma, v)
	if v.Manifest == nil {
		p.Apply = append(p.Apply, want)
		return
	}
	change := compare(v.Manifest, want)
	switch {
	case change.Meta || change.Spec:
		p.Apply = append(p.Apply, want)
	case !change.none():
		p.Adjust = append(p.Adjust, adjust(v.Module, v.Manifest, change.Extra))
	}
}

// unmanage marks the existing Manifests of a module as unmanaged, once.
func (p *planner) unmanage(v *Verdict) {
	mark := map[string]any{"annotations": map[string]any{v1beta2.AnnotationIsUnmanaged: v1beta2.EnabledValue}}
	for _, manifest := range v.all() {
		if !leaving(manifest) {
			p.Adjust = append(p.Adjust, adjust(v.Module, manifest, map[string]any{"metadata": mark}))
		}
	}
}

func (p *planner) removeAll(v *Verdict, manifests []*v1beta2.Manifest) {
	for _, manifest := range manifests {
		p.remove(v, manifest)
	}
}

func (p *planner) remove(v *Verdict, manifest *v1beta2.Manifest) {
	if manifest == nil || terminating(manifest) {
		return
	}
	doomed := manifest.DeepCopy()
	if doomed.Labels == nil {
		doomed.Labels = map[string]string{}
	}
	doomed.Labels[v1beta2.LabelModuleName] = v.Module
	p.Delete = append(p.Delete, *doomed)
}

// adjust returns a JSON merge patch that fits the Manifest only in the version that was read.
func adjust(module string, manifest *v1beta2.Manifest, body map[string]any) Adjustment {
	meta := map[string]any{"uid": manifest.UID, "resourceVersion": manifest.ResourceVersion}
	if inner, ok := body["metadata"].(map[string]any); ok {
		maps.Copy(meta, inner)
	}
	patch := maps.Clone(body)
	patch["metadata"] = meta
	raw, err := json.Marshal(patch)
	if err != nil {
		// It came from JSON, except for strings and nil: every value of it can be encoded.
		panic(err)
	}
	return Adjustment{Module: module, Manifest: manifest, Patch: raw}
}

// all returns the Manifests that exist for the module.
func (v *Verdict) all() []*v1beta2.Manifest {
	if v.Manifest == nil {
		return nil
	}
	return append([]*v1beta2.Manifest{v.Manifest}, v.Surplus...)
}
