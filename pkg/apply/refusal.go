package apply

import (
	"regexp"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// denied knows the texts by which admission says that a policy, and not a permission, speaks against an object.
func denied(message string) bool {
	return strings.Contains(message, "denied the request") && strings.Contains(message, "admission webhook") ||
		strings.Contains(message, "ValidatingAdmissionPolicy") && strings.Contains(message, "denied request") ||
		strings.Contains(message, "violates PodSecurity")
}

// undeclared knows the texts by which server-side apply says that an object does not fit its schema. It does so with code 500 and
// without a reason, though the object is at fault.
func undeclared(message string) bool {
	return strings.HasPrefix(message, "failed to create typed patch object (") || strings.HasPrefix(message, "failed to convert new object (")
}

// oversized knows the texts by which etcd, and the client that the API server has for it, refuse an object. They come with code 500 and
// without a reason, though the object is at fault.
func oversized(message string) bool {
	return strings.Contains(message, "etcdserver: request is too large") ||
		strings.Contains(message, "trying to send message larger than max (")
}

// overQuota knows the texts by which a ResourceQuota speaks against an object. They come as Forbidden, as a missing permission does.
func overQuota(message string) bool {
	return strings.Contains(message, "is forbidden: exceeded quota: ") || strings.Contains(message, "is forbidden: failed quota: ")
}

// fixed are the texts by which Kubernetes says that a field cannot be changed. It has no cause of its own for that, and no one text.
var fixed = regexp.MustCompile(`is immutable|may not change once set|may not be changed|may not change fields other than|` +
	`cannot change roleRef|updates to .{1,300} are forbidden`)

func immutable(message string) bool { return fixed.MatchString(message) }

// changesImmutable reports whether one of the faults is the change of such a field.
func changesImmutable(details *metav1.StatusDetails) bool {
	return details != nil && slices.ContainsFunc(details.Causes, func(cause metav1.StatusCause) bool { return immutable(cause.Message) })
}
