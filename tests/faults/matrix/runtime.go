package matrix

import (
	"net/http"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/tests/faults/operation"
	"github.com/kyma-project/lifecycle-manager/tests/faults/oracle"
	"github.com/kyma-project/lifecycle-manager/tests/faults/proxy"
)

func runtimeFaults() []Fault {
	denied := failure(http.StatusUnauthorized, metav1.StatusReasonUnauthorized, "Unauthorized")
	away := []string{v1beta2.ReasonRuntimeUnreachable}
	return []Fault{
		{Group: "runtime", Name: "runtime cannot be reached", Forms: []Form{
			{Name: "refused", Begin: reach(home, proxy.Refused), Cause: away, Lasts: 3 * time.Second},
			{Name: "black hole", Begin: reach(home, proxy.BlackHole), Cause: away, Lasts: 3 * time.Second},
			{Name: "no such name", Begin: accessTo("https://runtime.invalid:6443"), Cause: away, Not: []string{"rotate"}},
		}},
		{Group: "runtime", Name: "runtime refuses us", Forms: []Form{
			{
				Name: "401", Begin: using(home, always(proxy.All, proxy.Answer(denied, 0))),
				Cause: []string{v1beta2.ReasonRuntimeUnauthorized}, On: staying,
			},
			{
				Name: "403", Begin: using(home, always(writes, proxy.Answer(forbidden(`objects is forbidden: User "klm" cannot write`), 0))),
				Cause: []string{v1beta2.ReasonRuntimeForbidden, v1beta2.ReasonSyncFailed}, On: []string{"install", "upgrade", "channel", "disable"},
			},
			{Name: "certificate expired", Begin: certificate(-time.Hour), Cause: away, On: staying, Not: []string{"rotate"}},
			{
				Name: "another authority", Begin: certificate(time.Hour), Cause: away, On: staying,
				Not: slices.Concat(starting, []string{"rotate"}), // their Secret is created later, with the new authority
			},
		}},
		{Group: "runtime", Name: "access Secret", Forms: []Form{
			{
				Name: "deleted", Begin: withoutAccess, Cause: []string{v1beta2.ReasonAccessSecretNotFound},
				Not: slices.Concat(removing, starting, []string{"rotate"}),
			},
			{Name: "rotated", Begin: rotated, Not: slices.Concat(starting, []string{"rotate"})},
			{
				Name: "of another cluster", Begin: otherCluster, Cause: []string{v1beta2.ReasonRuntimeReplaced},
				Not: slices.Concat(starting, []string{"rotate"}),
			},
			{
				Name: "no kubeconfig", Begin: accessTo(""), Cause: []string{v1beta2.ReasonKubeconfigInvalid},
				On: []string{"install", "upgrade", "channel", "disable", "unmanage", "delete", "catalog"},
			},
		}},
		{Group: "runtime", Name: "runtime is slow", Forms: []Form{
			{Name: "ten seconds a call", Begin: using(home, always(calls, proxy.Slow(10*time.Second))), Lasts: 12 * time.Second},
		}},
		{Group: "runtime", Name: "runtime says 429", Forms: []Form{
			{Name: "with Retry-After", Lasts: 4 * time.Second, Begin: using(home, always(calls,
				proxy.Answer(status(apierrors.NewTooManyRequests("too many requests", 1)), time.Second)))},
		}},
		{Group: "runtime", Name: "object refused", Forms: []Form{
			{
				Name: "the second of a module", Begin: using(home, refuseSecond),
				Cause: []string{v1beta2.ReasonObjectRefused}, On: fetching,
			},
		}},
	}
}

// contentFaults returns the faults in the content of a runtime.
func contentFaults() []Fault {
	return []Fault{
		{Group: "runtime", Name: "kinds go", Forms: []Form{
			{Name: "definition of a module deleted", Begin: definitionDeleted, Not: []string{"rename"}}, // rename must keep the module's objects
			{Name: "definition stuck", Begin: definitionStuck, Not: removing},
			{Name: "namespace of the hub deleted", Begin: namespaceDeleted, Not: slices.Concat(starting, []string{"delete"})},
		}},
		{Group: "runtime", Name: "another client writes", Forms: []Form{
			{Name: "the same field, again and again", Begin: repeatedly(quarrel), Lasts: 4 * time.Second},
		}, Bounds: oracle.Bounds{Lines: 3000, Writes: 3000, Memory: oracle.Usual().Memory}},
		{Group: "runtime", Name: "runtime's webhook", Forms: []Form{
			{
				Name: "denies ConfigMaps", Begin: using(home, always(func(c proxy.Call) bool {
					return c.Resource == "configmaps" && c.Verb != "get" && c.Verb != "list" && c.Verb != "watch"
				}, proxy.Answer(forbidden(`admission webhook "policy.example.com" denied the request: not here`), 0))),
				Cause: []string{v1beta2.ReasonAdmissionDenied}, On: []string{"install", "upgrade", "channel", "disable"},
			},
		}},
		{Group: "runtime", Name: "runtime restored", Forms: []Form{
			{Name: "as it was a moment ago", Begin: restored, Lasts: 2 * time.Second, Not: removing},
			{Name: "without some objects", Begin: lostObjects, Lasts: 2 * time.Second},
		}},
		{Group: "runtime", Name: "runtime is hostile", Forms: []Form{
			{Name: "endless body", Begin: using(home, always(reads, endless)), Lasts: 5 * time.Second},
			{Name: "redirects", Begin: using(home, redirects), Lasts: 3 * time.Second},
			{Name: "slow drip", Begin: using(home, always(reads, drip)), Lasts: 5 * time.Second},
		}},
	}
}

func reads(c proxy.Call) bool { return c.Verb == "get" || c.Verb == "list" }

func refuseSecond(s *operation.Scenario) proxy.Middleware {
	answer := failure(http.StatusUnprocessableEntity, metav1.StatusReasonInvalid,
		`ConfigMap "second" is invalid: data: Invalid value: "x": not like this`)
	return proxy.Only(func(c proxy.Call) bool {
		return writes(c) && c.Verb != "delete" && c.Resource == "configmaps" && c.Name == s.Maps+"-1"
	}, proxy.Answer(answer, 0))
}

// endless answers with a body that has no end.
func endless(http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"kind":"List","apiVersion":"v1","items":[`))
		junk := []byte(strings.Repeat(`{"metadata":{"name":"junk"}},`, 1000))
		for r.Context().Err() == nil {
			if _, err := w.Write(junk); err != nil {
				return
			}
		}
	})
}

// redirects leads clients to the other runtime, whatever credentials the client sends along.
func redirects(s *operation.Scenario) proxy.Middleware {
	return func(http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, s.Other.Proxy.URL()+r.URL.RequestURI(), http.StatusTemporaryRedirect)
		})
	}
}

// drip responds one byte at a time.
func drip(http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		flush := http.NewResponseController(w)
		for r.Context().Err() == nil {
			if _, err := w.Write([]byte(" ")); err != nil {
				return
			}
			_ = flush.Flush() // the next write notices a client that is gone
			select {
			case <-r.Context().Done():
			case <-time.After(100 * time.Millisecond):
			}
		}
	})
}
