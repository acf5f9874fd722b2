package health

import (
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/google/cel-go/cel"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/apiserver/pkg/cel/environment"

	"github.com/kyma-project/lifecycle-manager/pkg/conditions"
)

const (
	// maxExpression bounds an expression of a probe, in bytes.
	maxExpression = 4096
	// self is the variable that holds the object.
	self = "self"
)

// Probe is a compiled condition on an object. Several goroutines may use it at once.
type Probe struct {
	expression string
	program    cel.Program
}

// environ is the language of a probe: the CEL environment of rules in definitions, with the object as self. It is created once, which takes
// some milliseconds.
var environ = sync.OnceValues(func() (*cel.Env, error) {
	set, err := environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion()).Extend(environment.VersionedOptions{
		IntroducedVersion: version.MajorMinor(1, 0),
		EnvOptions:        []cel.EnvOption{cel.Variable(self, cel.DynType)},
	})
	if err != nil {
		return nil, fmt.Errorf("the language of probes cannot be set up: %w", err)
	}
	return set.Env(environment.NewExpressions)
})

// CompileProbe compiles a CEL expression about the variable self, the whole object in its JSON form, such as
//
//	self.status.observedGeneration == self.metadata.generation && self.status.phase in ["Running", "Idle"]
//
// The expression has the functions that rules in CustomResourceDefinitions have (strings, lists, quantities, URLs, ...), and its result
// must be true or false. Its cost is limited at evaluation, as the API server limits a rule. It has no access to the current time.
func CompileProbe(expression string) (probe *Probe, err error) {
	switch {
	case strings.TrimSpace(expression) == "":
		return nil, errors.New("the expression of a probe is empty; write a CEL expression about self that is true or false")
	case len(expression) > maxExpression:
		return nil, fmt.Errorf("the expression of a probe has %d bytes, more than %d; split it into several probes",
			len(expression), maxExpression)
	}
	env, err := environ()
	if err != nil {
		return nil, err
	}
	ast, issues := env.Compile(expression)
	if found := issues.Errors(); len(found) > 0 {
		return nil, fmt.Errorf("the expression of a probe is not valid CEL about self: %s (line %d, column %d)",
			conditions.Cut(found[0].Message), found[0].Location.Line(), found[0].Location.Column()+1)
	}
	if result := ast.OutputType(); !result.IsExactType(cel.BoolType) && !result.IsExactType(cel.DynType) {
		return nil, fmt.Errorf("the expression of a probe gives %s; compare it with something, so that it is true or false", result)
	}
	program, err := env.Program(ast)
	if err != nil {
		return nil, fmt.Errorf("the expression of a probe cannot be run: %s", conditions.Cut(err.Error()))
	}
	return &Probe{strings.TrimSpace(expression), program}, nil
}

// Check reports whether the expression is true for an object and, when it is not, why. An expression that cannot be evaluated is not yet
// true: a missing field may still appear. The message quotes the expression but never a value of the object.
func (p *Probe) Check(u *unstructured.Unstructured) (ok bool, message string) {
	if u == nil {
		return false, "there is no object"
	}
	result, _, err := p.program.Eval(map[string]any{self: u.Object})
	if err != nil {
		return false, conditions.Cut(fmt.Sprintf("%s: %s", p.obstacle(err), p.expression))
	}
	switch verdict := result.Value().(type) {
	case bool:
		if verdict {
			return true, ""
		}
		return false, conditions.Cut("is not true yet: " + p.expression)
	default:
		return false, conditions.Cut("is neither true nor false, compare it with something: " + p.expression)
	}
}

// obstacle describes the error of an evaluation. The error's own text may repeat values of the object, which may be a Secret, so only the
// name of a field is taken from it, and only when the expression contains that name too.
func (p *Probe) obstacle(err error) string {
	text := err.Error()
	switch {
	case strings.Contains(text, "no such key: "):
		_, key, _ := strings.Cut(text, "no such key: ")
		if key != "" && strings.Contains(p.expression, key) {
			return fmt.Sprintf("cannot be answered yet, there is no field %q", key)
		}
		return "cannot be answered yet, a field is missing"
	case strings.Contains(text, "index out of bounds"):
		return "cannot be answered yet, a list is too short"
	case strings.Contains(text, "cost limit exceeded"):
		return "is too costly for this object, make it simpler"
	case strings.Contains(text, "no such overload"):
		return "does not fit the types that the fields have"
	}
	return "cannot be answered for this object"
}
