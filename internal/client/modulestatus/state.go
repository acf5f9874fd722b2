package modulestatus

import (
	"cmp"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/pkg/health"
)

// Reasons of the state of a module's custom resources.
const (
	// WhyNoResource: there is no custom resource.
	WhyNoResource = "NoResource"
	// WhyNoKind: the module has no kind of its own.
	WhyNoKind = "NoKind"
	// WhyNoState: the resource reports no state.
	WhyNoState = "NoState"
	// WhyTemplateGone: the template that names the resource is gone.
	WhyTemplateGone = "TemplateGone"
)

// severity orders states from good to bad.
var severity = map[State]int{Ready: 0, Unmanaged: 1, NotConfigured: 1, Processing: 2, Deleting: 3, Unknown: 4, Warning: 5, Error: 6}

// Worse returns the worse of two states, or the first if they are equally bad.
func Worse(a, b State) State {
	if severity[b] > severity[a] {
		return b
	}
	return a
}

// WorstOf returns the worst state of some modules, Ready if there are none.
func WorstOf(modules []Module) State {
	state := Ready
	for i := range modules {
		state = Worse(state, modules[i].State)
	}
	return state
}

// whole returns the overall state of a module: the worst of its installation and of its custom resources, if their state is known.
func (m *Module) whole() State {
	state := Ready
	switch m.Installation.State {
	case NotInstalled:
		state = NotConfigured
	case Installing, Upgrading:
		state = Processing
	case Removing:
		state = Deleting
	case Failed:
		state = Error
	case LetGo:
		state = Unmanaged
	case Orphaned:
		state = Warning
	case Obscure:
		state = Unknown
	case Installed:
	}
	if m.Installation.Unready {
		state = Worse(state, Processing)
	}
	if m.Installation.Warning {
		state = Worse(state, Warning)
	}
	silent := m.Module.State == NotConfigured || m.Module.State == Unknown && m.Module.Reason == WhyNotObserved
	if silent {
		return state
	}
	return Worse(state, m.Module.State)
}

// resources describes a module's own custom resources.
type resources struct {
	// named is the default one; nil when there is none. unclear means that this is not known.
	named   *Ref
	unclear bool
	checks  []v1beta2.CustomStateCheck
}

// resourcesOf returns the resources of a template or a Manifest.
func resourcesOf(template *v1beta2.ModuleTemplate, manifest *v1beta2.Manifest) resources {
	switch {
	case manifest != nil && manifest.Spec.Resource != nil:
		return resources{named: refOf(manifest.Spec.Resource), checks: manifest.Spec.CustomStateCheck}
	case template != nil && template.Spec.Data != nil:
		return resources{named: refOf(template.Spec.Data), checks: template.Spec.CustomStateCheck}
	}
	return resources{unclear: template == nil && manifest == nil}
}

// refOf returns a reference to an object; nil if it has no kind.
func refOf(o *unstructured.Unstructured) *Ref {
	if o == nil || o.GetKind() == "" {
		return nil
	}
	return &Ref{APIVersion: o.GetAPIVersion(), Kind: o.GetKind(), Namespace: o.GetNamespace(), Name: o.GetName()}
}

// is reports whether two references point to the same object, in any version of its kind. A reference without a namespace means that of
// modules.
func (r Ref) is(other Ref) bool {
	kind := schema.FromAPIVersionAndKind(r.APIVersion, r.Kind).GroupKind()
	return kind == schema.FromAPIVersionAndKind(other.APIVersion, other.Kind).GroupKind() && r.Name == other.Name &&
		(r.Namespace == other.Namespace || other.Namespace == "" && r.Namespace == v1beta2.RuntimeNamespace)
}

// read returns the state of custom resources in this very cluster, and the worst of them.
func (r *reader) read(of resources) (Condition, *Ref) {
	if of.named == nil {
		if of.unclear {
			return Condition{Unknown, WhyTemplateGone, "its template is gone, and its custom resource is unknown"}, nil
		}
		return Condition{NotConfigured, WhyNoKind, "the module has no custom resource"}, nil
	}
	kind := schema.FromAPIVersionAndKind(of.named.APIVersion, of.named.Kind).GroupKind()
	if u := r.unread(kind, ""); u != nil {
		return Condition{Unknown, u.Reason(), u.Message()}, of.named
	}
	if !r.isListed(kind, "") {
		return Condition{Unknown, WhyNotObserved, fmt.Sprintf("%s objects were not listed", kind)}, of.named
	}
	worst, ref := Condition{State: NotConfigured, Reason: WhyNoResource, Message: fmt.Sprintf("there is no %s", kind)}, of.named
	for i, o := range r.objectsOf(kind) {
		is, at := stateOf(o, of.checks), refOf(o)
		same := is.State == worst.State && at.is(*of.named) // the default one is named unless another is worse
		if i == 0 || same || severity[is.State] > severity[worst.State] {
			worst, ref = is, at
		}
	}
	return worst, ref
}

// stateOf returns the state of one custom resource.
func stateOf(o *unstructured.Unstructured, checks []v1beta2.CustomStateCheck) Condition {
	state, message := health.ModuleState(o)
	if len(checks) > 0 {
		var found bool
		if state, found = health.MapState(o, stateChecks(checks)); !found {
			state, message = string(Processing), "no customStateCheck holds"
		}
	}
	name := refOf(o).String()
	switch {
	case state == "" && o.GetDeletionTimestamp() != nil:
		return Condition{Deleting, string(Deleting), name + " is being deleted"}
	case state == "":
		return Condition{Processing, WhyNoState, name + " reports no state yet"}
	}
	return known(state, name, message)
}

func stateChecks(checks []v1beta2.CustomStateCheck) []health.StateCheck {
	var made []health.StateCheck
	for _, check := range checks {
		made = append(made, health.StateCheck{JSONPath: check.JSONPath, Value: check.Value, State: string(check.MappedState)})
	}
	return made
}

// known returns a condition with one of the known states; an unknown one becomes Processing, with the word in the message.
func known(word, name, message string) Condition {
	state := State(word)
	switch state {
	case Ready, Processing, Deleting, Warning, Error:
	default:
		state = Processing
		message = cmp.Or(message, "it reports the state "+word)
	}
	if state == Ready {
		return Condition{State: Ready, Message: message}
	}
	return Condition{State: state, Reason: word, Message: name + ": " + cmp.Or(message, "it gives no reason")}
}

// remoteCondition returns the state of custom resources in another cluster, as the hub reports it.
func remoteCondition(of resources, policy v1beta2.CustomResourcePolicy, state v1beta2.State, message string) (Condition, *Ref) {
	switch {
	case of.named == nil && !of.unclear:
		return Condition{NotConfigured, WhyNoKind, "the module has no custom resource"}, nil
	case state != "":
		name := "its custom resource"
		if of.named != nil {
			name = of.named.String()
		}
		return known(string(state), name, message), of.named
	case policy == v1beta2.CustomResourcePolicyIgnore:
		return Condition{Unknown, WhyNotObserved, "its custom resources are the user's and in another cluster: look there"}, of.named
	}
	return Condition{Unknown, WhyNotObserved, "its custom resource is in another cluster, and reported no state yet"}, of.named
}

func ownKind(kind string) schema.GroupKind { return v1beta2.GroupVersion.WithKind(kind).GroupKind() }

func groupKind(group, kind string) schema.GroupKind {
	return schema.GroupKind{Group: group, Kind: kind}
}
