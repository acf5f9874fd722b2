package clustercache

import (
	"strings"

	"k8s.io/apimachinery/pkg/types"
)

// Role is the purpose for which an owner tracks a runtime. Each role has its own controller, whose queue gets the owners of that role only.
type Role string

// The roles. Objects in a runtime only carry names of Manifests.
const (
	// Manifests install modules.
	Manifests Role = ""
	// Kymas sync the Kyma into a runtime, and its prerequisites.
	Kymas Role = "kyma"
	// Requirements are Kymas whose modules require something of their clusters.
	Requirements Role = "requirement"
	// Catalogs sync the module templates and releases into a runtime.
	Catalogs Role = "catalog"
)

// roleMark separates role and namespace of an owner; no namespace contains it. A user of a runtime may still write it into an owner
// annotation, which enqueues an owner that tracks that runtime anyway.
const roleMark = "|"

// Owner returns the owner for an object on the hub that tracks runtimes in a role.
func (r Role) Owner(name types.NamespacedName) types.NamespacedName {
	if r != Manifests {
		name.Namespace = string(r) + roleMark + name.Namespace
	}
	return name
}

// roleOf splits an owner into its role and its object.
func roleOf(owner types.NamespacedName) (Role, types.NamespacedName) {
	role, namespace, marked := strings.Cut(owner.Namespace, roleMark)
	if !marked {
		return Manifests, owner
	}
	return Role(role), types.NamespacedName{Namespace: namespace, Name: owner.Name}
}
