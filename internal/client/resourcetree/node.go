package resourcetree

import (
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kyma-project/lifecycle-manager/internal/client/modulestatus"
	"github.com/kyma-project/lifecycle-manager/internal/client/modulestatus/rootcause"
)

// Presence says whether an object is there, as far as that is known.
type Presence string

// The presences of an object.
const (
	// Present: it was read.
	Present Presence = "Present"
	// Planned: it is about to be applied.
	Planned Presence = "Planned"
	// Missing: it was looked for, and does not exist.
	Missing Presence = "Missing"
	// Unread: it may not or could not be read.
	Unread Presence = "Unread"
	// NotLooked: it was not looked at.
	NotLooked Presence = "NotLooked"
)

// Origin says why an object is in the tree.
type Origin string

// The origins of an object.
const (
	// Applied: the module installs it.
	Applied Origin = "Applied"
	// Resource: it is a custom resource of the module.
	Resource Origin = "Resource"
	// Owned: an object of the tree owns it.
	Owned Origin = "Owned"
)

// Root is an object that stands at the top of the tree.
type Root struct {
	modulestatus.Ref
	modulestatus.Condition

	Origin   Origin
	Presence Presence
	// Object is nil unless the object is Present.
	Object *unstructured.Unstructured
}

// Node is one object of the tree.
type Node struct {
	modulestatus.Ref

	// ID names the object within its cluster, in any version of its kind; Parent is the ID of the object above it, empty at the top.
	ID     string `json:"id"`
	Parent string `json:"parent,omitempty"`

	UID      types.UID `json:"uid,omitempty"`
	Origin   Origin    `json:"origin"`
	Presence Presence  `json:"presence"`
	// State is empty where it is not known. Worst is the worst state of the object and of everything below it.
	State   modulestatus.State `json:"state,omitempty"`
	Worst   modulestatus.State `json:"worst,omitempty"`
	Reason  string             `json:"reason,omitempty"`
	Message string             `json:"message,omitempty"`
	Remedy  string             `json:"remedy,omitempty"`
	Created *metav1.Time       `json:"created,omitempty"`
	// Deleting reports whether the object is being deleted.
	Deleting bool `json:"deleting,omitempty"`
}

// IDOf returns the ID of an object: "Deployment.apps/kyma-system/greeter", with an empty namespace for a cluster-scoped one.
func IDOf(ref modulestatus.Ref) string {
	kind := ref.Kind
	if group, _, has := strings.Cut(ref.APIVersion, "/"); has && group != "" {
		kind += "." + group
	}
	return kind + "/" + ref.Namespace + "/" + ref.Name
}

// RefOf returns a reference to an object.
func RefOf(o *unstructured.Unstructured) modulestatus.Ref {
	return modulestatus.Ref{APIVersion: o.GetAPIVersion(), Kind: o.GetKind(), Namespace: o.GetNamespace(), Name: o.GetName()}
}

// rootNode returns the node of a root.
func rootNode(r *Root, judged *rootcause.Judgment) Node {
	n := Node{
		Ref: r.Ref, ID: IDOf(r.Ref), Origin: r.Origin, Presence: r.Presence, State: r.State, Reason: r.Reason, Message: r.Message,
	}
	if r.Object != nil {
		n.describe(r.Object)
		n.judge(judged)
	}
	return n
}

// ownedNode returns the node of an object that was found below others.
func ownedNode(o *unstructured.Unstructured, judged *rootcause.Judgment) Node {
	is := modulestatus.ObjectState(o)
	ref := RefOf(o)
	n := Node{
		Ref: ref, ID: IDOf(ref), Origin: Owned, Presence: Present, State: is.State, Reason: is.Reason, Message: is.Message,
	}
	n.describe(o)
	n.judge(judged)
	return n
}

func (n *Node) describe(o *unstructured.Unstructured) {
	n.UID, n.Deleting, n.Created = o.GetUID(), o.GetDeletionTimestamp() != nil, CreatedOf(o)
}

// judge adds what is known about why an object does not work.
func (n *Node) judge(judged *rootcause.Judgment) {
	if judged == nil {
		return
	}
	state := modulestatus.Processing
	if judged.Severe {
		state = modulestatus.Error
	}
	n.State = modulestatus.Worse(n.State, state)
	n.Reason, n.Message, n.Remedy = judged.Reason, judged.Sentence, judged.Remedy
}
