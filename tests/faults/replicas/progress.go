package replicas

import (
	"context"
	"errors"
	"fmt"
	"net/url"

	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/kyma-project/lifecycle-manager/tests/bench/meter"
)

// progress is the state of a Scenario's writes: how many were sent, how many have no response yet, including the held one, how many of
// those that the pass must record have one, and how many responses of the Scenario's runtime their writer has read.
type progress struct {
	sent, open, done int
	read             float64
	last             string // the latest write
}

// alike is the number of consecutive observations that must be equal. The writer reports its own progress: without CPU time to read a
// response, it has none to report either.
const alike = 3

// answered waits until every write of the Scenario except the held one has its response, and its writer has read it: a response that is
// unread when the writer is stopped counts as failed later, and leaves nothing to record.
func (t *attempt) answered(ctx context.Context) error {
	writer, err := t.fleet.owner(t.bucket())
	if err != nil {
		return err
	}
	before, seen := progress{}, 0
	last := errors.New("no progress was read")
	err = wait.PollUntilContextTimeout(ctx, moment, t.suite.longer(soon), true, func(ctx context.Context) (bool, error) {
		now, err := t.progress(ctx, writer)
		if err != nil {
			last = err
			return false, nil //nolint:nilerr // the next look may succeed, and the last failure is told
		}
		if seen++; now != before {
			before, seen = now, 1
		}
		last = fmt.Errorf("%d writes, %d of them without a response, %d of ConfigMaps with one, %g responses read, the latest write: %s",
			now.sent, now.open, now.done, now.read, now.last)
		return now.open == 1 && now.done > 0 && now.read > 0 && seen >= alike, nil
	})
	if err != nil {
		return fmt.Errorf("the other writes do not settle while one is held: %w", last)
	}
	return nil
}

func (t *attempt) progress(ctx context.Context, writer *replica) (now progress, err error) {
	home, err := url.Parse(t.scene.Home.Proxy.Config().Host)
	if err != nil {
		return now, err
	}
	told, err := meter.Scrape(ctx, writer.metrics)
	if err != nil {
		return now, err
	}
	now.read = told.Sum("rest_client_requests_total", "host", home.Host)
	for _, server := range t.scene.Rig.Servers() {
		for _, call := range server.Proxy.Since(t.scene.Since[server.Proxy.Name()]) {
			if !writes(call) {
				continue
			}
			now.sent++
			now.last = call.String()
			switch {
			case call.Took == 0:
				now.open++
			case ofMaps(t.scene, call):
				now.done++
			}
		}
	}
	return now, nil
}
