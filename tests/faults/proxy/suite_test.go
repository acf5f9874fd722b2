package proxy

import (
	"context"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/kyma-project/lifecycle-manager/tests/testkit/apiserver"
)

// patience bounds actions that should take milliseconds.
const patience = 20 * time.Second

func TestMain(m *testing.M) { apiserver.Main(m) }

// start returns a proxy in front of the package's API server, and a client with access through the proxy only.
func start(t *testing.T) (*Proxy, kubernetes.Interface) {
	t.Helper()
	apiserver.Need(t)
	upstream, err := apiserver.Start()
	if err != nil {
		t.Fatal(err)
	}
	p, err := New(t.Context(), Options{Name: "hub", Upstream: upstream})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Close() })
	return p, clientOf(t, p.Config())
}

func clientOf(t *testing.T, config *rest.Config) kubernetes.Interface {
	t.Helper()
	config = rest.CopyConfig(config)
	config.ContentType = "application/vnd.kubernetes.protobuf"
	clients, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	return clients
}

func within(t *testing.T, limit time.Duration) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	t.Cleanup(cancel)
	return ctx
}

func configMap(name string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default"}, Data: map[string]string{"a": "1"}}
}

// eventually polls until the condition holds; the proxy records the end of a call a moment after the client has its response.
func eventually(t *testing.T, what string, so func() bool) {
	t.Helper()
	deadline := time.After(patience)
	for !so() {
		select {
		case <-deadline:
			t.Fatal("it did not come about that ", what)
		case <-time.After(5 * time.Millisecond):
		}
	}
}
