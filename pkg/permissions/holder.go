package permissions

import (
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
)

// The groups that Kubernetes puts every user, or every ServiceAccount, into.
const (
	groupAuthenticated   = "Group system:authenticated"
	groupUnauthenticated = "Group system:unauthenticated"
	groupServiceAccounts = "Group system:serviceaccounts"
	userAnonymous        = "User system:anonymous"
	prefixAccount        = "ServiceAccount "
	prefixRole           = "role "
	// accountUser begins the user name of a ServiceAccount.
	accountUser = "system:serviceaccount:"
)

// holdersAround returns a holder and the groups that it is in for certain, so that what they hold is what it holds.
func holdersAround(holder string) []string {
	switch {
	case holder == "": // the module's ServiceAccounts
		return []string{holder, groupServiceAccounts, groupAuthenticated}
	case holder == groupUnauthenticated || holder == groupAuthenticated:
		return []string{holder}
	case holder == userAnonymous:
		return []string{holder, groupUnauthenticated}
	case holder == "role edit":
		return []string{holder, "role view"}
	case holder == "role admin":
		return []string{holder, "role edit", "role view"}
	case strings.HasPrefix(holder, prefixRole):
		return []string{holder}
	case strings.HasPrefix(holder, prefixAccount):
		namespace, _, _ := strings.Cut(strings.TrimPrefix(holder, prefixAccount), "/")
		return []string{holder, groupServiceAccounts + ":" + namespace, groupServiceAccounts, groupAuthenticated}
	case strings.HasPrefix(holder, groupServiceAccounts+":"):
		return []string{holder, groupServiceAccounts, groupAuthenticated}
	default:
		return []string{holder, groupAuthenticated}
	}
}

// accountOf returns the ServiceAccount that a subject is, as "ns/name"; "" when it is a user or a group.
func accountOf(subject rbacv1.Subject, namespace string) string {
	switch subject.Kind {
	case rbacv1.ServiceAccountKind:
		if subject.Namespace != "" {
			namespace = subject.Namespace
		}
		return namespace + "/" + subject.Name
	case rbacv1.UserKind:
		if rest, found := strings.CutPrefix(subject.Name, accountUser); found {
			return strings.Replace(rest, ":", "/", 1)
		}
	}
	return ""
}

// describeHolder says who a holder is, as the object of "lets".
func describeHolder(holder string) string {
	switch holder {
	case groupAuthenticated:
		return "every user and ServiceAccount of the cluster"
	case groupUnauthenticated, userAnonymous:
		return "requests without any login"
	case groupServiceAccounts:
		return "every ServiceAccount of the cluster"
	}
	kind, name, _ := strings.Cut(holder, " ")
	switch {
	case strings.HasPrefix(holder, groupServiceAccounts+":"):
		return "every ServiceAccount in namespace " + strings.TrimPrefix(holder, groupServiceAccounts+":")
	case kind == "role":
		return "users with the role " + name
	case kind == "ServiceAccount":
		return "the foreign ServiceAccount " + name
	default:
		return strings.ToLower(kind) + " " + name
	}
}

// reach returns how far holders raise the severity of what they get: whatever every user gets is critical.
func reach(holder string, severity Severity) Severity {
	switch {
	case holder == groupAuthenticated, holder == groupUnauthenticated, holder == groupServiceAccounts, holder == userAnonymous:
		return Critical
	case strings.HasPrefix(holder, groupServiceAccounts+":"):
		return max(severity, High)
	default:
		return severity
	}
}
