package terminal

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/cli/target"
	"github.com/kyma-project/lifecycle-manager/internal/devenv/localcluster"
	"github.com/kyma-project/lifecycle-manager/tests/testkit/apiserver"
)

// scratch is removed at the end.
var scratch string

// plane is the API server that all tests share, with our kinds and without anyone who looks after them.
var (
	started *localcluster.ControlPlane
	plane   = sync.OnceValues(func() (*localcluster.ControlPlane, error) {
		var err error
		if started, err = localcluster.Start(context.Background(), localcluster.Options{Name: "terminal"}); err != nil {
			return nil, err
		}
		_, err = envtest.InstallCRDs(started.Config, envtest.CRDInstallOptions{MaxTime: time.Minute,
			Paths: []string{"../../config/crd/bases"}, ErrorIfPathMissing: true,
		})
		return started, err
	})
)

// program is the path of kyma.
var program = sync.OnceValues(func() (string, error) {
	if path := os.Getenv("KYMA_PROGRAM"); path != "" {
		return filepath.Abs(path)
	}
	path := filepath.Join(scratch, "kyma")
	build := exec.Command("go", "build", "-ldflags=-s -w", "-o", path, "github.com/kyma-project/lifecycle-manager/cmd/kyma")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("cannot build kyma: %w: %s", err, out)
	}
	return path, nil
})

func TestMain(m *testing.M) {
	log.SetLogger(logr.Discard())
	os.Exit(func() int {
		var err error
		if scratch, err = os.MkdirTemp("", "kyma-terminal-"); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		code := m.Run()
		if started != nil {
			err = started.Stop()
		}
		if err = errors.Join(err, os.RemoveAll(scratch)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return max(code, 1)
		}
		return code
	}())
}

func kymaProgram(t *testing.T) string {
	t.Helper()
	path, err := program()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// hub is a namespace of its own with a Kyma, and modules that it can have: one, two and so on.
type hub struct {
	*testing.T
	client.WithWatch
	program, kubeconfig, namespace string
}

func newHub(t *testing.T, enabled ...string) *hub {
	t.Helper()
	apiserver.Need(t)
	at, err := plane()
	if err != nil {
		t.Fatal(err)
	}
	c, err := target.Of(at.Config).Client()
	if err != nil {
		t.Fatal(err)
	}
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "terminal-"}}
	h := &hub{t, c, kymaProgram(t), at.Kubeconfig, ""}
	h.create(namespace)
	h.namespace = namespace.Name
	kyma := &v1beta2.Kyma{ObjectMeta: h.named("demo"), Spec: v1beta2.KymaSpec{Channel: "regular", Remote: new(bool)}}
	for _, module := range enabled {
		kyma.Spec.Modules = append(kyma.Spec.Modules, v1beta2.Module{Name: module})
	}
	h.create(kyma)
	return h
}

func (h *hub) create(o client.Object) {
	h.Helper()
	if err := h.Create(h.Context(), o); err != nil {
		h.Fatal(err)
	}
}

func (h *hub) named(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: h.namespace, Name: name}
}

// offers puts modules into the catalog: 1.0.0 in channel regular, 1.1.0 in channel fast. Their content is one ConfigMap of that name.
func (h *hub) offers(modules ...string) {
	h.Helper()
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: %s, namespace: %s}\n", filepath.Base(r.URL.Path), h.namespace)
	}))
	h.Cleanup(web.Close)
	for _, module := range modules {
		h.create(&v1beta2.ModuleReleaseMeta{ObjectMeta: h.named(module), Spec: v1beta2.ModuleReleaseMetaSpec{
			ModuleName: module, OCMComponentName: "example.com/module/" + module,
			Channels: []v1beta2.ChannelVersion{{Channel: "regular", Version: "1.0.0"}, {Channel: "fast", Version: "1.1.0"}},
		}})
		for _, version := range []string{"1.0.0", "1.1.0"} {
			h.create(&v1beta2.ModuleTemplate{ObjectMeta: h.named(module + "-" + version), Spec: v1beta2.ModuleTemplateSpec{
				ModuleName: module, Version: version, Resources: []v1beta2.Named{{Name: "rawManifest", Link: web.URL + "/" + module}},
			}})
		}
	}
}

func (h *hub) kyma() *v1beta2.Kyma {
	h.Helper()
	kyma := &v1beta2.Kyma{}
	if err := h.Get(h.Context(), client.ObjectKey{Namespace: h.namespace, Name: "demo"}, kyma); err != nil {
		h.Fatal(err)
	}
	return kyma
}

// says writes how modules stand, as a manager would.
func (h *hub) says(modules ...v1beta2.ModuleStatus) {
	h.Helper()
	kyma := h.kyma()
	before := kyma.DeepCopy()
	kyma.Status.ObservedGeneration = kyma.Generation
	kyma.Status.State = v1beta2.StateProcessing
	kyma.Status.Modules = modules
	if err := h.Status().Patch(h.Context(), kyma, client.MergeFrom(before)); err != nil {
		h.Fatal(err)
	}
}

// line returns a command line of kyma, for this hub.
func (h *hub) line(args ...string) []string {
	return append([]string{h.program, "--kubeconfig", h.kubeconfig, "--namespace", h.namespace}, args...)
}

// run runs a command line in the usual terminal.
func (h *hub) run(args ...string) *screen {
	h.Helper()
	return open(h.T, usual, h.line(args...)...)
}

// script runs a line of shell; "kyma" in it is the program and this hub.
func (h *hub) script(text string) *screen {
	h.Helper()
	function := fmt.Sprintf("kyma() { %q --kubeconfig %q --namespace %q \"$@\"; }\n", h.program, h.kubeconfig, h.namespace)
	return open(h.T, usual, "sh", "-c", function+text)
}
