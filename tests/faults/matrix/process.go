package matrix

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/kyma-project/lifecycle-manager/tests/faults/operation"
	"github.com/kyma-project/lifecycle-manager/tests/faults/proxy"
	"github.com/kyma-project/lifecycle-manager/tests/faults/rig"
)

// Pause is how long a replica stands still whose lease is three seconds.
var Pause = 5 * time.Second

func processFaults() []Fault {
	return []Fault{
		{Group: "process", Name: "kill", Forms: []Form{
			{Name: "before the third write", Begin: dieAt(3, proxy.Abort, (*rig.Manager).Kill)},
			{Name: "after the fifth write", Begin: dieAt(5, proxy.Unanswered, (*rig.Manager).Kill)},
		}},
		{Group: "process", Name: "sigterm", Forms: []Form{
			{Name: "at the second write", Begin: dieAt(2, passOn, (*rig.Manager).Stop)},
			{Name: "at the fourth write", Begin: dieAt(4, passOn, (*rig.Manager).Stop)},
		}},
		{Group: "process", Name: "sigstop", Forms: []Form{
			{Name: "one of two replicas, beyond its lease", Begin: pauseReplica, Lasts: 8 * time.Second},
		}},
		{Group: "process", Name: "oom", Forms: []Form{{Name: "no memory left", Begin: outOfMemory, Lasts: 3 * time.Second}}},
		{Group: "process", Name: "clock", Forms: []Form{
			{Name: "an hour ahead", Begin: shiftClock(time.Hour), Lasts: 3 * time.Second},
			{Name: "an hour behind", Begin: shiftClock(-time.Hour), Lasts: 3 * time.Second},
		}},
		{Group: "process", Name: "disk full", Forms: []Form{
			{Name: "nothing can be written", Begin: diskFull, Cause: []string{"Internal", "Unreachable", "file too large", "disk"}, On: fetching},
		}},
	}
}

func passOn(next http.Handler) http.Handler { return next }

// dieAt ends the manager at its n-th write, to whichever server. With fewer writes, it dies when the fault has ended.
func dieAt(n int64, how proxy.Middleware, die func(*rig.Manager) error) beginner {
	return func(_ context.Context, s *operation.Scenario) (mender, error) {
		var count atomic.Int64
		var once sync.Once
		died := make(chan error, 1)
		end := func() { once.Do(func() { died <- die(s.Rig.Manager) }) }
		var removes []func()
		for _, server := range s.Rig.Servers() {
			removes = append(removes, server.Proxy.Use("matrix", func(next http.Handler) http.Handler {
				last := how(next)
				return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					if !writes(proxy.CallOf(r.Context())) || count.Add(1) != n {
						next.ServeHTTP(w, r)
						return
					}
					go end()
					last.ServeHTTP(w, r)
				})
			}))
		}
		return func(context.Context) error {
			go end()
			err := <-died
			for _, remove := range removes {
				remove()
			}
			return errors.Join(err, s.Rig.Manager.Start())
		}, nil
	}
}

// pauseReplica gives the work to two replicas, stops the writing one for longer than its lease, and continues it while the other one has
// its place.
func pauseReplica(ctx context.Context, s *operation.Scenario) (mender, error) {
	main := s.Rig.Manager
	if err := main.Stop(); err != nil {
		return nil, err
	}
	var pair []*rig.Manager
	for range 2 {
		replica, err := s.Rig.Replica(len(pair))
		if err != nil {
			return nil, err
		}
		if err := replica.Start(); err != nil {
			return nil, err
		}
		pair = append(pair, replica)
		if err := works(ctx, s.Rig, replica); len(pair) == 1 && err != nil {
			return nil, err
		}
	}
	stop := make(chan struct{})
	done := make(chan error, 1)
	go func() { done <- pauseBeyondLease(s, pair[0], stop) }()
	return func(context.Context) error {
		close(stop)
		err := <-done
		for _, replica := range pair {
			err = errors.Join(err, replica.Stop())
		}
		return errors.Join(err, main.Start())
	}, nil
}

// works waits until a replica has the lease, or a part of the work, which shows in a watch of Kymas.
func works(ctx context.Context, r *rig.Rig, replica *rig.Manager) error {
	deadline, mark := time.After(30*time.Second), r.Hub.Proxy.Last()
	for {
		for _, call := range r.Hub.Proxy.Since(mark) {
			if call.Verb == "watch" && call.Resource == "kymas" {
				return nil
			}
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-deadline:
			return fmt.Errorf("%s does not begin to work: %q", replica.Name, replica.Log.Tail(3))
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// pauseBeyondLease pauses a replica at the next write of a Scenario, for longer than its lease.
func pauseBeyondLease(s *operation.Scenario, replica *rig.Manager, stop <-chan struct{}) error {
	wrote := make(chan struct{}, 1)
	var removes []func()
	for _, server := range s.Rig.Servers() {
		removes = append(removes, server.Proxy.Use("matrix", func(next http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if writes(proxy.CallOf(r.Context())) {
					select {
					case wrote <- struct{}{}:
					default:
					}
				}
				next.ServeHTTP(w, r)
			})
		}))
	}
	defer func() {
		for _, remove := range removes {
			remove()
		}
	}()
	select {
	case <-wrote:
	case <-stop:
		return nil
	}
	if err := replica.Pause(); err != nil {
		return err
	}
	select {
	case <-time.After(Pause):
	case <-stop:
	}
	return replica.Continue()
}

// outOfMemory limits the manager to the memory that it already holds; if it copes with that, it is killed in the end.
func outOfMemory(_ context.Context, s *operation.Scenario) (mender, error) {
	if err := s.Rig.Manager.LimitMemory(); err != nil {
		return nil, err
	}
	return func(context.Context) error { return s.Rig.Manager.Restart() }, nil
}

// shiftClock replaces the manager by one with a wrong clock, until the fault is fixed.
func shiftClock(by time.Duration) beginner {
	return func(ctx context.Context, s *operation.Scenario) (mender, error) {
		main := s.Rig.Manager
		shifted, err := s.Rig.Shifted(ctx, by)
		if err != nil {
			return nil, err
		}
		if err := errors.Join(main.Stop(), shifted.Restart()); err != nil {
			return nil, err
		}
		return func(context.Context) error { return errors.Join(shifted.Stop(), main.Start()) }, nil
	}
}

// diskFull makes every write of the manager to a file fail.
func diskFull(_ context.Context, s *operation.Scenario) (mender, error) {
	if err := s.Rig.Manager.LimitFiles(); err != nil {
		return nil, err
	}
	return func(context.Context) error { return s.Rig.Manager.Unlimit() }, nil
}
