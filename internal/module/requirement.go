package module

import (
	"encoding/json"
	"fmt"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/pkg/requirements"
)

// requirementState is what rule 14a knows while Resolve runs.
type requirementState struct {
	// gates are the versions that reached rule 14a and that modules do not have yet.
	gates map[targetKey]requirementCheck
	// holds are the decisions about them, once all are known.
	holds map[targetKey]obstacle
	// later is what versions require whose wave has not begun.
	later []requirements.Requirement
}

// requirementCheck is a version that a module is about to get, with all that it requires.
type requirementCheck struct {
	target   target
	requires []requirements.Requirement
}

// obstacle is why a version must not be installed now.
type obstacle struct {
	rule    rule
	message string
	// nothing is the rule where nothing is installed that could be kept; that of a refusal is the same.
	nothing rule
	// silent keeps it out of the status: it is over in a moment.
	silent bool
}

// Requires returns what a template's version requires, by its spec and its annotation, each requirement once. The component version may
// require more. The error says in one sentence what is wrong with a requirement; the others are returned nevertheless.
func Requires(template *v1beta2.ModuleTemplate) ([]requirements.Requirement, error) {
	text := template.Annotations[v1beta2.AnnotationRequires]
	if len(template.Spec.Requires) == 0 && text == "" {
		return nil, nil
	}
	spec := make([]requirements.Requirement, 0, len(template.Spec.Requires))
	for _, one := range template.Spec.Requires {
		spec = append(spec, requirements.Requirement(one))
	}
	noted, err := requirements.ParseList(text)
	if err != nil {
		err = fmt.Errorf("annotation %s: %w", v1beta2.AnnotationRequires, err)
	}
	var all []requirements.Requirement
	for _, one := range requirements.Union(spec, noted) {
		if faults := requirements.Validate([]requirements.Requirement{one}); len(faults) == 0 {
			all = append(all, one)
		} else if err == nil {
			err = faults[0]
		}
	}
	return all, err
}

// requiresOf returns what a version requires, by its template and its component. What is invalid is left out.
func requiresOf(template *v1beta2.ModuleTemplate, component Component) []requirements.Requirement {
	own, _ := Requires(template) // rule 14a refuses what is invalid
	if len(own)+len(component.Requires) == 0 {
		return nil
	}
	return requirements.Union(own, component.Requires)
}

// noted returns what the version requires that a Manifest asks for, as it was written when the Manifest was: by FormatList, and from three
// lists, so that it may be longer than what ParseList accepts of one.
func noted(manifest *v1beta2.Manifest) []requirements.Requirement {
	var list []requirements.Requirement
	if err := json.Unmarshal([]byte(manifest.Annotations[v1beta2.AnnotationRequires]), &list); err != nil {
		return nil // none, or edited by hand; the next write of the Manifest puts it back
	}
	return list
}

// unmet implements rule 14a: it holds back a version that needs what is not there, or that would break another module, and reports whether
// it did. That depends on what becomes of the other modules: at first it lets the version pass, and require decides once the verdicts of
// all modules are known.
func (r *resolver) unmet(v *Verdict, found target, component Component) bool {
	key := targetKey{v.Module, v.Mandatory}
	if because, held := r.needs.holds[key]; held {
		r.hold(v, because)
		return true
	}
	if v.Version == found.Version || r.begun(v.Manifest, found) {
		return false // it has begun; what it needs was there, and it is not taken down when that goes
	}
	if _, err := Requires(found.Template); err != nil {
		r.refused(v, refuse(ruleRequirementInvalid, "template", found.Template.Name, "detail", err.Error()))
		return true
	}
	r.needs.gates[key] = requirementCheck{target: found, requires: requiresOf(found.Template, component)}
	return false
}

// hold keeps what is installed in place of a version that is held back.
func (r *resolver) hold(v *Verdict, because obstacle) {
	if rules[because.rule].State != "" {
		r.refused(v, &refusal{because.rule, because.message})
		return
	}
	r.enforce(v)
	if v.Manifest == nil && v.Template == nil {
		v.is(Waiting, because.nothing, because.message)
		return
	}
	v.is(Waiting, because.rule, because.message)
	v.Silent = because.silent
}
