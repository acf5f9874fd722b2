package inventory

import (
	"cmp"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// ID identifies an object. The version is not part of it: the same object is served under every version of its kind, and a
// version bump must neither delete nor re-create it.
type ID struct {
	Group     string `json:"group,omitempty"`
	Kind      string `json:"kind"`
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
}

// IDOf returns the identity of an object.
func IDOf(object *unstructured.Unstructured) ID {
	group := object.GetAPIVersion()
	if slash := strings.IndexByte(group, '/'); slash >= 0 {
		group = group[:slash]
	} else {
		group = "" // "v1": the core group has no name
	}
	return ID{Group: group, Kind: object.GetKind(), Namespace: object.GetNamespace(), Name: object.GetName()}
}

// String returns the identity as messages show it: "Deployment.apps kyma-system/foo", "Namespace foo".
func (id ID) String() string {
	var text strings.Builder
	text.WriteString(id.Kind)
	if id.Group != "" {
		text.WriteByte('.')
		text.WriteString(id.Group)
	}
	text.WriteByte(' ')
	if id.Namespace != "" {
		text.WriteString(id.Namespace)
		text.WriteByte('/')
	}
	text.WriteString(id.Name)
	return text.String()
}

// GroupKind returns the kind of the object without its version.
func (id ID) GroupKind() schema.GroupKind {
	return schema.GroupKind{Group: id.Group, Kind: id.Kind}
}

// Compare orders identities by group, kind, namespace and name. Every list that this package returns is sorted by it, so that equal
// inventories are equal byte by byte.
func (id ID) Compare(other ID) int {
	return cmp.Or(
		cmp.Compare(id.Group, other.Group),
		cmp.Compare(id.Kind, other.Kind),
		cmp.Compare(id.Namespace, other.Namespace),
		cmp.Compare(id.Name, other.Name),
	)
}
