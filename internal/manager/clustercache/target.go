package clustercache

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/types"
)

// Target identifies a runtime.
type Target struct {
	// Namespace and Name find the access Secret: it is in Namespace and carries the Kyma name label with the value Name.
	Namespace, Name string
	// Local means the hub itself, acting as ServiceAccount; Namespace and Name are not used then.
	Local bool
	// ServiceAccount ("<namespace>/<name>") is impersonated in the hub. Empty is refused: the operator never acts as itself there.
	ServiceAccount string
	// Owner is the Manifest that needs the runtime, or the Role.Owner of another object. When it is set, Get never blocks a worker for a
	// runtime that does not respond: it returns a Problem and enqueues Owner as soon as the runtime responds. When it is empty, Get waits for
	// the first response.
	Owner types.NamespacedName
	// Claiming means that the caller claims the runtime itself: it is returned also when it is no hub's or another hub's, and no write but the
	// claim is sent before it is ours.
	Claiming bool
	// Urgent means that a user waits: its first contact and first lists go before those of others.
	Urgent bool
}

// serviceAccount splits the account to impersonate; ok is false when it does not name exactly one.
func (t Target) serviceAccount() (namespace, name string, ok bool) {
	namespace, name, ok = strings.Cut(t.ServiceAccount, "/")
	if !ok || namespace == "" || name == "" || strings.ContainsAny(t.ServiceAccount, ": \t\r\n") || strings.Contains(name, "/") {
		return "", "", false
	}
	return namespace, name, true
}

// String returns the target's name for messages and logs.
func (t Target) String() string {
	if t.Local {
		return fmt.Sprintf("hub as service account %s", t.ServiceAccount)
	}
	return fmt.Sprintf("runtime of Kyma %s/%s", t.Namespace, t.Name)
}
