//go:build unix

package localcluster

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
)

const (
	programControllerManager = "kube-controller-manager"
	programScheduler         = "kube-scheduler"
	programKwok              = "kwok"
	// fakeNode is the annotation that kwok selects, so that it leaves every other node and its pods alone.
	fakeNodeKey   = "kwok.x-k8s.io/node"
	fakeNodeValue = "fake"
)

// startWorkloads starts the programs that turn Deployments into ready pods and waits until a pod can be scheduled.
func (cp *ControlPlane) startWorkloads(ctx context.Context) error {
	clients, err := kubernetes.NewForConfig(cp.Config)
	if err != nil {
		return err
	}
	var children []*child
	for _, start := range []func() (*child, error){cp.startControllerManager, cp.startScheduler, cp.startKwok} {
		c, err := start()
		if err != nil {
			return err
		}
		children = append(children, c)
	}
	if _, err := clients.CoreV1().Nodes().Create(ctx, cp.node(), metav1.CreateOptions{}); err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("cannot register the node: %w", err)
	}
	var missing string
	err = wait.PollUntilContextTimeout(ctx, pollInterval, startTimeout, true, func(ctx context.Context) (bool, error) {
		if err := cp.ended(children); err != nil {
			return false, err
		}
		missing = cp.missingForPods(ctx, clients)
		return missing == "", nil
	})
	if err != nil {
		return errors.Join(fmt.Errorf("pods cannot be scheduled: %s", missing), err)
	}
	return nil
}

// missingForPods names what a pod still needs before it can be created and scheduled.
func (cp *ControlPlane) missingForPods(ctx context.Context, clients kubernetes.Interface) string {
	node, err := clients.CoreV1().Nodes().Get(ctx, cp.node().Name, metav1.GetOptions{})
	switch {
	case err != nil:
		return fmt.Sprintf("cannot read the node: %v", err)
	case !slices.ContainsFunc(node.Status.Conditions, func(c corev1.NodeCondition) bool {
		return c.Type == corev1.NodeReady && c.Status == corev1.ConditionTrue
	}):
		return "kwok has not made the node ready"
	case len(node.Spec.Taints) > 0: // Ready comes earlier than the end of the not-ready taint
		return "the node still has the taint " + node.Spec.Taints[0].Key
	}
	if _, err := clients.CoreV1().ServiceAccounts(metav1.NamespaceDefault).Get(ctx, "default", metav1.GetOptions{}); err != nil {
		return fmt.Sprintf("kube-controller-manager has not made the default ServiceAccount: %v", err)
	}
	return ""
}

func (cp *ControlPlane) node() *corev1.Node {
	name := cp.Name + "-node"
	// kwok's default resources for a node lack storage, and pods that request some would never be scheduled.
	room := corev1.ResourceList{
		corev1.ResourceCPU: resource.MustParse("1k"), corev1.ResourceMemory: resource.MustParse("1Ti"),
		corev1.ResourcePods: resource.MustParse("1M"), corev1.ResourceEphemeralStorage: resource.MustParse("1Ti"),
	}
	return &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{
			Name:        name,
			Annotations: map[string]string{fakeNodeKey: fakeNodeValue},
			Labels: map[string]string{
				corev1.LabelHostname: name, corev1.LabelOSStable: "linux", corev1.LabelArchStable: "amd64", "type": programKwok,
			},
		},
		Status: corev1.NodeStatus{Allocatable: room, Capacity: room},
	}
}

func (cp *ControlPlane) startControllerManager() (*child, error) {
	kubeconfig, err := cp.componentKubeconfig(programControllerManager, "system:kube-controller-manager")
	if err != nil {
		return nil, err
	}
	ca, err := cp.scratch.file("ca.crt", cp.Config.CAData)
	if err != nil {
		return nil, err
	}
	return cp.launch(programControllerManager, nil,
		"--kubeconfig="+kubeconfig,
		"--use-service-account-credentials=true",
		"--service-account-private-key-file="+filepath.Join(cp.plane.APIServer.CertDir, "sa-signer.key"),
		"--root-ca-file="+ca,
		"--leader-elect=false",
		"--secure-port=0",
		"--kube-api-qps=500",
		"--kube-api-burst=1000",
		// A busy machine, or one that was asleep, must not lose its only node.
		"--node-monitor-grace-period=5m",
	)
}

func (cp *ControlPlane) startScheduler() (*child, error) {
	kubeconfig, err := cp.componentKubeconfig(programScheduler, "system:kube-scheduler")
	if err != nil {
		return nil, err
	}
	return cp.launch(programScheduler, nil,
		"--kubeconfig="+kubeconfig, "--leader-elect=false", "--secure-port=0", "--kube-api-qps=500", "--kube-api-burst=1000")
}

func (cp *ControlPlane) startKwok() (*child, error) {
	kubeconfig, err := cp.componentKubeconfig(programKwok, programKwok, adminGroup)
	if err != nil {
		return nil, err
	}
	stages, err := filepath.Glob(filepath.Join(cp.assets, stagesFolder, "*.yaml"))
	if err != nil || len(stages) == 0 {
		return nil, errors.Join(fmt.Errorf("no kwok stages in %s: run hack/controlplane/build.sh", filepath.Join(cp.assets, stagesFolder)), err)
	}
	args := []string{
		"--kubeconfig=" + kubeconfig,
		"--manage-nodes-with-annotation-selector=" + fakeNodeKey + "=" + fakeNodeValue,
		"--node-lease-duration-seconds=40",
		"--cidr=10.244.0.0/16",
		"--config=" + strings.Join(stages, ","),
	}
	// kwok reads and writes its home folder unless another one is set.
	return cp.launch(programKwok, []string{"KWOK_WORKDIR=" + filepath.Join(cp.scratch.dir, "kwok-home")}, args...)
}

func (cp *ControlPlane) componentKubeconfig(program, user string, groups ...string) (string, error) {
	data, err := cp.UserKubeconfig(user, groups...)
	if err != nil {
		return "", err
	}
	return cp.scratch.file(program+".kubeconfig", data)
}
