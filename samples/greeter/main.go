// Command greeter is the operator of the sample module greeter: for each Greeter it keeps a ConfigMap with a greeting.
//
// It does what a module's operator should do: it reports in status.state and in conditions, it reverts changes, and it keeps a finalizer on
// its custom resource until it has cleaned up, which is why a lifecycle manager must delete the custom resource first and the operator
// last.
package main

import (
	"flag"
	"fmt"
	"os"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/clientcmd"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	logf "sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

func main() {
	// controller-runtime defines the flag -kubeconfig; without it, the pod's ServiceAccount is used.
	version := flag.String("version", "unknown", "version of the module, which greetings are signed with")
	flag.Parse()
	if err := run(flag.Lookup("kubeconfig").Value.String(), *version); err != nil {
		fmt.Fprintln(os.Stderr, "greeter:", err)
		os.Exit(1)
	}
}

func run(kubeconfig, version string) error {
	logf.SetLogger(zap.New())
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return fmt.Errorf("no access to a cluster, set -kubeconfig or run in one: %w", err)
	}
	manager, err := ctrl.NewManager(config, ctrl.Options{
		Scheme:  clientgoscheme.Scheme,
		Metrics: metricsserver.Options{BindAddress: "0"},
		// Other ConfigMaps are not relevant here, and may be many.
		Cache: cache.Options{ByObject: map[client.Object]cache.ByObject{
			&corev1.ConfigMap{}: {Label: labels.SelectorFromSet(marks)},
		}},
	})
	if err != nil {
		return err
	}
	reconciler := &Reconciler{Client: manager.GetClient(), Version: version}
	err = ctrl.NewControllerManagedBy(manager).Named("greeter").For(newGreeter()).Owns(&corev1.ConfigMap{}).Complete(reconciler)
	if err != nil {
		return err
	}
	return manager.Start(ctrl.SetupSignalHandler())
}
