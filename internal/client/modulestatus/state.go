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
	// WhyNoKind: the module has none of its own.
	WhyNoKind = "NoKind"
	// WhyNoState: the resource reports no state.
	WhyNoState = "NoState"
	// WhyTemplateGone: the template is gone, which would say what the resource is.
	WhyTemplateGone = "TemplateGone"
)

// severity orders states from good to bad.
var severity = map[State]int{Ready: 0, Unmanaged: 1, NotConfigured: 1, Processing: 2, Deleting: 3, Unknown: 4, Warning: 5, Error: 6}

// Worse returns the worse of two states, the first when they are equal.
func Worse(a, b State) State {
	if severity[b] > severity[a] {
		return b
	}
	return a
}

// WorstOf returns the worst of some modules, Ready when there is none.
func WorstOf(modules []Module) State {
	state := Ready
	for i := range modules {
		state = Worse(state, modules[i].State)
	}
	return state
}

// whole returns a module in one word: the worst of its installation and of its custom resources, where these tell anything.
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

// resources says what a module's own custom resources are.
type resources struct {
	// default is the default one; nil when there is none, and unclear when nothing tells.
	named   *Ref
	unclear bool
	checks  []v1beta2.CustomStateCheck
}

// resourcesOf a template or a Manifest.
func resourcesOf(template *v1beta2.ModuleTemplate, manifest *v1beta2.Manifest) resources {
	switch {
	case manifest != nil && manifest.Spec.Resource != nil:
		return resources{named: refOf(manifest.Spec.Resource), checks: manifest.Spec.CustomStateCheck}
	case template != nil && template.Spec.Data != nil:
		return resources{named: refOf(template.Spec.Data), checks: template.Spec.CustomStateCheck}
	}
	return resources{unclear: template == nil && manifest == nil}
}

// refOf points to an object; nil where it has no kind.
func refOf(o *unstructured.Unstructured) *Ref {
	if o == nil || o.GetKind() == "" {
		return nil
	}
	return &Ref{APIVersion: o.GetAPIVersion(), Kind: o.GetKind(), Namespace: o.GetNamespace(), Name: o.GetName()}
}

// is reports whether two references point to one object, of whatever version of its kind. One without a namespace is in that of modules.
func (r Ref) is(other Ref) bool {
	kind := schema.FromAPIVersionAndKind(r.APIVersion, r.Kind).GroupKind()
	return kind == schema.FromAPIVersionAndKind(other.APIVersion, other.Kind).GroupKind() && r.Name == other.Name &&
		(r.Namespace == other.Namespace || other.Namespace == "" && r.Namespace == v1beta2.RuntimeNamespace)
}

// read returns how custom resources in this very cluster stand, and the worst of them.
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
		return Condition{Unknown, WhyNotObserved, fmt.Sprintf("no %s was looked for", kind)}, of.named
	}
	worst, ref := Condition{State: NotConfigured, Reason: WhyNoResource, Message: fmt.Sprintf("there is no %s", kind)}, of.named
	for i, o := range r.objectsOf(kind) {
		is, at := stateOf(o, of.checks), refOf(o)
		same := is.State == worst.State && at.is(*of.named) // the default one speaks for all where none is worse
		if i == 0 || same || severity[is.State] > severity[worst.State] {
			worst, ref = is, at
		}
	}
	return worst, ref
}

// stateOf returns how one custom resource stands.
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

// known returns a condition with one of our words; one that we do not know is Processing and is repeated.
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

// remoteCondition returns how custom resources in another cluster stand, as the hub tells.
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
