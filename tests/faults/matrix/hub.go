package matrix

import (
	"context"
	"errors"
	"math/rand/v2"
	"net/http"
	"sync"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/tests/faults/operation"
	"github.com/kyma-project/lifecycle-manager/tests/faults/proxy"
)

// Outage is how long the hub is unreachable in a full cell; a sample may have less time.
var Outage = 30 * time.Second

func hubFaults() []Fault {
	busy := status(apierrors.NewTooManyRequests("too many requests, please try again later", 1))
	conflict := status(apierrors.NewConflict(anything, "one", errors.New("the object has been modified")))
	return []Fault{
		{Group: "hub", Name: "hub restarts", Forms: []Form{
			{Name: "refused for two seconds", Begin: reach(hub, proxy.Refused), Lasts: 2 * time.Second},
		}},
		{Group: "hub", Name: "hub is away", Forms: []Form{
			{Name: "no answer", Begin: reach(hub, proxy.BlackHole), Lasts: Outage},
			{Name: "503", Begin: using(hub, always(func(c proxy.Call) bool { return c.Verb != "watch" },
				proxy.Answer(unavailable("the server is currently unable to handle the request"), 0))), Lasts: Outage},
		}},
		{Group: "hub", Name: "hub says 429", Forms: []Form{
			{Name: "with Retry-After", Begin: using(hub, always(calls, proxy.Answer(busy, time.Second))), Lasts: 5 * time.Second},
		}},
		{Group: "hub", Name: "hub says 500", Forms: []Form{
			{Name: "to a tenth of all calls", Begin: using(hub, sometimes), Lasts: 5 * time.Second},
		}},
		{Group: "hub", Name: "hub says 409", Forms: []Form{
			{Name: "to the first write of every object", Begin: using(hub, firstOfEach(conflict)), Lasts: 3 * time.Second},
		}},
		{Group: "hub", Name: "hub is slow", Forms: []Form{
			{Name: "five seconds a call", Begin: using(hub, always(calls, proxy.Slow(5*time.Second))), Lasts: 10 * time.Second},
		}},
		{Group: "hub", Name: "hub cuts watches", Forms: []Form{{Name: "every second", Begin: repeatedly(cutWatches), Lasts: 5 * time.Second}}},
		{Group: "hub", Name: "hub compacts", Forms: []Form{{Name: "410 for every watch", Begin: compacted(hub), Lasts: 3 * time.Second}}},
		{Group: "hub", Name: "hub lags", Forms: []Form{{Name: "lists of before, after a restart", Begin: lags, Lasts: 4 * time.Second}}},
	}
}

// sometimes answers 500 or 503 to a share of all calls, by dice that are the same for the same Scenario.
func sometimes(s *operation.Scenario) proxy.Middleware {
	const share = 0.1
	var mutex sync.Mutex
	dice := rand.New(rand.NewPCG(uint64(len(s.ID)), s.Since["hub"]))
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			mutex.Lock()
			hit, which := dice.Float64() < share, dice.IntN(2)
			mutex.Unlock()
			if !hit || !calls(proxy.CallOf(r.Context())) {
				next.ServeHTTP(w, r)
				return
			}
			answer := []metav1.Status{internal("something went wrong"), unavailable("not now")}[which]
			proxy.WriteStatus(w, answer, 0)
		})
	}
}

func cutWatches(ctx context.Context, s *operation.Scenario) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(time.Second):
			s.Rig.Hub.Proxy.Cut()
		}
	}
}

// compacted answers every new watch that its resource version has expired, and ends the open ones so that they are opened again.
func compacted(at where) beginner {
	expired := metav1.Status{
		Status: metav1.StatusFailure, Code: http.StatusGone, Reason: metav1.StatusReasonExpired,
		Message: "too old resource version: 1 (2)",
	}
	resuming := func(c proxy.Call) bool { return c.Verb == "watch" }
	return together(using(at, func(*operation.Scenario) proxy.Middleware {
		return proxy.Only(resuming, proxy.Answer(expired, 0))
	}), func(_ context.Context, s *operation.Scenario) (mender, error) {
		at(s).Proxy.Cut()
		return func(context.Context) error { return nil }, nil
	})
}

