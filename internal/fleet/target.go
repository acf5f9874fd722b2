package fleet

import (
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// Target says which runtime is meant.
type Target struct {
	// Namespace and Name find the access Secret: it lives in Namespace and carries the Kyma name label with the value Name.
	Namespace, Name string
	// Local means the hub itself, acting as ServiceAccount; Namespace and Name are not used then.
	Local bool
	// ServiceAccount ("<namespace>/<name>") is impersonated in the hub. Empty is refused: nothing local is done as the operator itself.
	ServiceAccount string
	// Owner is the Manifest that asks, or what a Role makes of another object. When it is set, Get never holds a worker for a runtime that
	// does not answer: it returns a Problem and enqueues Owner as soon as the runtime answers. When it is empty, Get waits for the first
	// answer.
	Owner types.NamespacedName
	// Urgent says that somebody waits for it: a first contact, and first lists, go before those that nobody waits for.
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

// String names the target for people and logs.
func (t Target) String() string {
	if t.Local {
		return fmt.Sprintf("hub as service account %s", t.ServiceAccount)
	}
	return fmt.Sprintf("runtime of Kyma %s/%s", t.Namespace, t.Name)
}

// Problem tells why a runtime cannot be used, in the words of the API.
type Problem struct {
	// Reason is one of the API's: AccessSecretNotFound, AccessSecretAmbiguous, KubeconfigInvalid, KubeconfigRefused, RuntimeConnecting
	// (no failure: the first answer is awaited and the owner will be enqueued), RuntimeUnreachable, RuntimeUnauthorized,
	// RuntimeForbidden, RuntimeReplaced, LocalAccessMissing, Internal.
	Reason string
	// Message says what a person can do; it never holds a credential.
	Message string
	// RetryAfter is when it is worth asking again. Zero: not before something changes; the owner is enqueued then, or the Secret's event
	// does it.
	RetryAfter time.Duration
	// Err is the cause, if there is one.
	Err error
}

// Error implements error.
func (p *Problem) Error() string { return p.Reason + ": " + p.Message }

// Unwrap gives the cause.
func (p *Problem) Unwrap() error { return p.Err }
