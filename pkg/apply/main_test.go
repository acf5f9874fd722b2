package apply

import (
	"fmt"
	"os"
	"sync"
	"testing"

	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
)

// environment is the API server that all tests of this package share. The first test that needs it starts it: so the others run at
// once without it, and go test notices a changed KUBEBUILDER_ASSETS, which it does not for what TestMain reads.
var environment envtest.Environment

var server = sync.OnceValues(func() (*rest.Config, error) {
	environment.BinaryAssetsDirectory = os.Getenv("KUBEBUILDER_ASSETS")
	return environment.Start()
})

func TestMain(m *testing.M) {
	code := m.Run()
	if environment.Config != nil {
		if err := environment.Stop(); err != nil {
			fmt.Fprintln(os.Stderr, "stop the API server:", err)
			code = max(code, 1)
		}
	}
	os.Exit(code)
}
