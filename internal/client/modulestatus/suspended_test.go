package modulestatus

import (
	"testing"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

// TestSuspendedStaysAsItIs: a requested change is not carried out, so it is not in progress.
func TestSuspendedStaysAsItIs(t *testing.T) {
	suspend := func(k *v1beta2.Kyma) {
		k.Labels = map[string]string{v1beta2.LabelSkipReconciliation: v1beta2.EnabledValue}
	}
	for name, c := range map[string]struct {
		kyma      v1beta2.Kyma
		manifests []v1beta2.Manifest
		want      want
	}{
		"a suspended change is not in progress, and names the label": {
			remoteKyma(suspend, func(k *v1beta2.Kyma) { k.Spec.Channel = "fast" }), []v1beta2.Manifest{manifest()},
			want{state: Warning, phase: Installed, reason: WhySuspended, message: v1beta2.LabelSkipReconciliation, version: "1.0.0/1.1.0/1.1.0"},
		},
		"a suspended module in the requested state is ready": {
			remoteKyma(suspend), []v1beta2.Manifest{manifest()}, want{state: Ready, phase: Installed, version: "1.0.0/1.0.0/1.0.0"},
		},
		"a module that is suspended before its installation is not installed": {
			remoteKyma(suspend, func(k *v1beta2.Kyma) { k.Status.Modules = nil }), nil,
			want{state: Warning, phase: NotInstalled, reason: WhySuspended},
		},
	} {
		t.Run(name, func(t *testing.T) {
			in := seen([]v1beta2.Kyma{c.kyma})
			in.Manifests = c.manifests
			check(t, in, c.want)
		})
	}
}
