package moduleconfig

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/kyma-project/lifecycle-manager/pkg/requirements"
)

// requirementFields are the keys of a requirement.
var requirementFields = []string{"module", "version", "definition", "served", "kubernetes"}

// annotationRequires is the annotation of a ModuleTemplate with the same list, as JSON.
const annotationRequires = "operator.kyma-project.io/requires"

// requires reads a list of requirements. Versions may be written as numbers: they are read as they are written.
func (r *reader) requires(into *[]requirements.Requirement) handler {
	return r.each(func(node *yaml.Node, field string) {
		found := requirements.Requirement{}
		r.object(node, field, map[string]handler{
			"module": r.text(&found.Module), "version": r.text(&found.Version), "definition": r.text(&found.Definition),
			"served": r.text(&found.Served), "kubernetes": r.text(&found.Kubernetes),
		})
		if node.Kind == yaml.MappingNode {
			r.requirement(node, field, found)
		}
		*into = append(*into, found)
	})
}

// requirement judges one requirement by the rules of the API. Each fault is reported at the field that it begins with.
func (r *reader) requirement(node *yaml.Node, field string, found requirements.Requirement) {
	for _, fault := range requirements.Validate([]requirements.Requirement{found}) {
		_, message, _ := strings.Cut(fault.Error(), ": ") // the position is that of the finding
		at, fix := field, "name a module, a definition or a range of Kubernetes versions"
		if key, _, _ := strings.Cut(message, " "); slices.Contains(requirementFields, key) {
			at, fix = field+"."+key, "correct it, or remove it"
		}
		r.failIn(node, RuleRequires, at, message, fix)
	}
}

// checkRequires judges the list as a whole.
func (r *reader) checkRequires(c *Config) {
	if len(c.Requires) > requirements.MaxCount {
		r.failAt(c, RuleRequires, "requires", fmt.Sprintf("has %d entries, more than %d", len(c.Requires), requirements.MaxCount),
			"leave out what another one requires in turn")
	}
	if err := checkAnnotation(c.Annotations[annotationRequires]); err != nil {
		r.failAt(c, RuleRequires, join("annotations", annotationRequires), err.Error(), "write the list into requires instead")
	}
	for i, one := range c.Requires {
		field := fmt.Sprintf("requires[%d]", i)
		if one.Module != "" && one.Module == c.ModuleName() {
			r.failAt(c, RuleRequires, field+".module", quoted(one.Module)+" is the module itself: it could never be installed", "remove it")
		}
		if before := slices.Index(c.Requires[:i], one); before >= 0 && one != (requirements.Requirement{}) {
			line, _ := c.Position(fmt.Sprintf("requires[%d]", before))
			r.failAt(c, RuleRequires, field, fmt.Sprintf("is the same as in line %d", line), "keep one of them")
		}
	}
}

// checkAnnotation returns what is wrong with a list that the author wrote as an annotation.
func checkAnnotation(text string) error {
	list, err := requirements.ParseList(text)
	if err != nil {
		return err
	}
	return errors.Join(requirements.Validate(list)...)
}
