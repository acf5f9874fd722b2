package modulestatus

import (
	"cmp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

// ownerKeys are the annotations with the owner of an object: a Manifest or a direct installation.
var ownerKeys = []string{v1beta2.AnnotationOwnedBy, v1beta2.OperatorPrefix + "owned-by"}

// TraceStep is one object or module to which the previous step belongs.
type TraceStep struct {
	Kind      string `json:"kind"`
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
	State     State  `json:"state,omitempty"`
	// Text has details, such as the version, or how the step was found.
	Text string `json:"text,omitempty"`
}

// TraceQuery is the object of a Trace. Kind may have any spelling that users write: "Deployment", "deployments", "deployment.apps".
type TraceQuery struct {
	Kind, Namespace, Name string
	// Object is the object itself if it was read; its owner mark counts if no inventory has it.
	Object *unstructured.Unstructured
}

// Trace returns the owners of an object: the record that lists it (a Manifest, or that of a direct installation), the module, the template
// and release of its version, and the Kyma. It begins with the object, and is empty when nothing here owns the object. Several traces mean
// objects of one name in several runtimes.
func Trace(in Inputs, asked TraceQuery) [][]TraceStep {
	r := newReader(in)
	var traces [][]TraceStep
	for _, m := range r.modules() {
		for _, entry := range r.inventory(&m) {
			if asked.is(entry.ID) {
				traces = append(traces, r.steps(&m, TraceStep{
					Kind: entry.Kind, Namespace: entry.Namespace, Name: entry.Name, State: r.objectNode(entry, &m).State,
					Text: "in the inventory",
				}))
			}
		}
		res := m.Resource
		if res == nil || m.Module.State == NotConfigured {
			continue
		}
		if asked.is(inventory.ID{Group: groupOf(res.APIVersion), Kind: res.Kind, Namespace: res.Namespace, Name: res.Name}) {
			traces = append(traces, r.steps(&m, TraceStep{
				Kind: res.Kind, Namespace: res.Namespace, Name: res.Name, State: m.Module.State, Text: "custom resource of the module",
			}))
		}
	}
	if len(traces) == 0 && asked.Object != nil {
		traces = r.byMark(asked)
	}
	return traces
}

// byMark traces an object by its annotations.
func (r *reader) byMark(asked TraceQuery) [][]TraceStep {
	for _, key := range ownerKeys {
		owner := asked.Object.GetAnnotations()[key]
		if owner == "" {
			continue
		}
		first := TraceStep{
			Kind: asked.Object.GetKind(), Namespace: asked.Object.GetNamespace(), Name: asked.Object.GetName(), Text: "marked as " + owner + "'s",
		}
		for _, m := range r.modules() {
			named := m.Manifest != nil && m.Manifest.String() == owner ||
				m.Record != nil && (Key{m.Record.Namespace, strings.TrimPrefix(m.Record.Name, "manifest.")}).String() == owner
			if named {
				return [][]TraceStep{r.steps(&m, first)}
			}
		}
		namespace, name, _ := strings.Cut(owner, "/")
		away := TraceStep{Kind: kindManifest, Namespace: namespace, Name: name, Text: "not in this cluster: it is on the hub, or gone"}
		return [][]TraceStep{{first, away}}
	}
	return nil
}

// steps returns the steps from an object to the Kyma.
func (r *reader) steps(m *Module, first TraceStep) []TraceStep {
	steps := []TraceStep{first}
	add := func(kind string, key *Key, state State, text string) {
		if key != nil {
			steps = append(steps, TraceStep{Kind: kind, Namespace: key.Namespace, Name: key.Name, State: state, Text: text})
		}
	}
	add("Secret", m.Record, "", "record of a direct installation")
	if manifest := r.manifestAt(m.Manifest); manifest != nil {
		add(kindManifest, m.Manifest, State(manifest.Status.State), sourceText(manifest))
	}
	text := string(m.Type)
	if version := cmp.Or(m.Version.Installed, m.Version.Desired); version != "" {
		text = "version " + version + ", " + text
	}
	add(KindModule, &Key{Name: m.Name}, m.State, text)
	add(kindTemplate, m.Template, "", "")
	namespace, name, _ := strings.Cut(m.Kyma, "/")
	if release := r.release(namespace, m.Name); release != nil && m.Channel != "" {
		offered := cmp.Or(channelVersion(release, m.Channel), "nothing")
		add(kindRelease, &Key{release.Namespace, release.Name}, "", "channel "+m.Channel+" offers "+offered)
	}
	for i := range r.Kymas {
		if r.Kymas[i].Namespace == namespace && r.Kymas[i].Name == name {
			add(kindKyma, &Key{namespace, name}, lineOf(&r.Kymas[i]).State, "")
		}
	}
	return steps
}

// sourceText returns the component that a Manifest installs.
func sourceText(manifest *v1beta2.Manifest) string {
	component := manifest.Annotations[v1beta2.AnnotationOCMComponentName]
	if component == "" {
		return ""
	}
	return "component " + component + ":" + manifest.Spec.Version
}

func groupOf(apiVersion string) string {
	group, _, found := strings.Cut(apiVersion, "/")
	if !found {
		return ""
	}
	return group
}

// is reports whether an object is the requested one. Without a namespace, an object in any namespace matches.
func (a TraceQuery) is(id inventory.ID) bool {
	kind, group, _ := strings.Cut(strings.ToLower(a.Kind), ".")
	if a.Name != id.Name || a.Namespace != "" && id.Namespace != "" && a.Namespace != id.Namespace {
		return false
	}
	if group != "" && !strings.EqualFold(group, id.Group) {
		return false
	}
	have := strings.ToLower(id.Kind)
	return kind == have || slices.Contains(pluralsOf(have), kind)
}

// pluralsOf returns the possible English plurals of a kind.
func pluralsOf(kind string) []string {
	return []string{kind + "s", kind + "es", strings.TrimSuffix(kind, "y") + "ies"}
}
