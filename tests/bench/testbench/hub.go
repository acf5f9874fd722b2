package testbench

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/yaml"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/devenv/localcluster"
)

const (
	// managerAccount is who the manager is on the hub when config/default deploys it.
	managerAccount = "klm-controller-manager"
	// fieldOwner is who a bench is to API servers.
	fieldOwner = client.FieldOwner("bench")
)

// Hub is a real API server with our kinds and the manager's rights.
type Hub struct {
	// Config is the administrator's, Access that of the manager's ServiceAccount. Neither has a rate limit.
	Config, Access *rest.Config
	// Client reads and writes as administrator, without a cache.
	Client client.WithWatch

	plane *localcluster.ControlPlane
	audit *audit
}

// Scheme knows our kinds and Kubernetes' own.
func Scheme() *runtime.Scheme {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, apiextensionsv1.AddToScheme, v1beta2.AddToScheme} {
		if err := add(scheme); err != nil {
			panic(fmt.Sprintf("kinds that contradict each other were compiled in: %v", err))
		}
	}
	return scheme
}

// openHub starts the hub. Only what the manager says is audited.
func openHub(ctx context.Context, assets, dir string) (*Hub, error) {
	user := "system:serviceaccount:" + v1beta2.DefaultNamespace + ":" + managerAccount
	audit, flags, err := newAudit(filepath.Join(dir, "hub"), user)
	if err != nil {
		return nil, err
	}
	plane, err := localcluster.Start(ctx, localcluster.Options{Name: "hub", Assets: assets, APIServer: flags})
	if err != nil {
		return nil, err
	}
	hub := &Hub{Config: plane.Config, plane: plane, audit: audit}
	if err := hub.prepare(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("cannot prepare the hub: %w", err), plane.Stop())
	}
	return hub, nil
}

func (h *Hub) prepare(ctx context.Context) (err error) {
	if h.Client, err = client.NewWithWatch(h.Config, client.Options{Scheme: Scheme()}); err != nil {
		return err
	}
	root, err := localcluster.Root()
	if err != nil {
		return err
	}
	crds := envtest.CRDInstallOptions{
		Paths: []string{filepath.Join(root, "config", "crd", "bases")}, ErrorIfPathMissing: true, MaxTime: time.Minute,
	}
	if _, err := envtest.InstallCRDs(h.Config, crds); err != nil {
		return err
	}
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: v1beta2.DefaultNamespace}}
	if err := h.Client.Create(ctx, namespace); err != nil {
		return err
	}
	if err := h.giveRights(ctx, root); err != nil {
		return err
	}
	h.Access, err = h.plane.ServiceAccountConfig(ctx, v1beta2.DefaultNamespace, managerAccount)
	return err
}

// giveRights applies the ServiceAccount and the rights of config/default.
func (h *Hub) giveRights(ctx context.Context, root string) error {
	var stderr bytes.Buffer
	build := exec.CommandContext(ctx, h.plane.Kubectl, "kustomize", filepath.Join(root, "config", "default"))
	build.Stderr = &stderr
	out, err := build.Output()
	if err != nil {
		return fmt.Errorf("%w: %s", err, stderr.String())
	}
	decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(out), 4096)
	for {
		object := &unstructured.Unstructured{}
		if err := decoder.Decode(object); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		if object.GroupVersionKind().Group != rbacv1.GroupName && object.GetKind() != "ServiceAccount" {
			continue
		}
		if err := h.Client.Apply(ctx, client.ApplyConfigurationFromUnstructured(object), fieldOwner, client.ForceOwnership); err != nil {
			return err
		}
	}
}

// AccessKubeconfig returns Access as a kubeconfig.
func (h *Hub) AccessKubeconfig() ([]byte, error) { return localcluster.KubeconfigOf("hub", h.Access) }

// Log returns the folder with the logs of API server and etcd.
func (h *Hub) Log() string { return filepath.Join(h.plane.Dir, "logs") }
