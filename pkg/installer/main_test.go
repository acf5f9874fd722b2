package installer

import (
	"flag"
	"fmt"
	"os"
	"sync"
	"testing"

	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
)

// environment is the API server that all tests and examples of this package share. The first that needs it starts it.
var environment envtest.Environment

var server = sync.OnceValues(func() (*rest.Config, error) {
	environment.BinaryAssetsDirectory = os.Getenv("KUBEBUILDER_ASSETS")
	return environment.Start()
})

// ServerOfExamples returns the API server for the examples, which are in another package.
func ServerOfExamples() *rest.Config {
	config, err := server()
	if err != nil {
		panic(err)
	}
	return config
}

func TestMain(m *testing.M) {
	flag.Parse()
	if os.Getenv("KUBEBUILDER_ASSETS") == "" { // an example cannot skip itself
		if err := flag.Set("test.skip", "^Example"); err != nil {
			panic(err)
		}
	}
	code := m.Run()
	if environment.Config != nil {
		if err := environment.Stop(); err != nil {
			fmt.Fprintln(os.Stderr, "stop the API server:", err)
			code = max(code, 1)
		}
	}
	os.Exit(code)
}
