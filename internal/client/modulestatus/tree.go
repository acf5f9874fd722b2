package modulestatus

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/pkg/health"
	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

// Node is one item of a tree: a Kyma, a module, or an object.
type Node struct {
	Kind       string `json:"kind"`
	APIVersion string `json:"apiVersion,omitempty"`
	Namespace  string `json:"namespace,omitempty"`
	Name       string `json:"name"`
	// State is empty for an object whose state is unknown.
	State    State  `json:"state,omitempty"`
	Reason   string `json:"reason,omitempty"`
	Message  string `json:"message,omitempty"`
	Version  string `json:"version,omitempty"`
	Children []Node `json:"children,omitempty"`
}

// KindModule is the kind of a module in a tree.
const KindModule = "Module"

// Reasons of the state of an object in a tree.
const (
	// WhyPlanned: it is about to be applied.
	WhyPlanned = "Planned"
	// WhyMissing: it does not exist.
	WhyMissing = "Missing"
)

// Tree returns the tree from Kymas over modules to objects. It has only the modules with these names; none means all.
func Tree(in Inputs, names ...string) []Node {
	r := newReader(in)
	under := map[string][]Node{}
	for _, m := range r.modules() {
		if len(names) == 0 || slices.Contains(names, m.Name) {
			under[m.Kyma] = append(under[m.Kyma], r.moduleNode(&m))
		}
	}
	var roots []Node
	for _, kyma := range Kymas(in) {
		key := Key{kyma.Namespace, kyma.Name}.String()
		if len(names) > 0 && len(under[key]) == 0 {
			continue
		}
		roots = append(roots, Node{
			Kind: kindKyma, APIVersion: v1beta2.GroupVersion.String(), Namespace: kyma.Namespace, Name: kyma.Name,
			State: kyma.State, Reason: kyma.Reason, Message: kyma.Message, Children: under[key],
		})
		delete(under, key)
	}
	for _, key := range slices.Sorted(maps.Keys(under)) {
		if key == "" {
			continue
		}
		namespace, name, _ := strings.Cut(key, "/")
		roots = append(roots, Node{
			Kind: kindKyma, APIVersion: v1beta2.GroupVersion.String(), Namespace: namespace, Name: name, State: Unknown,
			Reason: WhyKymaGone, Message: "it was not read", Children: under[key],
		})
	}
	return append(roots, under[""]...)
}

func (r *reader) moduleNode(m *Module) Node {
	node := Node{
		Kind: KindModule, Name: m.Name, State: m.State, Version: cmp.Or(m.Version.Installed, m.Version.Desired),
		Reason: cmp.Or(m.Installation.Reason, m.Module.Reason), Message: cmp.Or(m.Installation.Message, m.Module.Message),
	}
	if troubled := severity[m.Module.State] > severity[m.whole()] || m.Installation.Reason == ""; troubled {
		node.Reason, node.Message = m.Module.Reason, m.Module.Message
	}
	if m.Resource != nil && m.Module.State != NotConfigured {
		node.Children = append(node.Children, Node{
			Kind: m.Resource.Kind, APIVersion: m.Resource.APIVersion, Namespace: m.Resource.Namespace, Name: m.Resource.Name,
			State: m.Module.State, Reason: m.Module.Reason, Message: m.Module.Message,
		})
		node.Children = append(node.Children, r.siblings(m)...)
	}
	for _, object := range r.inventory(m) {
		at := Ref{schema.GroupVersion{Group: object.Group, Version: object.Version}.String(), object.Kind, object.Namespace, object.Name}
		if slices.ContainsFunc(node.Children, func(n Node) bool {
			return at.is(Ref{n.APIVersion, n.Kind, n.Namespace, n.Name})
		}) {
			continue
		}
		node.Children = append(node.Children, r.objectNode(object, m))
	}
	return node
}

