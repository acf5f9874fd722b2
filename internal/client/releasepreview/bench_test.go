package releasepreview

import (
	"fmt"
	"testing"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

// manyMembers returns Kymas with ten modules each, a tenth of them in the first wave.
func manyMembers(count int) []Member {
	members := make([]Member, 0, count)
	for i := range count {
		members = append(members, newMember(i, "1.0.0", func(m *Member) {
			if i%10 == 0 {
				ring(m)
			}
			for n := range 9 {
				other := fmt.Sprintf("module-%d", n)
				m.Kyma.Spec.Modules = append(m.Kyma.Spec.Modules, v1beta2.Module{Name: other})
				m.Kyma.Status.Modules = append(m.Kyma.Status.Modules, v1beta2.ModuleStatus{
					Name: other, State: v1beta2.StateReady, Channel: "regular", Version: "3.2.1",
				})
			}
		}))
	}
	return members
}

// BenchmarkForesee decides about 5,000 Kymas.
func BenchmarkForesee(b *testing.B) {
	members := manyMembers(5000)
	hub := newHub(func(h *Hub) { wave(h, canary, v1beta2.RolloutWave{Name: "rest", MaxConcurrent: 200}) })
	b.ReportAllocs()
	for b.Loop() {
		got := foresee(b, hub, upgrade, members...)
		if got.Count(Upgrades) != 2 || got.Kymas != len(members) {
			b.Fatalf("%+v", got.Groups)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Milliseconds())/float64(b.N), "ms/5000")
}

// TestForesee_OfManyIsSmall: what is kept of 5,000 Kymas does not grow with them.
func TestForesee_OfManyIsSmall(t *testing.T) {
	small := foresee(t, newHub(), upgrade, manyMembers(50)...)
	large := foresee(t, newHub(), upgrade, manyMembers(5000)...)
	if one, other := len(asJSON(t, small)), len(asJSON(t, large)); other > one+100 {
		t.Errorf("%d bytes for 50 Kymas, %d for 5,000", one, other)
	}
}
