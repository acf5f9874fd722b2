package terminal

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

// TestQuestions_TheAbortOfARollout says what it will do before it asks, and does nothing without a yes.
func TestQuestions_TheAbortOfARollout(t *testing.T) {
	h := newHub(t)
	h.offers("one")
	rollout := &v1beta2.ModuleRollout{ObjectMeta: h.named("one"), Spec: v1beta2.ModuleRolloutSpec{
		Waves: []v1beta2.RolloutWave{{Name: "canary"}}, ProgressDeadline: metav1.Duration{Duration: time.Minute},
	}}
	h.create(rollout)
	rollout.Status = v1beta2.ModuleRolloutStatus{
		ObservedGeneration: rollout.Generation, Phase: v1beta2.RolloutHalted,
		Channels: []v1beta2.RolloutChannel{{
			Name: "regular", Phase: v1beta2.RolloutHalted, Wave: "canary",
			From: v1beta2.RolloutVersion{Version: "0.9.0"}, To: v1beta2.RolloutVersion{Version: "1.0.0"},
			Waves: []v1beta2.RolloutWaveStatus{{Name: "canary", Total: 1, Failed: 1}},
		}},
	}
	if err := h.Status().Update(t.Context(), rollout); err != nil {
		t.Fatal(err)
	}
	offered := func() string {
		release := &v1beta2.ModuleReleaseMeta{}
		if err := h.Get(t.Context(), client.ObjectKeyFromObject(rollout), release); err != nil {
			t.Fatal(err)
		}
		return release.Spec.Channels[0].Version
	}
	for _, c := range []struct {
		key     string
		code    int
		said    string
		version string
	}{
		{"n", 1, "cancelled: nothing was changed", "1.0.0"},
		{"y", 0, "set back", "0.9.0"},
	} {
		s := h.run("rollout", "abort", "one", "--wait=false", "--namespace", h.namespace)
		s.await("Abort the rollout of one 1.0.0, and set channel regular back to 0.9.0? No further Kyma gets it. [y/N]")
		s.press(c.key, "Enter")
		s.ends(c.code)
		s.await(c.said)
		if got := offered(); got != c.version {
			t.Errorf("after %s the channel names %s; the screen:\n%s", c.key, got, s.text())
		}
	}
}
