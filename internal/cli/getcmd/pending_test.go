package getcmd

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/client/modulestatus"
)

func TestExplainPending(t *testing.T) {
	at := metav1.NewTime(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))
	full := &v1beta2.PendingVersion{
		Version: "1.1.0", From: []v1beta2.ConsentSide{v1beta2.ConsentHub}, Deadline: &at, Counts: v1beta2.PendingCounts{RightsAdded: 2},
		Gravest: []string{"may read every\x1b[2J Secret"},
	}
	for name, c := range map[string]struct {
		module modulestatus.Module
		named  bool
		want   string
	}{
		"nothing waits": {modulestatus.Module{Name: "notes"}, false, ""},
		"the user of this Kyma must agree": {
			modulestatus.Module{Name: "notes", Kyma: "kcp-system/demo", ConsentHere: true, Pending: &v1beta2.PendingVersion{Version: "1.1.0"}},
			false, "  consent       1.1.0 waits: kyma approve notes\n",
		},
		"one of several Kymas is named": {
			modulestatus.Module{Name: "notes", Kyma: "kcp-system/demo", ConsentHere: true, Pending: full}, true,
			"  consent       1.1.0 waits, with 2 new rights, until 2026-03-01T12:00:00Z: kyma approve notes --kyma kcp-system/demo\n" +
				"                - may read every [2J Secret\n",
		},
		"something that it requires is missing": {
			modulestatus.Module{Name: "notes", Installation: modulestatus.Installation{Reason: v1beta2.ReasonRequirementMissing}}, false,
			"  requirements  kyma requirements notes shows what is missing\n",
		},
		"another side must agree": {
			modulestatus.Module{Name: "notes", Kyma: "kyma-system/default", Pending: &v1beta2.PendingVersion{Version: "1.1.0", From: full.From}}, false,
			"  consent       1.1.0 waits: the operator of the hub must agree\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			var text strings.Builder
			(&show{}).explainPending(&text, &c.module, c.named)
			if text.String() != c.want {
				t.Errorf("got %q, want %q", text.String(), c.want)
			}
		})
	}
}
