package module

import (
	"slices"
	"testing"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/pkg/requirements"
)

// needing returns what an edit of a Snapshot needs to say about requirements: "a" or "a >=2" is a module, "a.b" a definition, "kubernetes
// >=1.31" a version of Kubernetes.
func needing(texts ...string) []requirements.Requirement {
	var list []requirements.Requirement
	for _, text := range texts {
		name, within := text, ""
		for i := range text {
			if text[i] == ' ' {
				name, within = text[:i], text[i+1:]
				break
			}
		}
		switch {
		case name == "kubernetes":
			list = append(list, requirements.Requirement{Kubernetes: within})
		case slices.Contains([]byte(name), '.'):
			list = append(list, requirements.Requirement{Definition: name, Served: within})
		default:
			list = append(list, requirements.Requirement{Module: name, Version: within})
		}
	}
	return list
}

// publishes adds a version of a module, which the channel regular offers from then on.
func publishes(name, version string, needs ...string) func(*Snapshot) {
	return func(w *Snapshot) {
		template := newTemplate(name, version)
		template.Spec.Data.SetName(name)
		for _, one := range needing(needs...) {
			template.Spec.Requires = append(template.Spec.Requires, v1beta2.Requirement(one))
		}
		w.Templates[template.Name] = template
		w.Releases[name] = newRelease(name, "regular", version)
		known := newComponent(version)
		known.Source.Name = componentOfModule(name)
		w.Components[ComponentKey{componentOfModule(name), version}] = known
	}
}

// asksFor names modules in the spec.
func asksFor(names ...string) func(*Snapshot) {
	return func(w *Snapshot) {
		w.Kyma.Spec.Modules = nil
		for _, name := range names {
			w.Kyma.Spec.Modules = append(w.Kyma.Spec.Modules, module(name))
		}
	}
}

// newGraph returns a Snapshot of a Kyma without modules, edited.
func newGraph(edits ...func(*Snapshot)) Snapshot {
	w := Snapshot{
		Kyma: newKyma(), Releases: map[string]*v1beta2.ModuleReleaseMeta{}, Templates: map[string]*v1beta2.ModuleTemplate{},
		Components: map[ComponentKey]Component{}, Now: noon,
	}
	return edited(w, edits...)
}

func edited(w Snapshot, edits ...func(*Snapshot)) Snapshot {
	w.Kyma = w.Kyma.DeepCopy()
	for _, edit := range edits {
		edit(&w)
	}
	return w
}

// onePass runs one pass and returns the Snapshot after it, in which nothing else has happened.
func onePass(w Snapshot) Snapshot {
	verdicts := Resolve(w)
	after := carryOut(w, MakePlan(w, verdicts))
	after.Kyma.Status = Rollup(w, verdicts, nil)
	return after
}

// isReady makes the Manifest of a module ready, as what it asks for.
func isReady(name string) func(*Snapshot) {
	return func(w *Snapshot) {
		for i := range w.Manifests {
			if manifest := &w.Manifests[i]; manifest.Labels[v1beta2.LabelModuleName] == name {
				makeReady(manifest)
				manifest.Status.InstalledVersion = manifest.Spec.Version
			}
		}
	}
}

// isBroken makes the Manifest of a module one that does not get ready.
func isBroken(name string) func(*Snapshot) {
	return func(w *Snapshot) {
		for i := range w.Manifests {
			if manifest := &w.Manifests[i]; manifest.Labels[v1beta2.LabelModuleName] == name {
				reporting(manifest, v1beta2.StateError, v1beta2.ReasonObjectFailed, "it crashes")
			}
		}
	}
}

// isGone removes the Manifests of a module that are being deleted.
func isGone(name string) func(*Snapshot) {
	return func(w *Snapshot) {
		w.Manifests = slices.DeleteFunc(w.Manifests, func(manifest v1beta2.Manifest) bool {
			return manifest.DeletionTimestamp != nil && manifest.Labels[v1beta2.LabelModuleName] == name
		})
	}
}

// settle runs passes until nothing is left to write; whatever was written gets ready.
func settle(t *testing.T, w Snapshot) Snapshot {
	t.Helper()
	for range 20 {
		after := onePass(w)
		for i := range after.Manifests {
			isReady(after.Manifests[i].Labels[v1beta2.LabelModuleName])(&after)
		}
		if MakePlan(after, Resolve(after)).Empty() {
			return onePass(after)
		}
		w = after
	}
	t.Fatal("there is always something to write")
	return w
}

// expectation is what a user sees of a module.
type expectation struct {
	Kind   Kind
	State  v1beta2.State
	Reason string
	// Version that is installed or being installed.
	Version string
	Message string
}

// tells returns what a pass over the Snapshot says of a module.
func tells(t *testing.T, w Snapshot, name string) expectation {
	t.Helper()
	verdicts := Resolve(w)
	modules, mandatory := tellAll(w, verdicts, nil)
	for _, one := range append(modules, mandatory...) {
		if one.entry.Name != name {
			continue
		}
		at := slices.IndexFunc(verdicts, func(v Verdict) bool {
			return v.Module == name && (v.Manifest != nil || v.Origin.Spec || v.Origin.Release)
		})
		return expectation{verdicts[at].Kind, one.entry.State, one.reason, one.entry.Version, one.entry.Message}
	}
	return expectation{}
}

// writes returns the modules whose Manifests a pass applies, and those whose Manifests it deletes.
func writes(w Snapshot) (applied, deleted []string) {
	plan := MakePlan(w, Resolve(w))
	for _, manifest := range plan.Apply {
		applied = append(applied, manifest.Labels[v1beta2.LabelModuleName]+" "+manifest.Spec.Version)
	}
	for i := range plan.Delete {
		deleted = append(deleted, plan.Delete[i].Labels[v1beta2.LabelModuleName])
	}
	return applied, deleted
}
