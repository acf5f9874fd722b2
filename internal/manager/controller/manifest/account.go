package manifest

import (
	"fmt"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/manager/runtimes"
)

// accountOf returns the ServiceAccount that installs a Manifest. It is one of the cluster that is installed into. In the hub it is one of
// the Manifest's own namespace: a user of that namespace must not get the rights of an account of another one.
func accountOf(manifest *v1beta2.Manifest, local bool) types.NamespacedName {
	account := types.NamespacedName{Namespace: v1beta2.RuntimeNamespace, Name: manifest.Spec.ServiceAccountName}
	switch {
	case account.Name == "":
		return types.NamespacedName{}
	case local:
		account.Namespace = manifest.Namespace
	}
	return account
}

// actsForAccount reports whether a ServiceAccount reads, writes and deletes what the Manifest installs.
func (w *scope) actsForAccount() bool { return w.target.Account.Name != "" }

// mayShow reports whether the custom resources of the kind that the spec names may be watched, and the status may tell the state of one.
// The streams show every object to the operator, and an account must neither get to know by its Manifest what it may not read, nor have
// the operator read it: its rights were looked at for this very spec.
func (w *scope) mayShow() bool {
	return !w.actsForAccount() || w.permitted || w.before.Status.AppliedGeneration == w.generation
}

// userOf returns the name by which an API server knows a ServiceAccount.
func userOf(account types.NamespacedName) string {
	return "system:serviceaccount:" + account.Namespace + ":" + account.Name
}

// deniesActing reports whether an API server refused a call because its caller may not act as an account. Its message is all that says so.
func deniesActing(message string) bool { return strings.Contains(message, "cannot impersonate") }

// explainForbidden says of a refused call whose rights are missing: those of the account that installs, or those to act as it.
func (w *scope) explainForbidden(problem *runtimes.Problem) {
	account := w.target.Account
	switch {
	case !deniesActing(problem.Message):
		if w.actsForAccount() && strings.Contains(problem.Message, strconv.Quote(userOf(account))) {
			problem.Reason = v1beta2.ReasonMissingPermissions
		}
	case w.target.Local && w.actsForAccount():
		problem.Reason = v1beta2.ReasonLocalAccessMissing
		problem.Message = fmt.Sprintf("the operator may not act as ServiceAccount %s: give it the verb impersonate on that account; %s",
			account, problem.Message)
	case w.target.Local:
		problem.Reason = v1beta2.ReasonLocalAccessMissing
		problem.Message = "the operator may not install into its own cluster: apply the kustomize component config/components/local; " +
			problem.Message
	case w.actsForAccount():
		problem.Message = fmt.Sprintf("the user of the access Secret may not act as ServiceAccount %s: give it the verb impersonate on that "+
			"account; %s", account, problem.Message)
	}
}
