package gather

import (
	"fmt"
	"os"
	"sync"
	"testing"

	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
)

// environment is the API server that all tests of this package share, with our kinds and without anybody who looks after them. The first
// test that needs it starts it.
var environment envtest.Environment

var server = sync.OnceValues(func() (*rest.Config, error) {
	environment.BinaryAssetsDirectory = os.Getenv("KUBEBUILDER_ASSETS")
	environment.CRDDirectoryPaths = []string{"../../config/crd/bases"}
	environment.ErrorIfCRDPathMissing = true
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
