package modulestatus

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

func TestObjectsOf(t *testing.T) {
	in := Inputs{
		Manifests: []v1beta2.Manifest{manifest(func(m *v1beta2.Manifest) {
			m.Status.Synced = []v1beta2.Resource{{Group: "apps", Version: "v1", Kind: "Deployment", Namespace: "kyma-system", Name: "beacon-manager"}}
		}), manifest(func(m *v1beta2.Manifest) { m.Name = "of-another" })},
		Direct: []Direct{{Record: Key{"klm", "r"}, Inventory: []inventory.Entry{
			{ID: inventory.ID{Kind: "ConfigMap", Namespace: "n", Name: "c"}, Version: "v1"},
		}}},
	}
	own := Ref{"sample.kyma-project.io/v1", "Beacon", "kyma-system", "default"}
	managed := ObjectsOf(&in, &Module{Resource: &own, Manifest: &Key{"kcp-system", "alice-beacon"}})
	if diff := cmp.Diff([]Ref{own, {"apps/v1", "Deployment", "kyma-system", "beacon-manager"}}, managed); diff != "" {
		t.Errorf("of a Manifest (-want +got):\n%s", diff)
	}
	direct := ObjectsOf(&in, &Module{Record: &Key{"klm", "r"}})
	if diff := cmp.Diff([]Ref{{"v1", "ConfigMap", "n", "c"}}, direct); diff != "" {
		t.Errorf("of a direct installation (-want +got):\n%s", diff)
	}
	if none := ObjectsOf(&in, &Module{}); len(none) != 0 {
		t.Errorf("of neither: %v", none)
	}
}

func TestCause_Unseen(t *testing.T) {
	c := Cause{Evidence: []Fact{{Source: FactLog, Text: "a"}, {Source: FactUnread, Text: "b"}}}
	if diff := cmp.Diff([]string{"b"}, c.Unseen()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
