package module

import (
	"strings"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

// KymaSuspended reports whether the label skip-reconciliation suspends a Kyma. As upstream, it reads the value in any case.
func KymaSuspended(kyma *v1beta2.Kyma) bool {
	return strings.EqualFold(kyma.Labels[v1beta2.LabelSkipReconciliation], v1beta2.EnabledValue)
}

// ManifestSuspended reports whether the label skip-reconciliation suspends a Manifest. As upstream, it takes "true" alone.
func ManifestSuspended(manifest *v1beta2.Manifest) bool {
	return manifest.Labels[v1beta2.LabelSkipReconciliation] == v1beta2.EnabledValue
}
