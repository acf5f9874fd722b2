package hubsecret

import (
	"context"
	"net/http"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/kyma-project/lifecycle-manager/tests/testkit/apiserver"
)

const moduleLabel = "operator.kyma-project.io/module-name"

// apiServer is the API server that all tests of this package share; the first test that needs it starts it.
var apiServer = apiserver.Start

func TestMain(m *testing.M) { apiserver.Main(m) }

// fixture is a manager with a real API server and its own namespace; calls counts its requests.
type fixture struct {
	*testing.T
	client.Client
	mgr       ctrl.Manager
	namespace string
	calls     atomic.Int64
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	if os.Getenv("KUBEBUILDER_ASSETS") == "" {
		if os.Getenv("CI") != "" {
			t.Fatal("KUBEBUILDER_ASSETS is not set: in CI, no test of the watched Secrets may be skipped")
		}
		t.Skip("no API server: KUBEBUILDER_ASSETS is not set; run \"make test\"")
	}
	config, err := apiServer()
	if err != nil {
		t.Fatal(err)
	}
	f := &fixture{T: t}
	counted := rest.CopyConfig(config)
	counted.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return roundTripper(func(request *http.Request) (*http.Response, error) {
			f.calls.Add(1)
			return next.RoundTrip(request)
		})
	})
	if f.Client, err = client.New(config, client.Options{}); err != nil {
		t.Fatal(err)
	}
	f.mgr, err = ctrl.NewManager(counted, ctrl.Options{Metrics: metricsserver.Options{BindAddress: "0"}, Logger: logr.Discard()})
	if err != nil {
		t.Fatal(err)
	}
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "secrets-"}}
	if err := f.Create(t.Context(), namespace); err != nil {
		t.Fatal(err)
	}
	f.namespace = namespace.Name
	return f
}

type roundTripper func(*http.Request) (*http.Response, error)

func (r roundTripper) RoundTrip(request *http.Request) (*http.Response, error) { return r(request) }

// run starts the manager, which stops with the test.
func (f *fixture) run() {
	f.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- f.mgr.Start(ctx) }()
	f.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			f.Errorf("the manager: %v", err)
		}
	})
	if !f.mgr.GetCache().WaitForCacheSync(ctx) {
		f.Fatal("no cache")
	}
}

func (f *fixture) secret(name, module, password string) *corev1.Secret {
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: f.namespace, Name: name, Labels: map[string]string{moduleLabel: module}},
		Data:       map[string][]byte{"password": []byte(password)},
	}
}

func (f *fixture) must(err error) {
	f.Helper()
	if err != nil {
		f.Fatal(err)
	}
}

// soon waits until a condition holds.
func (f *fixture) soon(what string, is func() bool) {
	f.Helper()
	err := wait.PollUntilContextTimeout(f.Context(), 5*time.Millisecond, 20*time.Second, true,
		func(context.Context) (bool, error) { return is(), nil })
	if err != nil {
		f.Fatalf("%s: %v", what, err)
	}
}

// wakes creates a controller that is enqueued by changes, passes them to look, and returns the names of its requests.
func (f *fixture) wakes(w *Watched, look func(client.Object)) <-chan string {
	f.Helper()
	names, skip := make(chan string, 100), true
	wake := handler.EnqueueRequestsFromMapFunc(func(_ context.Context, secret client.Object) []reconcile.Request {
		look(secret)
		return []reconcile.Request{{NamespacedName: client.ObjectKeyFromObject(secret)}}
	})
	f.must(ctrl.NewControllerManagedBy(f.mgr).Named("sample").WithOptions(controller.Options{SkipNameValidation: &skip}).
		WatchesRawSource(w.Source(wake)).
		Complete(reconcile.Func(func(_ context.Context, request reconcile.Request) (reconcile.Result, error) {
			names <- request.Name
			return reconcile.Result{}, nil
		})))
	return names
}