// lags restarts the manager on a replica of the hub that does not receive later changes.
func lags(ctx context.Context, s *operation.Scenario) (mender, error) {
	old, err := s.Rig.Hub.Proxy.Revision(ctx)
	if err != nil {
		return nil, err
	}
	remove := s.Rig.Hub.Proxy.Use("matrix", proxy.StaleLists(func(proxy.Call) string { return old }))
	hold := make(chan struct{})
	free := s.Rig.Hub.Proxy.Events(func(proxy.Call, proxy.Event) proxy.Fate { return proxy.Fate{Hold: hold} })
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan error, 1)
	go func() { // after the operation has begun
		select {
		case <-time.After(300 * time.Millisecond):
		case <-ctx.Done():
		}
		done <- s.Rig.Manager.Restart()
	}()
	return func(context.Context) error {
		cancel()
		err := <-done
		remove()
		free()
		close(hold)
		s.Rig.Hub.Proxy.Cut()
		return err
	}, nil
}

func storeFaults() []Fault {
	denied := forbidden(`admission webhook "policy.example.com" denied the request: not today`)
	full := internal("etcdserver: mvcc: database space exceeded")
	ours := func(c proxy.Call) bool { return writes(c) && (c.Resource == "kymas" || c.Resource == "manifests") }
	manifests := func(c proxy.Call) bool { return writes(c) && c.Resource == "manifests" && c.Subresource == "" }
	return []Fault{
		{Group: "store", Name: "hub is full", Forms: []Form{
			{Name: "NOSPACE", Begin: using(hub, always(writes, proxy.Answer(full, 0))), Lasts: 3 * time.Second},
		}},
		{Group: "store", Name: "hub's webhook", Forms: []Form{
			{
				Name:  "denies Manifests",
				Begin: using(hub, always(manifests, proxy.Answer(denied, 0))),
				Cause: []string{v1beta2.ReasonManifestRefused}, On: []string{"install", "upgrade", "channel"},
			},
			{
				Name: "does not answer", Lasts: 3 * time.Second,
				Begin: using(hub, always(ours, proxy.Answer(internal(`Internal error occurred: failed calling webhook "policy.example.com": `+
					`failed to call webhook: context deadline exceeded`), 0))),
			},
		}},
		{Group: "store", Name: "hub's definition is older", Forms: []Form{
			{Name: "without some fields of the status", Begin: olderDefinitions, Lasts: 3 * time.Second},
		}},
	}
}

// olderDefinitions simulates a hub whose manager was updated before its definitions: fields that these do not contain are lost. An update
// of the definitions restarts the manager.
func olderDefinitions(ctx context.Context, s *operation.Scenario) (mender, error) {
	lost := map[string][]string{"kymas": {"modulesReady"}, "manifests": {"resolved"}}
	saved := map[string]apiextensionsv1.CustomResourceDefinitionSpec{}
	change := func(ctx context.Context, plural string, apply func(*apiextensionsv1.CustomResourceDefinition)) error {
		definition := &apiextensionsv1.CustomResourceDefinition{}
		key := client.ObjectKey{Name: plural + "." + v1beta2.GroupVersion.Group}
		return retry.RetryOnConflict(retry.DefaultBackoff, func() error {
			if err := s.Rig.Hub.Client.Get(ctx, key, definition); err != nil {
				return err
			}
			apply(definition)
			return s.Rig.Hub.Client.Update(ctx, definition)
		})
	}
	mend := func(ctx context.Context) error {
		var err error
		for plural, spec := range saved {
			err = errors.Join(err, change(ctx, plural, func(d *apiextensionsv1.CustomResourceDefinition) { d.Spec = spec }))
		}
		return errors.Join(err, s.Rig.Manager.Restart())
	}
	for plural, fields := range lost {
		err := change(ctx, plural, func(d *apiextensionsv1.CustomResourceDefinition) {
			saved[plural] = *d.Spec.DeepCopy()
			for i := range d.Spec.Versions {
				if d.Spec.Versions[i].Name != v1beta2.GroupVersion.Version {
					continue
				}
				known := d.Spec.Versions[i].Schema.OpenAPIV3Schema.Properties["status"].Properties
				for _, field := range fields {
					delete(known, field)
				}
			}
			for i := range d.Spec.Versions {
				d.Spec.Versions[i].AdditionalPrinterColumns = nil
			}
		})
		if err != nil {
			return nil, errors.Join(err, mend(ctx))
		}
	}
	return mend, nil
}
