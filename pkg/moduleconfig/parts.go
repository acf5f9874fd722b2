package moduleconfig

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/kyma-project/lifecycle-manager/pkg/health"
)

const (
	stateReady = "Ready"
	stateError = "Error"
)

// states are the states of a module.
var states = []string{stateReady, "Processing", "Warning", stateError, "Deleting"}

// required notes the missing members of an object.
func (r *reader) required(node *yaml.Node, field string, members []member) {
	for _, m := range members {
		if m.value == "" {
			r.failIn(node, RuleRequired, field+"."+m.key, "is missing", "add it")
		}
	}
}

// kind judges group, version and kind.
func (r *reader) kind(node *yaml.Node, field string, k Kind) {
	r.required(node, field, []member{{"group", k.Group}, {"version", k.Version}, {"kind", k.Kind}})
	for _, m := range []struct {
		member
		valid bool
		fix   string
	}{
		{member{"group", k.Group}, len(validation.IsDNS1123Subdomain(k.Group)) == 0, "write the API group, such as operator.kyma-project.io"},
		{member{"version", k.Version}, len(validation.IsDNS1035Label(k.Version)) == 0, "write the version without its group, such as v1beta2"},
		{member{"kind", k.Kind}, kindPattern.MatchString(k.Kind), "write the kind in the singular, such as Deployment"},
	} {
		if m.value != "" && !m.valid {
			r.failIn(node, RuleKind, field+"."+m.key, quoted(m.value)+" is not a valid "+m.key, m.fix)
		}
	}
}

// stateCheck judges one check. Its value may be empty, but must be present.
func (r *reader) stateCheck(node *yaml.Node, field string, check StateCheck) {
	r.required(node, field, []member{{"jsonPath", check.JSONPath}, {"mappedState", check.MappedState}})
	if _, there := r.at[field+".value"]; !there {
		r.failIn(node, RuleRequired, field+".value", "is missing", "add it")
	}
	if check.JSONPath != "" {
		if err := (health.StateCheck{JSONPath: check.JSONPath}).Validate(); err != nil {
			r.failIn(node, RuleStateCheck, field+".jsonPath", err.Error(), "write the path of one field, such as status.phase")
		}
	}
	if check.MappedState != "" && !slices.Contains(states, check.MappedState) {
		r.failIn(node, RuleStateCheck, field+".mappedState", quoted(check.MappedState)+" is not a module state",
			"use one of "+strings.Join(states, ", "))
	}
}

// checkStates refuses checks by which a module can never become Ready, or never report an error.
func (r *reader) checkStates(c *Config) {
	if len(c.CustomStateCheck) == 0 {
		return
	}
	for _, state := range []string{stateReady, stateError} {
		if !slices.ContainsFunc(c.CustomStateCheck, func(check StateCheck) bool { return check.MappedState == state }) {
			r.failAt(c, RuleStateCheck, "customStateCheck", "has no check for the state "+state, "add one that maps a value to "+state)
		}
	}
}
