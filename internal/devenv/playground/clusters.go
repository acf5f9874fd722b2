//go:build unix

package playground

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"k8s.io/apiextensions-apiserver/pkg/apihelpers"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/devenv/localcluster"
)

const (
	hubName     = "hub"
	runtimeName = "runtime"
	// canaryName is that of the cluster that is started when a user asks for it, and of the Kyma that asks.
	canaryName = "canary"
	// fieldOwner is the field manager of the playground.
	fieldOwner = client.FieldOwner("playground")
	// patience bounds the waits for API servers. It is long because newcomers' machines are busy building, too.
	patience     = time.Minute
	pollInterval = 50 * time.Millisecond
	kustomize    = "config/playground"
)

// cluster is a control plane with the administrator's client.
type cluster struct {
	*localcluster.ControlPlane
	client client.WithWatch
}

func (p *playground) startHub(ctx context.Context) error {
	return p.progress.step(hubName, "starting a cluster for the Kymas (its node only pretends to run pods)", func() (done string, err error) {
		p.hub, err = p.startCluster(ctx, hubName)
		if err != nil {
			return "", err
		}
		// Users look for Kymas here, so kubectl uses this namespace by default.
		return "is up", useNamespace(p.hub.Kubeconfig, v1beta2.DefaultNamespace)
	})
}

func (p *playground) startRuntime(ctx context.Context) error {
	return p.progress.step(runtimeName, "starting a cluster for the modules (the same)", func() (done string, err error) {
		p.runtime, err = p.startCluster(ctx, runtimeName)
		return "is up", err
	})
}

func (p *playground) startCluster(ctx context.Context, name string) (*cluster, error) {
	plane, err := localcluster.Start(ctx, localcluster.Options{Name: name, Dir: p.folder.path(name), Assets: p.assets, Workloads: true})
	if err != nil {
		return nil, err
	}
	scheme := runtime.NewScheme()
	err = errors.Join(clientgoscheme.AddToScheme(scheme), apiextensionsv1.AddToScheme(scheme), v1beta2.AddToScheme(scheme))
	if err != nil {
		return nil, errors.Join(err, plane.Stop())
	}
	c, err := client.NewWithWatch(plane.Config, client.Options{Scheme: scheme})
	if err != nil {
		return nil, errors.Join(err, plane.Stop())
	}
	return &cluster{ControlPlane: plane, client: c}, nil
}

// stopClusters stops all at the same time.
func (p *playground) stopClusters() error {
	var group sync.WaitGroup
	errs := make([]error, 3)
	for i, c := range []*cluster{p.hub, p.runtime, p.canary} {
		if c != nil {
			group.Go(func() { errs[i] = c.Stop() })
		}
	}
	group.Wait()
	return errors.Join(errs...)
}

// useNamespace changes the namespace of a kubeconfig's context.
func useNamespace(kubeconfig, namespace string) error {
	config, err := clientcmd.LoadFromFile(kubeconfig)
	if err != nil {
		return err
	}
	for _, c := range config.Contexts {
		c.Namespace = namespace
	}
	return clientcmd.WriteToFile(*config, kubeconfig)
}

// prepareHub installs what a deployment would, except for the manager's pod.
func (p *playground) prepareHub(ctx context.Context) error {
	doing := "installing the CRDs and the manager's rights from " + kustomize
	return p.progress.step(hubName, doing, func() (string, error) {
		objects, err := p.deployment(ctx)
		if err != nil {
			return "", err
		}
		if err := p.hub.apply(ctx, objects...); err != nil {
			return "", err
		}
		return "knows Kyma, ModuleTemplate, ModuleReleaseMeta, ModuleRollout and Manifest", p.hub.awaitCRDs(ctx, objects)
	})
}

// deployment returns the objects of the kustomization that are relevant without a pod.
func (p *playground) deployment(ctx context.Context) ([]*unstructured.Unstructured, error) {
	var out, stderr bytes.Buffer
	build := exec.CommandContext(ctx, p.hub.Kubectl, "kustomize", filepath.Join(p.root, filepath.FromSlash(kustomize)))
	build.Stdout, build.Stderr = &out, &stderr
	if err := build.Run(); err != nil {
		return nil, fmt.Errorf("kubectl kustomize %s: %w: %s", kustomize, err, strings.TrimSpace(stderr.String()))
	}
	all, err := decode(out.Bytes())
	if err != nil {
		return nil, fmt.Errorf("kubectl kustomize %s: %w", kustomize, err)
	}
	return WithoutPods(all), nil
}

// apply applies objects in their order.
func (c *cluster) apply(ctx context.Context, objects ...*unstructured.Unstructured) error {
	for _, object := range objects {
		config := client.ApplyConfigurationFromUnstructured(object)
		if err := c.client.Apply(ctx, config, client.ForceOwnership, fieldOwner); err != nil {
			return fmt.Errorf("cannot apply %s %s: %w", object.GetKind(), object.GetName(), err)
		}
	}
	return nil
}

// awaitCRDs waits until the API server serves the definitions among the objects.
func (c *cluster) awaitCRDs(ctx context.Context, objects []*unstructured.Unstructured) error {
	for _, object := range objects {
		if object.GroupVersionKind().Group != apiextensionsv1.GroupName {
			continue
		}
		crd := &apiextensionsv1.CustomResourceDefinition{}
		err := wait.PollUntilContextTimeout(ctx, pollInterval, patience, true, func(ctx context.Context) (bool, error) {
			err := c.client.Get(ctx, client.ObjectKeyFromObject(object), crd)
			return err == nil && apihelpers.IsCRDConditionTrue(crd, apiextensionsv1.Established), err
		})
		if err != nil {
			return fmt.Errorf("the API server does not serve %s: %w", object.GetName(), err)
		}
	}
	return nil
}
