// Package apiserver answers one question: which real API server do the tests of a package share?
//
// The first test that asks starts it, so that the others run at once without it, and so that go test notices a changed
// KUBEBUILDER_ASSETS, which it does not for what TestMain reads. Main ends it. What it refuses to do: nobody looks after what is
// created there, no workload runs; for that there is internal/provision.
package apiserver

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/kyma-project/lifecycle-manager/internal/provision"
)

var (
	environment envtest.Environment
	prepared    []func(*envtest.Environment) error
)

// Start gives the way to the API server, starting it at the first call.
var Start = sync.OnceValues(func() (*rest.Config, error) {
	environment.BinaryAssetsDirectory = os.Getenv("KUBEBUILDER_ASSETS")
	for _, prepare := range prepared {
		if err := prepare(&environment); err != nil {
			return nil, err
		}
	}
	return environment.Start()
})

// Main runs the tests of a package, for its TestMain, and ends the API server after them. What prepares it is called when it starts.
func Main(m *testing.M, prepare ...func(*envtest.Environment) error) {
	prepared = prepare
	code := m.Run()
	if environment.Config != nil {
		if err := environment.Stop(); err != nil {
			fmt.Fprintln(os.Stderr, "stop the API server:", err)
			code = max(code, 1)
		}
	}
	os.Exit(code)
}

// OurKinds prepares an API server that knows Kyma, Manifest, ModuleTemplate and ModuleReleaseMeta.
func OurKinds(environment *envtest.Environment) error {
	root, err := provision.Root()
	if err != nil {
		return err
	}
	environment.CRDDirectoryPaths = append(environment.CRDDirectoryPaths, filepath.Join(root, "config", "crd", "bases"))
	environment.ErrorIfCRDPathMissing = true
	return nil
}
