package rig

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
)

const (
	// restFor is how long a manager must be silent until it counts as being at rest.
	restFor = 500 * time.Millisecond
	// restWithin bounds the wait for that.
	restWithin = 30 * time.Second
	// look is the polling interval.
	look = 20 * time.Millisecond
)

var errRestless = errors.New("the manager does not come to rest")

// Quiet waits until the manager makes no calls, except for heartbeats and open watches.
func (r *Rig) Quiet(ctx context.Context) error {
	marks := r.Marks()
	deadline := time.Now().Add(restWithin)
	said, since := r.talk(marks), time.Now()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(look):
		}
		now := r.talk(marks)
		switch {
		case now != said || now.open > 0:
			said, since = now, time.Now()
		case time.Since(since) >= restFor:
			return nil
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("%w within %s, its last calls:%s", errRestless, restWithin, r.latest())
		}
	}
}

// Marks returns the numbers of the last calls, in the order of Servers.
func (r *Rig) Marks() []uint64 {
	var marks []uint64
	for _, server := range r.Servers() {
		marks = append(marks, server.Proxy.Last())
	}
	return marks
}

// talked is the number of calls, and how many of them have no response yet.
type talked struct{ calls, open int }

// recent is how many calls before the marks may still run.
const recent = 200

func (r *Rig) talk(marks []uint64) talked {
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

func (r *Rig) latest() string {
	var text strings.Builder
	for _, server := range r.Servers() {
		last := server.Proxy.Last()
		for _, call := range server.Proxy.Since(last - min(last, 3)) {
			fmt.Fprintf(&text, "\n%s: %s: %d", server.Proxy.Name(), call, call.Status)
		}
	}
	return text.String()
}
