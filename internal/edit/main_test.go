package edit

import (
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/tests/testkit/apiserver"
)

// server is the API server that all tests of this package share, with our kinds and without anybody who looks after them. The first
// test that needs it starts it.
var server = apiserver.Start

func TestMain(m *testing.M) { apiserver.Main(m, apiserver.OurKinds) }

// connect makes a client of its own.
func connect(t *testing.T) client.WithWatch {
	t.Helper()
	config, err := server()
	if err != nil {
		t.Fatal(err)
	}
	config = rest.CopyConfig(config)
	config.QPS = -1
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, v1beta2.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	c, err := client.NewWithWatch(config, client.Options{Scheme: scheme})
	if err != nil {
		t.Fatal(err)
	}
	return c
}
