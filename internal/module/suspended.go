package module

import (
	"strings"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

// KymaSuspended reports whether the label skip-reconciliation suspends a Kyma. As in upstream, the value is not case-sensitive.
func KymaSuspended(kyma *v1beta2.Kyma) bool {
	return strings.EqualFold(kyma.Labels[v1beta2.LabelSkipReconciliation], v1beta2.EnabledValue)
}

// ManifestSuspended reports whether the label skip-reconciliation suspends a Manifest. As in upstream, only "true" counts.
func ManifestSuspended(manifest *v1beta2.Manifest) bool {
	return manifest.Labels[v1beta2.LabelSkipReconciliation] == v1beta2.EnabledValue
}

// RolloutSuspended reports whether the label skip-reconciliation suspends a ModuleRollout: its position stays as it is.
func RolloutSuspended(rollout *v1beta2.ModuleRollout) bool {
	return rollout.Labels[v1beta2.LabelSkipReconciliation] == v1beta2.EnabledValue
}
