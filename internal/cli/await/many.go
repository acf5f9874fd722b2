package await

import (
	"context"
	"fmt"

	"github.com/dustin/go-humanize/english"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/cli/console"
	"github.com/kyma-project/lifecycle-manager/internal/client/waitfor"
)

// FollowMany waits as waitfor.WaitMany does. On a terminal it shows how many Kymas are how far; elsewhere the outcomes are enough.
func FollowMany(ctx context.Context, c *console.Console, cluster client.WithWatch, ask waitfor.ManyOptions) ([]waitfor.Outcome, error) {
	progress := c.Progress()
	defer progress.End()
	return waitfor.WaitMany(ctx, cluster, ask, func(ends map[waitfor.End]int) {
		if c.Live {
			progress.Set("waiting for "+english.Plural(len(ask.Kymas), "Kyma", ""), string(v1beta2.StateProcessing),
				fmt.Sprintf("%d done, %d with a warning, %d failed", ends[waitfor.Done], ends[waitfor.Warned], ends[waitfor.Failed]))
		}
	})
}
