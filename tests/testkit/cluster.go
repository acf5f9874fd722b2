package testkit

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/onsi/ginkgo/v2"
	"github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apiextensions-apiserver/pkg/apihelpers"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/util/yaml"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/devenv/localcluster"
)

// fieldOwner is the field manager of tests.
const fieldOwner = client.FieldOwner("testkit")

// Cluster is a control plane with the administrator's client.
type Cluster struct {
	*localcluster.ControlPlane
	// Client reads and writes directly, without a cache.
	Client client.WithWatch
}

// Scheme returns a scheme with our API and Kubernetes' own.
func Scheme() *runtime.Scheme {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		clientgoscheme.AddToScheme, apiextensionsv1.AddToScheme, v1beta2.AddToScheme,
	} {
		if err := add(scheme); err != nil {
			panic(fmt.Sprintf("kinds that contradict each other were compiled in: %v", err))
		}
	}
	return scheme
}

func newCluster(plane *localcluster.ControlPlane) (*Cluster, error) {
	c, err := client.NewWithWatch(plane.Config, client.Options{Scheme: Scheme()})
	if err != nil {
		return nil, fmt.Errorf("cannot make a client for %s: %w", plane.Name, err)
	}
	return &Cluster{ControlPlane: plane, Client: c}, nil
}

// startHub starts a cluster with our CRDs and namespace.
func startHub(ctx context.Context, opts localcluster.Options) (*Cluster, error) {
	hub, err := startCluster(ctx, opts)
	if err != nil {
		return nil, err
	}
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: v1beta2.DefaultNamespace}}
	if err := errors.Join(hub.installCRDs(ctx), hub.Client.Create(ctx, namespace)); err != nil {
		return nil, errors.Join(fmt.Errorf("cannot prepare the hub: %w", err), hub.Stop())
	}
	return hub, nil
}

// installCRDs installs the CRDs that `make manifests` generated and waits until they are established.
func (c *Cluster) installCRDs(ctx context.Context) error {
	root, err := localcluster.Root()
	if err != nil {
		return err
	}
	options := envtest.CRDInstallOptions{
		Paths: []string{filepath.Join(root, "config", "crd", "bases")}, ErrorIfPathMissing: true, MaxTime: patience,
	}
	crds, err := envtest.InstallCRDs(c.Config, options)
	if err != nil {
		return err
	}
	for _, crd := range crds {
		live := &apiextensionsv1.CustomResourceDefinition{}
		err := wait.PollUntilContextTimeout(ctx, 20*time.Millisecond, patience, true, func(ctx context.Context) (bool, error) {
			err := c.Client.Get(ctx, client.ObjectKeyFromObject(crd), live)
			return err == nil && apihelpers.IsCRDConditionTrue(live, apiextensionsv1.Established), err
		})
		if err != nil {
			return fmt.Errorf("CRD %s is not established: %w", crd.Name, err)
		}
	}
	return nil
}

// Create creates objects, which must not exist.
func (c *Cluster) Create(objects ...client.Object) {
	ginkgo.GinkgoHelper()
	ctx, cancel := background()
	defer cancel()
	for _, object := range objects {
		gomega.Expect(c.Client.Create(ctx, object)).To(gomega.Succeed(), describe(object))
	}
}

// Apply applies objects by server-side apply as testkit, and takes fields from other managers.
func (c *Cluster) Apply(objects ...*unstructured.Unstructured) {
	ginkgo.GinkgoHelper()
	ctx, cancel := background()
	defer cancel()
	for _, object := range objects {
		config := client.ApplyConfigurationFromUnstructured(object)
		gomega.Expect(c.Client.Apply(ctx, config, client.ForceOwnership, fieldOwner)).To(gomega.Succeed(), describe(object))
	}
}

// Delete deletes objects; those that do not exist are ignored.
func (c *Cluster) Delete(objects ...client.Object) {
	ginkgo.GinkgoHelper()
	ctx, cancel := background()
	defer cancel()
	for _, object := range objects {
		gomega.Expect(client.IgnoreNotFound(c.Client.Delete(ctx, object))).To(gomega.Succeed(), describe(object))
	}
}

// Kustomize returns the objects of a kustomization of this repository, such as "config/local".
func (c *Cluster) Kustomize(path string) []*unstructured.Unstructured {
	ginkgo.GinkgoHelper()
	root, err := localcluster.Root()
	gomega.Expect(err).NotTo(gomega.HaveOccurred())
	ctx, cancel := background()
	defer cancel()
	var stderr bytes.Buffer
	build := exec.CommandContext(ctx, c.Kubectl, "kustomize", filepath.Join(root, path))
	build.Stderr = &stderr
	out, err := build.Output()
	gomega.Expect(err).NotTo(gomega.HaveOccurred(), stderr.String())
	objects, err := decode(out)
	gomega.Expect(err).NotTo(gomega.HaveOccurred())
	return objects
}

func decode(data []byte) ([]*unstructured.Unstructured, error) {
	var objects []*unstructured.Unstructured
	decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(data), 4096)
	for {
		object := &unstructured.Unstructured{}
		switch err := decoder.Decode(object); {
		case errors.Is(err, io.EOF):
			return objects, nil
		case err != nil:
			return nil, err
		case len(object.Object) > 0:
			objects = append(objects, object)
		}
	}
}

func background() (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.Background(), patience)
}

func describe(object client.Object) string {
	return fmt.Sprintf("%T %s", object, client.ObjectKeyFromObject(object))
}
