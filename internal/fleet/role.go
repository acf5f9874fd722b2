package fleet

import (
	"strings"

	"k8s.io/apimachinery/pkg/types"
)

// Role is what an owner tracks a runtime for. Each role has a controller of its own, whose queue gets the owners of that role only.
type Role string

// The roles. Only the names of Manifests stand on objects in a runtime.
const (
	// Manifests install modules.
	Manifests Role = ""
	// Kymas keep the Kyma in a runtime, and what it needs.
	Kymas Role = "kyma"
	// Catalogs keep the module templates and releases in a runtime.
	Catalogs Role = "catalog"
)

// roleMark stands between role and namespace of an owner; no namespace has it in its name. Somebody in a runtime may write it into an owner
// mark all the same, and wakes an owner who tracks that runtime anyway.
const roleMark = "|"

// Owner is how an object on the hub tracks runtimes in a role.
func (r Role) Owner(name types.NamespacedName) types.NamespacedName {
	if r != Manifests {
		name.Namespace = string(r) + roleMark + name.Namespace
	}
	return name
}

// roleOf takes an owner apart.
func roleOf(owner types.NamespacedName) (Role, types.NamespacedName) {
	role, namespace, marked := strings.Cut(owner.Namespace, roleMark)
	if !marked {
		return Manifests, owner
	}
	return Role(role), types.NamespacedName{Namespace: namespace, Name: owner.Name}
}
