package modulestatus

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

// leftBehind returns a module that is in no Kyma, has no record and no operator, but whose default custom resource exists: the branch of
// the third flowchart of the seed on which an orphan would remain forever.
//
//  1. A resource of another module does not count.
//  2. A resource that is being deleted makes the module Deleting, blocked by the finalizers that wait for the missing operator.
//  3. Any other resource makes it Failed, since no operator handles the resource; or unmanaged, if it is unknown whether there is one.
func (r *reader) leftBehind(name string, templates []*v1beta2.ModuleTemplate, others []Module) (m Module, found bool) {
	for _, template := range templates {
		named := refOf(template.Spec.Data)
		object := r.existing(named)
		if object == nil || slices.ContainsFunc(others, func(o Module) bool { return o.Resource != nil && o.Resource.is(*named) }) {
			continue
		}
		m = Module{
			Name: name, Type: r.typeOf(name, Community), Template: &Key{template.Namespace, template.Name},
			Beta: template.Labels[v1beta2.LabelBeta] == v1beta2.EnabledValue, Installation: r.withoutOperator(template, object),
		}
		m.Version.Available = r.newest(r.offered(name, Choice{}), "")
		m.Module, m.Resource = r.read(resourcesOf(template, nil))
		return m, true
	}
	return Module{}, false
}

// existing returns the object that a reference points to, nil when it was not read.
func (r *reader) existing(ref *Ref) *unstructured.Unstructured {
	if ref == nil {
		return nil
	}
	for _, o := range r.Objects {
		if at := refOf(o); at != nil && at.is(*ref) {
			return o
		}
	}
	return nil
}

// withoutOperator returns the state of a module of which only the default custom resource exists.
func (r *reader) withoutOperator(template *v1beta2.ModuleTemplate, object *unstructured.Unstructured) Installation {
	name := refOf(object).String()
	_, known := r.manager(template.Spec.Manager)
	gone := "there is no operator"
	if m := template.Spec.Manager; m != nil {
		gone = Ref{Kind: m.Kind, Namespace: m.Namespace, Name: m.Name}.String() + " does not exist"
	}
	switch {
	case object.GetDeletionTimestamp() != nil:
		is := Installation{State: Removing, Reason: v1beta2.ReasonModuleDeleting, Message: name + " is being deleted"}
		if finalizers := object.GetFinalizers(); len(finalizers) > 0 && known {
			is.Reason = WhyManagerMissing
			is.Message = fmt.Sprintf("%s waits for its finalizers %v, and %s: install the module again, or take them off", name, finalizers, gone)
			is.BlockedBy, is.Warning = []string{is.Message}, true
		}
		return is
	case known:
		return Installation{
			State: Failed, Reason: WhyManagerMissing,
			Message: fmt.Sprintf("%s exists, and %s: install the module again, or delete the resource", name, gone),
		}
	}
	return Installation{State: LetGo, Reason: WhyByHand, Message: "it was installed with other tools and is not managed"}
}
