package crash

import (
	"context"
	"fmt"
	"time"

	"github.com/kyma-project/lifecycle-manager/tests/faults/proxy"
	"github.com/kyma-project/lifecycle-manager/tests/faults/rig"
)

const (
	// wakeWithin bounds the wait for a manager that was started.
	wakeWithin = 30 * time.Second
	// look is the polling interval.
	look = 20 * time.Millisecond
)

// awake waits until a started manager watches its objects.
func awake(ctx context.Context, r *rig.Rig, since uint64) error {
	deadline := time.Now().Add(wakeWithin)
	for !watches(r.Hub.Proxy.Since(since)) {
		if time.Now().After(deadline) || !r.Manager.Running() {
			return fmt.Errorf("the manager does not work within %s of its start: %q", wakeWithin, r.Manager.Log.Tail(3))
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(look):
		}
	}
	return nil
}

func watches(calls []proxy.Call) bool {
	missing := map[string]bool{"kymas": true, "manifests": true}
	for _, call := range calls {
		if call.Verb == "watch" && call.Status != 0 {
			delete(missing, call.Resource)
		}
	}
	return len(missing) == 0
}
