package operations

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// TestDashboardsShareTheHistory: two dashboards keep their sources in different namespaces, in a cluster that has no history yet. The
// second one sees the operations of the first, and starts nothing that conflicts with them.
func TestDashboardsShareTheHistory(t *testing.T) {
	b := newBench(t)
	kyma, admin := b.kyma("demo"), b.admin()
	one, other := b.dashboard("default"), b.dashboard(b.namespace)
	add := Request{Kind: Add, Kyma: kyma, Modules: []Wanted{{Name: b.notes}}}
	op, err := one.Start(t.Context(), admin, add)
	if err != nil || op.Message != "" {
		t.Fatalf("%+v %v", op, err)
	}
	space := &corev1.Namespace{}
	if err := b.Get(t.Context(), client.ObjectKey{Name: HistoryNamespace}, space); err != nil ||
		space.Labels["pod-security.kubernetes.io/enforce"] != "restricted" {
		t.Errorf("%v %v", space.Labels, err)
	}
	if seen, err := b.waits(other, admin, op.ID, func(seen Operation) bool { return seen.State == Running }); err != nil {
		t.Fatalf("%+v %v", seen, err)
	}
	if _, err := other.Start(t.Context(), admin, add); ReasonOf(err) != WhyBusy {
		t.Errorf("the other one started the same: %v", err)
	}
	b.manages()
	b.ends(one, admin, op.ID, Succeeded)
	b.ends(other, admin, op.ID, Succeeded)
	if err := other.Forget(t.Context(), admin, op.ID); err != nil {
		t.Error(err)
	}
}