func passwordOf(secret *corev1.Secret) string {
	if secret == nil {
		return ""
	}
	return string(secret.Data["password"])
}

func TestNamed_ReturnsCurrentSecret(t *testing.T) {
	f := newFixture(t)
	named, err := NewNamed(f.mgr, f.namespace, "login")
	f.must(err)
	var told atomic.Value
	var seen sync.Map // passwords that the hook has read
	named.OnChange(func() {
		password := passwordOf(named.Get(context.Background()))
		seen.Store(password, true)
		told.Store(password)
	})
	var late atomic.Bool
	names := f.wakes(named.Watched, func(secret client.Object) {
		if _, ok := seen.Load(passwordOf(secret.(*corev1.Secret))); !ok {
			late.Store(true)
		}
	})
	f.must(f.Create(t.Context(), f.secret("other", "", "other")))
	f.run()
	if named.Get(t.Context()) != nil || named.Key() != (types.NamespacedName{Namespace: f.namespace, Name: "login"}) {
		t.Fatalf("key %s, Secret %v", named.Key(), named.Get(t.Context()))
	}
	login := f.secret("login", "", "one")
	f.must(f.Create(t.Context(), login))
	f.soon("the Secret is there", func() bool { return told.Load() == "one" })
	if first := <-names; first != "login" {
		t.Errorf("woken by %s", first)
	}
	login.Data["password"] = []byte("two")
	f.must(f.Update(t.Context(), login))
	f.soon("the Secret changed", func() bool { return told.Load() == "two" && passwordOf(named.Get(t.Context())) == "two" })
	f.must(f.Delete(t.Context(), login))
	f.soon("the Secret is gone", func() bool { return told.Load() == "" && named.Get(t.Context()) == nil })
	if last := <-names; last != "login" {
		t.Errorf("woken by %s", last)
	}
	if late.Load() {
		t.Error("a user was woken before the hook was called")
	}
}

func TestLabelled_FollowsLabel(t *testing.T) {
	f := newFixture(t)
	watched, err := Labelled(f.mgr, f.namespace, moduleLabel, "deployer")
	f.must(err)
	names := f.wakes(watched, func(client.Object) {})
	pull := f.secret("pull", "deployer", "one")
	f.must(f.Create(t.Context(), pull))
	f.must(f.Create(t.Context(), f.secret("other", "other", "other")))
	f.run()
	get := func(name string) func() *corev1.Secret {
		return func() *corev1.Secret {
			return watched.Get(t.Context(), types.NamespacedName{Namespace: f.namespace, Name: name})
		}
	}
	f.soon("the Secret is there", func() bool { return passwordOf(get("pull")()) == "one" })
	if get("other")() != nil {
		t.Error("a Secret with another label is known")
	}
	if got := <-names; got != "pull" {
		t.Errorf("woken by %s", got)
	}
	pull.Labels[moduleLabel] = "other"
	f.must(f.Update(t.Context(), pull))
	f.soon("the label is gone", func() bool { return get("pull")() == nil })
	if got := <-names; got != "pull" {
		t.Errorf("woken by %s", got)
	}
	pull.Labels[moduleLabel] = "deployer"
	f.must(f.Update(t.Context(), pull))
	f.soon("the label is back", func() bool { return get("pull")() != nil })
}

func TestWatched_GetMakesNoCall(t *testing.T) {
	f := newFixture(t)
	named, err := NewNamed(f.mgr, f.namespace, "login")
	f.must(err)
	f.must(f.Create(t.Context(), f.secret("login", "", "one")))
	f.run()
	f.soon("the Secret is there", func() bool { return named.Get(t.Context()) != nil })
	before := f.calls.Load()
	for range 1000 {
		named.Get(t.Context())
		named.Watched.Get(t.Context(), types.NamespacedName{Namespace: f.namespace, Name: "missing"})
	}
	if made := f.calls.Load() - before; made != 0 {
		t.Errorf("%d calls", made)
	}
}
