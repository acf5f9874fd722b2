//go:build unix

package playground

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/go-logr/logr"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	appslisters "k8s.io/client-go/listers/apps/v1"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"
	logf "sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/kyma-project/lifecycle-manager/internal/devenv/localcluster"
)

const (
	// operatorPatience is how long an operator may take to end; it has nothing to save.
	operatorPatience = 10 * time.Second
	// restartPause limits how often a program that fails at once is restarted.
	restartPause = time.Second
)

// operators plays the kubelet in one cluster for one container, the operator of a module. It runs the operator as a process, with the
// ServiceAccount of its Deployment, while the Deployment is available.
type operators struct {
	module      string
	cluster     *localcluster.ControlPlane
	launcher    *launcher
	program     string
	dir         string
	deployments appslisters.DeploymentLister
	accounts    corelisters.ServiceAccountLister
	changed     chan struct{}
	log         logr.Logger

	cancel context.CancelFunc
	group  sync.WaitGroup

	// Only the goroutine of run uses these.
	current *process
	runs    workload
	err     error
}

// workload describes what should run; any change of it requires a new process.
type workload struct {
	version string
	account string // UID: when a ServiceAccount was deleted and recreated, the old token is void
}

// startOperators begins to watch both clusters: a module may be installed in either.
func (p *playground) startOperators(ctx context.Context) error {
	return p.crew.StartOperators(ctx, p.options.Programs, p.folder.dir, p.hub.ControlPlane, p.runtime.ControlPlane)
}

// StartOperators plays the kubelet for the operators of sample modules in these clusters; dir gets a folder for each module.
func (c *ProcessGroup) StartOperators(ctx context.Context, programs, dir string, clusters ...*localcluster.ControlPlane) error {
	for _, module := range operatorPrograms() {
		dir := filepath.Join(dir, module)
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return err
		}
		for _, cluster := range clusters {
			helper := &operators{
				module: module, cluster: cluster, launcher: c.launcher, program: filepath.Join(programs, module), dir: dir,
				changed: make(chan struct{}, 1), log: logf.Log.WithName("operators").WithValues("cluster", cluster.Name, "module", module),
			}
			if err := helper.start(ctx); err != nil {
				return err
			}
			c.helpers = append(c.helpers, helper)
		}
	}
	return nil
}

// start watches the Deployment and the ServiceAccount until end is called.
func (o *operators) start(ctx context.Context) error {
	clients, err := kubernetes.NewForConfig(o.cluster.Config)
	if err != nil {
		return err
	}
	factory := informers.NewSharedInformerFactoryWithOptions(clients, 0, informers.WithNamespace(operatorNamespace(o.module)))
	deployments, accounts := factory.Apps().V1().Deployments(), factory.Core().V1().ServiceAccounts()
	o.deployments, o.accounts = deployments.Lister(), accounts.Lister()
	for _, informer := range []cache.SharedIndexInformer{deployments.Informer(), accounts.Informer()} {
		if _, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
			AddFunc: func(any) { o.wake() }, UpdateFunc: func(any, any) { o.wake() }, DeleteFunc: func(any) { o.wake() },
		}); err != nil {
			return err
		}
	}
	// It lives until end is called, which stops things in order.
	ctx, o.cancel = context.WithCancel(context.WithoutCancel(ctx))
	factory.Start(ctx.Done())
	o.group.Go(func() {
		defer factory.Shutdown()
		o.run(ctx)
	})
	return nil
}

// end ends the process and the watches.
func (o *operators) end() error {
	o.cancel()
	o.group.Wait()
	return o.err
}

func (o *operators) wake() {
	select {
	case o.changed <- struct{}{}:
	default: // a wake-up is pending already
	}
}

// run converges after every change, and some time after a failure.
func (o *operators) run(ctx context.Context) {
	for {
		var again <-chan time.Time
		if err := o.converge(ctx); err != nil {
			o.log.Error(err, "The operator is started again in a moment")
			again = time.After(restartPause)
		}
		select {
		case <-ctx.Done():
			o.err = o.stop()
			return
		case <-o.changed:
		case <-again:
		case <-o.ended():
			o.log.Error(o.current.failure(), "The operator is started again in a moment")
			o.current, o.runs = nil, workload{}
			time.AfterFunc(restartPause, o.wake)
			select { // other changes can wait for that long
			case <-ctx.Done():
			case <-o.changed:
			}
		}
	}
}

// ended returns a channel that is closed when the running program ends by itself; nil, which blocks for ever, when none runs.
func (o *operators) ended() <-chan struct{} {
	if o.current == nil {
		return nil
	}
	return o.current.done
}

// converge makes the running process match the desired one.
func (o *operators) converge(ctx context.Context) error {
	wanted, err := o.wanted()
	if err != nil || wanted == o.runs {
		return err
	}
	if err := o.stop(); err != nil {
		return err
	}
	if wanted == (workload{}) {
		return nil
	}
	access, err := o.cluster.ServiceAccountConfig(ctx, operatorNamespace(o.module), o.module)
	if err != nil {
		return err
	}
	kubeconfig := filepath.Join(o.dir, o.cluster.Name+".kubeconfig")
	if err := writeKubeconfig(kubeconfig, o.cluster.Name, access); err != nil {
		return err
	}
	log := filepath.Join(o.dir, o.cluster.Name+".log")
	if o.current, err = o.launcher.start(o.program, log, nil, "-kubeconfig="+kubeconfig, "-version="+wanted.version); err != nil {
		return err
	}
	o.runs = wanted
	o.log.Info("The operator runs", "version", wanted.version, "process", o.current.cmd.Process.Pid)
	return nil
}

func (o *operators) stop() error {
	if o.current == nil {
		return nil
	}
	err := o.current.end(operatorPatience)
	o.current, o.runs = nil, workload{}
	return err
}

// wanted returns the desired workload: none while the Deployment is not available. During a rollout, the running one continues.
func (o *operators) wanted() (workload, error) {
	namespace := operatorNamespace(o.module)
	deployment, err := o.deployments.Deployments(namespace).Get(o.module)
	if apierrors.IsNotFound(err) {
		return workload{}, nil
	}
	if err != nil {
		return workload{}, err
	}
	account, err := o.accounts.ServiceAccounts(namespace).Get(deployment.Spec.Template.Spec.ServiceAccountName)
	if apierrors.IsNotFound(err) {
		return workload{}, nil
	}
	if err != nil {
		return workload{}, err
	}
	if !available(deployment) {
		return workload{}, nil
	}
	if o.current != nil && !rolledOut(deployment) && string(account.UID) == o.runs.account {
		return o.runs, nil
	}
	return workload{version: imageTag(deployment), account: string(account.UID)}, nil
}

func available(deployment *appsv1.Deployment) bool {
	for _, condition := range deployment.Status.Conditions {
		if condition.Type == appsv1.DeploymentAvailable {
			return condition.Status == corev1.ConditionTrue && deployment.DeletionTimestamp.IsZero()
		}
	}
	return false
}

// rolledOut reports whether all pods are of the current template.
func rolledOut(deployment *appsv1.Deployment) bool {
	status := deployment.Status
	return status.ObservedGeneration >= deployment.Generation && status.UpdatedReplicas == status.Replicas &&
		status.AvailableReplicas == status.Replicas
}

// imageTag returns the image version of the Deployment.
func imageTag(deployment *appsv1.Deployment) string {
	_, tag, _ := strings.Cut(deployment.Spec.Template.Spec.Containers[0].Image, ":")
	return tag
}
