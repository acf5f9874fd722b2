package modulestatus

import (
	"testing"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

// TestSuspendedStaysAsItIs: nothing comes of what is requested, so it is not under way.
func TestSuspendedStaysAsItIs(t *testing.T) {
	suspend := func(k *v1beta2.Kyma) {
		k.Labels = map[string]string{v1beta2.LabelSkipReconciliation: v1beta2.EnabledValue}
	}
	for name, c := range map[string]struct {
		kyma      v1beta2.Kyma
		manifests []v1beta2.Manifest
		want      want
	}{
		"what is suspended is not under way, and says what holds it": {
			remoteKyma(suspend, func(k *v1beta2.Kyma) { k.Spec.Channel = "fast" }), []v1beta2.Manifest{manifest()},
			want{state: Warning, phase: Installed, reason: WhySuspended, message: v1beta2.LabelSkipReconciliation, version: "1.0.0/1.1.0/1.1.0"},
		},
		"what is suspended and as it was asked for is ready": {
			remoteKyma(suspend), []v1beta2.Manifest{manifest()}, want{state: Ready, phase: Installed, version: "1.0.0/1.0.0/1.0.0"},
		},
		"what is suspended before it was installed is not installed": {
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