// siblings returns the other custom resources of a module in this very cluster: users can create any number.
func (r *reader) siblings(m *Module) []Node {
	if r.away(m) {
		return nil
	}
	var checks []v1beta2.CustomStateCheck
	if m.Record != nil {
		checks = r.records[*m.Record].StateChecks
	} else if manifest := r.manifestAt(m.Manifest); manifest != nil {
		checks = manifest.Spec.CustomStateCheck
	} else if m.Template != nil && r.templates[*m.Template] != nil {
		checks = r.templates[*m.Template].Spec.CustomStateCheck
	}
	var nodes []Node
	for _, o := range r.objectsOf(schema.FromAPIVersionAndKind(m.Resource.APIVersion, m.Resource.Kind).GroupKind()) {
		if ref := refOf(o); !ref.is(*m.Resource) {
			is := stateOf(o, checks)
			nodes = append(nodes, Node{
				Kind: ref.Kind, APIVersion: ref.APIVersion, Namespace: ref.Namespace, Name: ref.Name,
				State: is.State, Reason: is.Reason, Message: is.Message,
			})
		}
	}
	return nodes
}

// inventory returns the objects that a module's Manifest or record lists as installed.
func (r *reader) inventory(m *Module) []inventory.Entry {
	if m.Record != nil {
		return r.records[*m.Record].Inventory
	}
	manifest := r.manifestAt(m.Manifest)
	if manifest == nil {
		return nil
	}
	return synced(manifest)
}

func (r *reader) manifestAt(key *Key) *v1beta2.Manifest {
	if key == nil {
		return nil
	}
	return r.named[*key]
}

// away reports whether a module is in a cluster other than the one that was read.
func (r *reader) away(m *Module) bool {
	if away, known := r.elsewhere[m.Kyma]; known {
		return away
	}
	manifest := r.manifestAt(m.Manifest)
	return manifest != nil && (manifest.Spec.Remote || m.Kyma != "")
}

// synced returns the inventory of a Manifest.
func synced(manifest *v1beta2.Manifest) []inventory.Entry {
	entries := make([]inventory.Entry, 0, len(manifest.Status.Synced))
	for _, s := range manifest.Status.Synced {
		entries = append(entries, inventory.Entry{
			ID:      inventory.ID{Group: s.Group, Kind: s.Kind, Namespace: s.Namespace, Name: s.Name},
			Version: s.Version, UID: s.UID, Hash: s.Hash,
		})
	}
	return entries
}

// objectNode returns one object of an inventory. Its state is known if the object was read; otherwise, for example in another cluster, only
// whether it was applied.
func (r *reader) objectNode(entry inventory.Entry, m *Module) Node {
	node := Node{
		Kind: entry.Kind, APIVersion: schema.GroupVersion{Group: entry.Group, Version: entry.Version}.String(),
		Namespace: entry.Namespace, Name: entry.Name,
	}
	if entry.Hash == "" && m.Installation.State != Removing {
		node.State, node.Reason, node.Message = Processing, WhyPlanned, "it is about to be applied"
		return node
	}
	if r.away(m) {
		return node
	}
	object := r.objects[objectKey{entry.Group, entry.Kind, entry.Namespace, entry.Name}]
	if object == nil {
		if r.isListed(groupKind(entry.Group, entry.Kind), entry.Namespace) {
			node.State, node.Reason, node.Message = Error, WhyMissing, "it does not exist"
		}
		return node
	}
	is := ObjectState(object)
	node.State, node.Reason, node.Message = is.State, is.Reason, is.Message
	return node
}

// ObjectState returns the state of an object that was read, as trees show it.
func ObjectState(object *unstructured.Unstructured) Condition {
	result := health.Of(object)
	switch result.Status {
	case health.Ready:
		return Condition{State: Ready}
	case health.InProgress:
		return Condition{Processing, string(result.Status), result.Message}
	case health.Terminating:
		return Condition{Deleting, string(result.Status), result.Message}
	default:
		return Condition{Error, string(result.Status), result.Message}
	}
}
