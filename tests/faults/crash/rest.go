package crash

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/kyma-project/lifecycle-manager/tests/faults/proxy"
	"github.com/kyma-project/lifecycle-manager/tests/faults/rig"
)

const (
	// restFor is how long nothing is said until a manager counts as being at rest.
	restFor = 500 * time.Millisecond
	// restWithin bounds the wait for it.
	restWithin = 30 * time.Second
	// look is the pause between two looks.
	look = 20 * time.Millisecond
)

var errRestless = errors.New("the manager does not come to rest")

// quiet waits until the manager says nothing to anybody, but for heartbeats and the watches that stand.
func quiet(ctx context.Context, r *rig.Rig) error {
	marks := marksOf(r)
	deadline := time.Now().Add(restWithin)
	said, since := talk(r, marks), time.Now()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(look):
		}
		now := talk(r, marks)
		switch {
		case now != said || now.open > 0:
			said, since = now, time.Now()
		case time.Since(since) >= restFor:
			return nil
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("%w within %s, its last calls:%s", errRestless, restWithin, latest(r))
		}
	}
}

// marksOf are the numbers of the last calls, by server.
func marksOf(r *rig.Rig) []uint64 {
	var marks []uint64
	for _, server := range r.Servers() {
		marks = append(marks, server.Proxy.Last())
	}
	return marks
}

// talked is how much was said, and how many calls are not answered yet.
type talked struct{ calls, open int }

// recent is how many calls before the marks may still run.
const recent = 200

func talk(r *rig.Rig, marks []uint64) talked {
	var t talked
	for i, server := range r.Servers() {
		for _, call := range server.Proxy.Since(marks[i] - min(marks[i], recent)) {
			if call.Heartbeat() {
				continue
			}
			if call.N > marks[i] {
				t.calls++
			}
			if call.Took == 0 && call.Verb != "watch" {
				t.open++
			}
		}
	}
	return t
}

func latest(r *rig.Rig) string {
	var text strings.Builder
	for _, server := range r.Servers() {
		last := server.Proxy.Last()
		for _, call := range server.Proxy.Since(last - min(last, 3)) {
			fmt.Fprintf(&text, "\n%s: %s: %d", server.Proxy.Name(), call, call.Status)
		}
	}
	return text.String()
}

// awake waits until a manager that was started watches what it works on.
func awake(ctx context.Context, r *rig.Rig, since uint64) error {
	deadline := time.Now().Add(restWithin)
	for !watches(r.Hub.Proxy.Since(since)) {
		if time.Now().After(deadline) || !r.Manager.Running() {
			return fmt.Errorf("the manager does not work within %s of its start: %q", restWithin, r.Manager.Log.Tail(3))
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
