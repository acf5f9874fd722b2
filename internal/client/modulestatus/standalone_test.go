package modulestatus

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

func TestModules_AStandAloneManifestIsNoModuleOfTheKymaWhoseClusterItGoesTo(t *testing.T) {
	alone := manifest(func(m *v1beta2.Manifest) { // by docs/spec/manifest.md, the label names the access Secret
		m.Name, m.Labels = "redis", map[string]string{v1beta2.LabelKymaName: "alice"}
	})
	orphan := manifest(func(m *v1beta2.Manifest) {
		m.Name, m.Labels = "mysql", map[string]string{v1beta2.LabelKymaName: "bob"} // the Kyma does not exist, and need not exist
	})
	in := seen([]v1beta2.Kyma{remoteKyma()})
	in.Manifests = []v1beta2.Manifest{manifest(), alone, orphan}
	type line struct {
		Name, Kyma string
		Phase      Phase
	}
	var got []line
	for _, m := range Modules(in) {
		got = append(got, line{m.Name, m.Kyma, m.Installation.State})
	}
	want := []line{{"mysql", "", Installed}, {"redis", "", Installed}, {"beacon", "kcp-system/alice", Installed}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("modules (-want +got):\n%s", diff)
	}
}
