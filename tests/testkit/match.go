package testkit

import (
	"fmt"
	"slices"
	"strings"

	"github.com/onsi/gomega"
	"github.com/onsi/gomega/gcustom"
	"github.com/onsi/gomega/types"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/pkg/conditions"
)

// HaveState matches a Kyma or Manifest whose status is in that state and is for the current spec, or a module of a Kyma's status.
func HaveState(state v1beta2.State) types.GomegaMatcher {
	return expect(fmt.Sprintf("state %s", state), func(s subject) bool { return s.current() && s.state == state })
}

// HaveVersion matches a module of a Kyma's status, or a Manifest, of that version.
func HaveVersion(version string) types.GomegaMatcher {
	return expect("version "+version, func(s subject) bool { return s.version == version })
}

// HaveCondition matches a Kyma or Manifest with such a condition whose status is for the current spec. An empty reason matches any.
func HaveCondition(kind string, status metav1.ConditionStatus, reason string) types.GomegaMatcher {
	return expect(fmt.Sprintf("condition %s=%s (%s)", kind, status, reason), func(s subject) bool {
		cond := conditions.Find(s.conditions, kind)
		return s.current() && cond != nil && cond.Status == status && (reason == "" || cond.Reason == reason)
	})
}

// HaveModule matches a Kyma whose status is for the current spec and has that module, which satisfies all matchers.
func HaveModule(name string, matchers ...types.GomegaMatcher) types.GomegaMatcher {
	all := gomega.And(matchers...)
	return expectError(fmt.Sprintf("module %s", name), func(s subject) (bool, error) {
		for _, module := range s.modules {
			if module.Name == name && s.current() {
				return all.Match(module)
			}
		}
		return false, nil
	})
}

// HaveNoModule matches a Kyma whose status is for the current spec and does not have that module.
func HaveNoModule(name string) types.GomegaMatcher {
	return expect("no module "+name, func(s subject) bool {
		for _, module := range s.modules {
			if module.Name == name {
				return false
			}
		}
		return s.current()
	})
}

// subject is the part of an object that the matchers use.
type subject struct {
	revision             uint64 // set by Watch only
	generation, observed int64
	state                v1beta2.State
	version              string
	conditions           []metav1.Condition
	modules              []v1beta2.ModuleStatus
	kyma                 *v1beta2.Kyma     // nil for anything else
	manifest             *v1beta2.Manifest // nil for anything else
	planned              []string          // objects of a Manifest that are not applied
	deleted              bool
}

// says reports whether a status was written since, and not only the spec or the labels.
func (s subject) says(before subject) bool {
	return s.state != before.state || s.observed != before.observed || !equality.Semantic.DeepEqual(s.conditions, before.conditions) ||
		!equality.Semantic.DeepEqual(s.modules, before.modules) || !slices.Equal(s.planned, before.planned)
}

// current reports whether the status is for the current spec.
func (s subject) current() bool { return s.observed == s.generation }

func subjectOf(actual any) (subject, error) {
	switch object := actual.(type) {
	case *v1beta2.Kyma:
		status := object.Status
		return subject{generation: object.Generation, observed: status.ObservedGeneration, state: status.State,
			conditions: status.Conditions, modules: status.Modules, kyma: object, deleted: object.DeletionTimestamp != nil}, nil
	case *v1beta2.Manifest:
		status := object.Status
		return subject{generation: object.Generation, observed: status.ObservedGeneration, state: status.State,
			conditions: status.Conditions, version: object.Spec.Version, planned: plannedOf(object),
			manifest: object, deleted: object.DeletionTimestamp != nil}, nil
	case v1beta2.ModuleStatus:
		return subject{state: object.State, version: object.Version}, nil
	}
	return subject{}, fmt.Errorf("a *Kyma, a *Manifest or a ModuleStatus is expected, not %T", actual)
}

// plannedOf returns the objects in a Manifest's inventory that are not applied, or not gone yet.
func plannedOf(manifest *v1beta2.Manifest) []string {
	var planned []string
	for i := range manifest.Status.Synced {
		if object := &manifest.Status.Synced[i]; object.Hash == "" {
			planned = append(planned, object.Kind+" "+object.Namespace+"/"+object.Name)
		}
	}
	return planned
}

// String returns the details that explain why a matcher failed.
func (s subject) String() string {
	var out strings.Builder
	fmt.Fprintf(&out, "state %q, observed generation %d of %d", s.state, s.observed, s.generation)
	for _, cond := range s.conditions {
		fmt.Fprintf(&out, "\n  condition %s=%s (%s): %s", cond.Type, cond.Status, cond.Reason, cond.Message)
	}
	for _, module := range s.modules {
		fmt.Fprintf(&out, "\n  module %s %s %s: %s", module.Name, module.Version, module.State, module.Message)
	}
	return out.String()
}

func expect(what string, holds func(subject) bool) types.GomegaMatcher {
	return expectError(what, func(s subject) (bool, error) { return holds(s), nil })
}

func expectError(what string, holds func(subject) (bool, error)) types.GomegaMatcher {
	var last subject
	matcher := gcustom.MakeMatcher(func(actual any) (bool, error) {
		var err error
		if last, err = subjectOf(actual); err != nil {
			return false, err
		}
		return holds(last)
	})
	return described{GomegaMatcher: matcher, what: what, last: &last}
}

// described makes failure messages state the expected and the actual values, instead of a dump of the object.
type described struct {
	types.GomegaMatcher
	what string
	last *subject
}

// FailureMessage implements Gomega's interface.
func (d described) FailureMessage(any) string {
	return fmt.Sprintf("expected %s, but there is %s", d.what, d.last)
}

// NegatedFailureMessage implements Gomega's interface.
func (d described) NegatedFailureMessage(any) string {
	return fmt.Sprintf("expected anything but %s, but there is %s", d.what, d.last)
}
