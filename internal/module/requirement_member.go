package module

import (
	"strings"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/pkg/requirements"
)

// member is a module of the Kyma as a part of the graph of requirements.
type member struct {
	v *Verdict
	// gate is the version that the module is about to get; nil when it is not about to get another one.
	gate *requirementCheck
	// has is the version that its Manifest asks for, empty when there is none; ready reports whether that is up.
	has   string
	ready bool
	// runs is what the installed version requires. arrives is what the version before it requires, while that one is being replaced.
	runs, arrives []requirements.Requirement
	// leaves reports whether it is being removed.
	leaves bool
	// moves reports whether the version of its gate is installed in this pass unless rule 14a holds it: no later rule does.
	moves bool
	// circle is a way from the module back to itself through what the modules are about to require.
	circle []string
	// missing is what the version of its gate requires and is not there now.
	missing []requirements.Missing
	// moved reports whether it gets the version of its gate in this pass.
	moved bool
}

// newMember collects what counts of a module.
func (r *resolver) newMember(v *Verdict) *member {
	m := &member{v: v, leaves: v.Kind == Removed || terminating(v.Manifest)}
	if gate, found := r.needs.gates[targetKey{v.Module, v.Mandatory}]; found {
		m.gate = &gate
		m.moves = v.Kind == Run && !r.held(v).full()
	}
	if v.Manifest == nil {
		return m
	}
	m.has, m.ready = v.Manifest.Spec.Version, r.standsReady(v)
	switch {
	case v.Kind == Unmanaged || leaving(v.Manifest):
	case m.gate == nil && v.Template != nil:
		m.runs = v.Requires
	default:
		m.runs = r.requiredBy(v, v.Manifest)
	}
	m.arrives = r.requiredBefore(v)
	return m
}

// requiredBy returns what the version requires that a Manifest asks for: as it was noted when the Manifest was written, or else, for one of
// an earlier release of this operator, as its template says.
func (r *resolver) requiredBy(v *Verdict, manifest *v1beta2.Manifest) []requirements.Requirement {
	if list := noted(manifest); list != nil {
		return list
	}
	return r.requiredAt(v, manifest.Spec.Version)
}

// requiredAt returns what a version requires, as far as that is known without reading anything.
func (r *resolver) requiredAt(v *Verdict, version string) []requirements.Requirement {
	template, refused := templateAt(r.Snapshot, v.Module, version)
	if refused != nil {
		return nil
	}
	return requiresOf(template, r.Components[ComponentKey{Name: v.ComponentName, Version: version}])
}

// requiredBefore returns what the version requires that was last brought up completely, while another one is being brought up.
func (r *resolver) requiredBefore(v *Verdict) []requirements.Requirement {
	before := v.Manifest.Status.InstalledVersion
	if before == "" || before == v.Manifest.Spec.Version || terminating(v.Manifest) {
		return nil
	}
	return r.requiredAt(v, before)
}

// stays reports whether the module is there and managed after this pass, and remains whether it is at last: it may be removed only to be
// installed again.
func (m *member) stays() bool { return !m.leaves && m.v.Kind != Unmanaged }

func (m *member) remains() bool { return m.v.Kind != Removed && m.v.Kind != Unmanaged }

// next returns the version that the module is about to get, empty when it is about to get none.
func (m *member) next() string {
	if m.gate == nil {
		return ""
	}
	return m.gate.target.Version
}

// requires reports whether what is installed, or what is about to be, requires a module.
func (m *member) requires(module string) bool {
	return len(requirements.On(m.runs, module)) > 0 || m.gate != nil && len(requirements.On(m.gate.requires, module)) > 0
}

// target returns what the module will require: the version that it is about to get, or else the one that is installed.
func (m *member) target() []requirements.Requirement {
	if m.gate != nil {
		return m.gate.requires
	}
	return m.runs
}

// becomes returns the version that the module's Manifest asks for after this pass. While nothing was ever installed, that is the version
// that is about to be, so that what others report of it stays the same until it is ready.
func (m *member) becomes() string {
	switch {
	case m.moved, m.has == "" && m.gate != nil:
		return m.next()
	case m.v.Back != "" && m.v.Template != nil:
		return m.v.Version
	}
	return m.has
}

// provides returns what the module counts for as a requirement of others.
func (m *member) provides() requirements.Module {
	switch {
	case m.v.Kind == Unmanaged && m.v.Version == "":
		return requirements.Module{Unknown: true, Detail: "it is not managed"}
	case m.v.Kind == Unmanaged:
		return requirements.Module{Version: m.v.Version, Ready: true}
	case m.leaves:
		return requirements.Module{Version: m.has, Detail: "it is being removed"}
	}
	version := m.becomes()
	return requirements.Module{Version: version, Ready: m.ready && version == m.has}
}

// breaks returns those requirements of a module that an upgrade of another one would break: the version that is installed meets them, and
// the next one does not.
func breaks(list []requirements.Requirement, x *member) []requirements.Requirement {
	var broken []requirements.Requirement
	for _, one := range requirements.On(list, x.v.Module) {
		alone := []requirements.Requirement{one}
		if requirements.Accepts(alone, x.v.Module, x.has) && !requirements.Accepts(alone, x.v.Module, x.next()) {
			broken = append(broken, one)
		}
	}
	return broken
}

// note adds a sentence to what the status says of a module that runs.
func (v *Verdict) note(text string) { v.Note = strings.TrimPrefix(v.Note+"; "+text, "; ") }
