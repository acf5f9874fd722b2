package manifest

import (
	"time"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/manager/runtimes"
	"github.com/kyma-project/lifecycle-manager/internal/module"
	"github.com/kyma-project/lifecycle-manager/internal/module/revision"
	"github.com/kyma-project/lifecycle-manager/pkg/conditions"
)

// settling is how long an upgrade must be installed before a custom resource that says Ready counts: it may say so since before the
// upgrade, and the new operator must first have had a look at it. Operators wait for a Lease of the one before for up to 15 seconds or so.
const settling = time.Minute

// countsModuleCR reports whether the module is ready only with its own custom resource.
func (w *scope) countsModuleCR() bool { return module.CountsResource(w.manifest) }

// moduleCRs returns the custom resources of the spec's kind; synced is false while they are not listed.
func (w *scope) moduleCRs() (crs []runtimes.ModuleCRStatus, synced bool) {
	return w.runtime.ModuleCRs(w.manifest.Spec.Resource.GroupVersionKind().GroupKind())
}

// knowsModuleCR reports whether the status has the present state of the module's custom resource, as far as this pass needs it: before an
// outage it may have been another one.
func (w *scope) knowsModuleCR() bool {
	if w.runtime == nil || !w.seesModuleCRs() {
		return true
	}
	_, synced := w.moduleCRs()
	return synced
}

// succeeded reports whether the newest revision is what its module needs: installed, and where the module's custom resource counts, with
// that Ready at the same time.
func (w *scope) succeeded(found passResult) bool {
	if !w.countsModuleCR() {
		return conditions.IsTrueAt(w.manifest.Status.Conditions, v1beta2.ConditionInstallation, w.generation)
	}
	return found.state == v1beta2.StateReady && w.knowsModuleCR() && module.ResourceReady(w.manifest) && w.unsettled(found) == 0
}

// moduleCRFailed reports whether the module's custom resource, where it counts, reports an error of what is installed completely.
func (w *scope) moduleCRFailed(found passResult) bool {
	return w.countsModuleCR() && found.state == v1beta2.StateReady && w.knowsModuleCR() &&
		w.manifest.Status.ResourceState == v1beta2.StateError
}

// unsettled returns after which time a custom resource that says Ready counts, zero when it does, or does not say so. What is installed for
// the first time has no operator before it.
func (w *scope) unsettled(found passResult) time.Duration {
	newest, underWay := revision.UnderWay(w.manifest.Status.Revisions)
	if !underWay || newest.Number == 1 || found.state != v1beta2.StateReady || !w.countsModuleCR() || !module.ResourceReady(w.manifest) ||
		w.manifest.Status.ResourceState == "" {
		return 0
	}
	from := newest.At.Time
	if installed := conditions.Find(w.manifest.Status.Conditions, v1beta2.ConditionInstallation); installed != nil &&
		installed.LastTransitionTime.After(from) {
		from = installed.LastTransitionTime.Time
	}
	return max(0, from.Add(settling).Sub(w.now.Time))
}
