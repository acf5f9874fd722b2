package replicas

import (
	"context"
	"errors"
	"fmt"
	"net/url"

	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/kyma-project/lifecycle-manager/tests/bench/meter"
)

// progress is how far the writes of a Scene are: how many were sent, how many of them have no response yet, the one that is held included,
// how many of those that the pass must record have one, and how many responses of the Scene's runtime their writer has read.
type progress struct {
	sent, open, done int
	read             float64
	last             string // the latest write
}

// alike are the looks in a row that must see the same progress. The writer tells it itself: one that gets no time to read an answer gets
// none to tell either.
const alike = 3

// answered waits until every write of the Scene but the one that is held has its answer, and its writer has read that: what it has not read
// when it is stopped it takes for failed later, and has nothing to write down.
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
