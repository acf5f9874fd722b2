package matrix

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kyma-project/lifecycle-manager/tests/faults/operation"
	"github.com/kyma-project/lifecycle-manager/tests/faults/proxy"
	"github.com/kyma-project/lifecycle-manager/tests/faults/rig"
)

// where selects the server that a fault affects.
type where func(*operation.Scenario) *rig.Server

func hub(s *operation.Scenario) *rig.Server  { return s.Rig.Hub }
func home(s *operation.Scenario) *rig.Server { return s.Home }

// beginner breaks something.
type beginner = func(context.Context, *operation.Scenario) (mender, error)

// using installs a middleware in front of a server.
func using(at where, mw func(*operation.Scenario) proxy.Middleware) beginner {
	return func(_ context.Context, s *operation.Scenario) (mender, error) {
		remove := at(s).Proxy.Use("matrix", mw(s))
		return func(context.Context) error {
			remove()
			return nil
		}, nil
	}
}

// always returns a middleware that does not depend on the Scenario.
func always(match proxy.Match, mw proxy.Middleware) func(*operation.Scenario) proxy.Middleware {
	return func(*operation.Scenario) proxy.Middleware { return proxy.Only(match, mw) }
}

// calls matches everything except heartbeats and watches: open watches are not affected.
func calls(c proxy.Call) bool { return !c.Heartbeat() && c.Verb != "watch" }

// writes matches calls that change something lasting.
func writes(c proxy.Call) bool { return c.Mutating && !c.Heartbeat() }

// status returns the response of an API server.
func status(err *apierrors.StatusError) metav1.Status { return err.Status() }

func failure(code int32, reason metav1.StatusReason, text string) metav1.Status {
	return metav1.Status{Status: metav1.StatusFailure, Code: code, Reason: reason, Message: text}
}

func unavailable(text string) metav1.Status {
	return failure(http.StatusServiceUnavailable, metav1.StatusReasonServiceUnavailable, text)
}

func internal(text string) metav1.Status {
	return failure(http.StatusInternalServerError, metav1.StatusReasonInternalError, text)
}

func forbidden(text string) metav1.Status {
	return failure(http.StatusForbidden, metav1.StatusReasonForbidden, text)
}

var anything = schema.GroupResource{Resource: "objects"}

// firstOfEach answers the first write of every object with this status, and lets all later ones pass.
func firstOfEach(answer metav1.Status) func(*operation.Scenario) proxy.Middleware {
	return func(*operation.Scenario) proxy.Middleware {
		var mutex sync.Mutex
		seen := map[string]bool{}
		return func(next http.Handler) http.Handler {
			refuse := proxy.Answer(answer, 0)(next)
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				call := proxy.CallOf(r.Context())
				mutex.Lock()
				first := writes(call) && !seen[call.Resource+call.Namespace+call.Name]
				seen[call.Resource+call.Namespace+call.Name] = true
				mutex.Unlock()
				if first {
					refuse.ServeHTTP(w, r)
					return
				}
				next.ServeHTTP(w, r)
			})
		}
	}
}

// together breaks several things and fixes them in the opposite order.
func together(all ...beginner) beginner {
	return func(ctx context.Context, s *operation.Scenario) (mender, error) {
		var menders []mender
		mend := func(ctx context.Context) error {
			var err error
			for _, m := range slices.Backward(menders) {
				err = errors.Join(err, m(ctx))
			}
			return err
		}
		for _, begin := range all {
			m, err := begin(ctx, s)
			if err != nil {
				return nil, errors.Join(fmt.Errorf("cannot break all of it: %w", err), mend(ctx))
			}
			menders = append(menders, m)
		}
		return mend, nil
	}
}

// reach changes the treatment of connections.
func reach(at where, state proxy.Reach) beginner {
	return func(_ context.Context, s *operation.Scenario) (mender, error) {
		at(s).Proxy.Reach(state)
		return func(context.Context) error {
			at(s).Proxy.Reach(proxy.Open)
			at(s).Proxy.Cut() // held connections are not revived
			return nil
		}, nil
	}
}

// repeatedly runs work in the background until the fault is fixed.
func repeatedly(work func(context.Context, *operation.Scenario)) beginner {
	return func(ctx context.Context, s *operation.Scenario) (mender, error) {
		ctx, cancel := context.WithCancel(ctx)
		done := make(chan struct{})
		go func() {
			defer close(done)
			work(ctx, s)
		}()
		return func(context.Context) error {
			cancel()
			<-done
			return nil
		}, nil
	}
}
