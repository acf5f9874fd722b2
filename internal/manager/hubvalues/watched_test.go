package hubvalues

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/tests/testkit/apiserver"
)

func TestMain(m *testing.M) { apiserver.Main(m) }

func TestWatched_ReadsLabelledObjectsAndTellsTheirChanges(t *testing.T) {
	if os.Getenv("KUBEBUILDER_ASSETS") == "" {
		if os.Getenv("CI") != "" {
			t.Fatal("KUBEBUILDER_ASSETS is not set: in CI, no test of the watched values may be skipped")
		}
		t.Skip("no API server: KUBEBUILDER_ASSETS is not set; run \"make test\"")
	}
	config, err := apiserver.Start()
	must(t, err)
	hub, err := client.New(config, client.Options{})
	must(t, err)
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "values-"}}
	must(t, hub.Create(t.Context(), namespace))
	mgr, err := ctrl.NewManager(config, ctrl.Options{Metrics: metricsserver.Options{BindAddress: "0"}, Logger: logr.Discard()})
	must(t, err)
	watched, err := Watch(t.Context(), mgr, namespace.Name)
	must(t, err)
	if !watched.ConfigMaps() {
		t.Fatal("ConfigMaps are not watched")
	}
	names, skip := make(chan string, 100), true
	must(t, ctrl.NewControllerManagedBy(mgr).Named("values").WithOptions(controller.Options{SkipNameValidation: &skip}).
		WatchesRawSource(watched.Source(&handler.EnqueueRequestForObject{})).
		Complete(reconcile.Func(func(_ context.Context, request reconcile.Request) (reconcile.Result, error) {
			names <- request.Name
			return reconcile.Result{}, nil
		})))
	run(t, mgr)

	meta := metav1.ObjectMeta{Namespace: namespace.Name, Name: "a", Labels: map[string]string{v1beta2.LabelValues: v1beta2.EnabledValue}}
	unlabelled := metav1.ObjectMeta{Namespace: namespace.Name, Name: "other"}
	secret := &corev1.Secret{ObjectMeta: *meta.DeepCopy(), StringData: map[string]string{v1beta2.DefaultValuesKey: "b: c\n"}}
	configMap := &corev1.ConfigMap{
		ObjectMeta: *meta.DeepCopy(), Data: map[string]string{"text": "d: e\n"}, BinaryData: map[string][]byte{"bytes": []byte("f: g\n")},
	}
	must(t, hub.Create(t.Context(), &corev1.Secret{ObjectMeta: unlabelled}))
	must(t, hub.Create(t.Context(), secret))
	must(t, hub.Create(t.Context(), configMap))
	text := func(kind v1beta2.ValuesKind, name, key string) (string, string) {
		found, problem := watched.Text(t.Context(), namespace.Name, v1beta2.ValuesReference{Kind: kind, Name: name, Key: key})
		return string(found), problem
	}
	holds := func(kind v1beta2.ValuesKind, key, want string) {
		t.Helper()
		soon(t, func() bool { found, _ := text(kind, "a", key); return found == want })
	}
	holds(v1beta2.ValuesSecret, "", "b: c\n")
	holds(v1beta2.ValuesConfigMap, "text", "d: e\n")
	holds(v1beta2.ValuesConfigMap, "bytes", "f: g\n")
	if first := <-names; first != "a" {
		t.Errorf("enqueued %s", first)
	}
	for _, test := range []struct {
		kind            v1beta2.ValuesKind
		name, key, want string
	}{
		{v1beta2.ValuesSecret, "other", "", "there is none with the label"},
		{v1beta2.ValuesConfigMap, "none", "", "there is none with the label"},
		{v1beta2.ValuesSecret, "a", "nope", "has no key nope"},
		{"Pod", "a", "", "Secrets and ConfigMaps only"},
	} {
		if _, problem := text(test.kind, test.name, test.key); !strings.Contains(problem, test.want) {
			t.Errorf("%s %s: %q, want %q", test.kind, test.name, problem, test.want)
		}
	}

	secret.Data = map[string][]byte{v1beta2.DefaultValuesKey: []byte("b: d\n")}
	must(t, hub.Update(t.Context(), secret))
	holds(v1beta2.ValuesSecret, "", "b: d\n")
	must(t, hub.Delete(t.Context(), secret))
	soon(t, func() bool { _, problem := text(v1beta2.ValuesSecret, "a", ""); return problem != "" })

	watched.configMaps = false
	if _, problem := text(v1beta2.ValuesConfigMap, "a", "text"); !strings.Contains(problem, "may not watch ConfigMaps") {
		t.Errorf("without the right: %q", problem)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// soon waits until a condition holds.
func soon(t *testing.T, is func() bool) {
	t.Helper()
	err := wait.PollUntilContextTimeout(t.Context(), 5*time.Millisecond, time.Minute, true,
		func(context.Context) (bool, error) { return is(), nil })
	must(t, err)
}

// run starts the manager, which stops with the test.
func run(t *testing.T, mgr ctrl.Manager) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- mgr.Start(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("the manager: %v", err)
		}
	})
	if !mgr.GetCache().WaitForCacheSync(ctx) {
		t.Fatal("no cache")
	}
}
