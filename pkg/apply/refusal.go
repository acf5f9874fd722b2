package apply

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// denied reports whether the message is one by which admission rejects an object because of a policy, not of a permission.
func denied(message string) bool {
	return strings.Contains(message, "denied the request") && strings.Contains(message, "admission webhook") ||
		strings.Contains(message, "ValidatingAdmissionPolicy") && strings.Contains(message, "denied request") ||
		strings.Contains(message, "violates PodSecurity")
}

// undeclared reports whether server-side apply rejects an object that does not fit its schema. Such messages come with code 500 and
// without a reason, though the object is at fault.
func undeclared(message string) bool {
	return strings.HasPrefix(message, "failed to create typed patch object (") || strings.HasPrefix(message, "failed to convert new object (")
}

// oversized reports whether etcd, or the API server's client for it, rejects an object because of its size. Such messages come with code
// 500 and without a reason, though the object is at fault.
func oversized(message string) bool {
	return strings.Contains(message, "etcdserver: request is too large") ||
		strings.Contains(message, "trying to send message larger than max (")
}

// overQuota reports whether a ResourceQuota rejects an object. Such messages come as Forbidden, as a missing permission does.
func overQuota(message string) bool {
	return strings.Contains(message, "is forbidden: exceeded quota: ") || strings.Contains(message, "is forbidden: failed quota: ")
}

// fixed matches the texts by which Kubernetes reports an immutable field. It has no cause of its own for that, and no single text. The
// pattern is compiled when a response has to be read: its repetition makes it large.
var fixed = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`is immutable|may not change once set|may not be changed|may not change fields other than|` +
		`cannot change roleRef|updates to .{1,300} are forbidden`)
})

func immutable(message string) bool { return fixed().MatchString(message) }

// changesImmutable reports whether one of the causes is the change of such a field.
func changesImmutable(details *metav1.StatusDetails) bool {
	return details != nil && slices.ContainsFunc(details.Causes, func(cause metav1.StatusCause) bool { return immutable(cause.Message) })
}
