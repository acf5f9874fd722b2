package modulestatus

import (
	"testing"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

func TestPendingCounts(t *testing.T) {
	for want, counts := range map[string]v1beta2.PendingCounts{
		"":                        {},
		"1 new right":             {RightsAdded: 1},
		"3 new rights, 1 webhook": {RightsAdded: 3, Webhooks: 1},
		"2 new rights, 1 right fewer, 4 definitions, 2 webhooks, 1 image from another place": {
			RightsAdded: 2, RightsRemoved: 1, Definitions: 4, Webhooks: 2, Images: 1,
		},
	} {
		if got := PendingCounts(counts); got != want {
			t.Errorf("%+v: %q, want %q", counts, got, want)
		}
	}
}
