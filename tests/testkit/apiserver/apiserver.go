// Package apiserver provides the real API server that the tests of a package share.
//
// The first test that needs it starts it, so that the others run without it, and so that go test notices a changed KUBEBUILDER_ASSETS,
// which it does not for variables that TestMain reads. Main ends it. Objects that tests create are not cleaned up, and no workload runs;
// use internal/devenv/localcluster for that.
package apiserver

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	logf "sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/devenv/localcluster"
)

var (
	environment envtest.Environment
	prepared    []func(*envtest.Environment) error
)

// Start returns the access to the API server, which the first call starts.
var Start = sync.OnceValues(func() (*rest.Config, error) {
	// Test machines are small and shared.
	environment.ControlPlaneStartTimeout, environment.ControlPlaneStopTimeout = 3*time.Minute, 2*time.Minute
	environment.CRDInstallOptions.MaxTime = time.Minute
	environment.BinaryAssetsDirectory = os.Getenv("KUBEBUILDER_ASSETS")
	for _, prepare := range prepared {
		if err := prepare(&environment); err != nil {
			return nil, err
		}
	}
	endTurn, err := localcluster.AcquireStartSlot(context.Background())
	if err != nil {
		return nil, err
	}
	defer endTurn()
	return environment.Start()
})

// Main runs the tests of a package, for its TestMain, and ends the API server after them. The prepare functions are called before it
// starts.
func Main(m *testing.M, prepare ...func(*envtest.Environment) error) {
	prepared = prepare
	logf.SetLogger(logr.Discard()) // otherwise controller-runtime prints a stack that hides failures
	code := m.Run()
	if environment.Config != nil {
		if err := environment.Stop(); err != nil {
			fmt.Fprintln(os.Stderr, "stop the API server:", err)
			code = max(code, 1)
		}
	}
	os.Exit(code)
}

// Need skips a test when KUBEBUILDER_ASSETS is not set; in CI that is a failure, since skips go unnoticed there.
func Need(t testing.TB) {
	t.Helper()
	switch {
	case os.Getenv("KUBEBUILDER_ASSETS") != "":
	case os.Getenv("CI") != "":
		t.Fatal("KUBEBUILDER_ASSETS is not set: in CI, no test may be skipped")
	default:
		t.Skip("no control plane: KUBEBUILDER_ASSETS is not set; run \"make test\"")
	}
}

// Client returns a new client for a test: without a cache, without a rate limit, with our kinds.
func Client(t testing.TB) client.WithWatch {
	t.Helper()
	config, err := Start()
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

// Allowed waits until the API server allows a user the first action of a rule, in a namespace or, with "", everywhere: its authorizer sees
// roles and bindings a moment after they were written.
func Allowed(t testing.TB, admin client.Client, user, namespace string, rule rbacv1.PolicyRule) {
	t.Helper()
	review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
		User: user, ResourceAttributes: &authorizationv1.ResourceAttributes{
			Namespace: namespace, Verb: rule.Verbs[0], Group: rule.APIGroups[0], Resource: rule.Resources[0],
		},
	}}
	err := wait.PollUntilContextTimeout(t.Context(), 10*time.Millisecond, time.Minute, true, func(ctx context.Context) (bool, error) {
		asked := review.DeepCopy()
		err := admin.Create(ctx, asked)
		return asked.Status.Allowed, err
	})
	if err != nil {
		t.Fatalf("%s may not do what %v allows: %v", user, rule, err)
	}
}

// OurKinds prepares an API server that serves Kyma, Manifest, ModuleTemplate, ModuleReleaseMeta, ModuleRollout and KymaRelease.
func OurKinds(environment *envtest.Environment) error {
	root, err := localcluster.Root()
	if err != nil {
		return err
	}
	environment.CRDDirectoryPaths = append(environment.CRDDirectoryPaths, filepath.Join(root, "config", "crd", "bases"))
	environment.ErrorIfCRDPathMissing = true
	return nil
}
