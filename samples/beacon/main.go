// Command beacon is the operator of the sample module beacon: for each Beacon it installs a Helm chart that it carries within it, with
// values from the spec of the Beacon.
//
// It shows how little a module's operator needs on top of pkg/declarative: its kind (beacon.go), what an object of that kind stands for
// (installation, below), and a manager. That what is installed stays as it should be, state and conditions, upgrades, pruning, and
// cleaning up before the Beacon goes are the library's work.
package main

import (
	"context"
	"embed"
	"flag"
	"fmt"
	"os"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/clientcmd"
	ctrl "sigs.k8s.io/controller-runtime"
	logf "sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/kyma-project/lifecycle-manager/pkg/declarative"
	"github.com/kyma-project/lifecycle-manager/pkg/installer"
	"github.com/kyma-project/lifecycle-manager/pkg/render/helm"
)

// files holds the folder "chart". Charts have files that begin with "_", so it takes "all:".
//
//go:embed all:chart
var files embed.FS

// chart is what is installed for a Beacon.
var chart = installer.Files(files, "chart")

func main() {
	// controller-runtime defines the flag -kubeconfig; without it, the pod's own account is used.
	version := flag.String("version", "unknown", "version of the module, which everything that it installs is signed with")
	flag.Parse()
	if err := run(flag.Lookup("kubeconfig").Value.String(), *version); err != nil {
		fmt.Fprintln(os.Stderr, "beacon:", err)
		os.Exit(1)
	}
}

func run(kubeconfig, version string) error {
	logf.SetLogger(zap.New())
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return fmt.Errorf("no access to a cluster, set -kubeconfig or run in one: %w", err)
	}
	scheme := runtime.NewScheme()
	addKinds(scheme)
	manager, err := ctrl.NewManager(config, ctrl.Options{Scheme: scheme, Metrics: metricsserver.Options{BindAddress: "0"}})
	if err != nil {
		return err
	}
	if err := operator(version).SetupWithManager(manager); err != nil {
		return err
	}
	return manager.Start(ctrl.SetupSignalHandler())
}

// operator installs what each Beacon asks for.
func operator(version string) *declarative.Reconciler[*Beacon] {
	return &declarative.Reconciler[*Beacon]{
		Prototype: &Beacon{},
		Finalizer: "samples.kyma-project.io/beacon",
		Installation: func(_ context.Context, beacon *Beacon) (installer.Installation, error) {
			return installation(beacon, version), nil
		},
	}
}

// installation returns what a Beacon stands for. Whatever is declared here is made so, and what no longer is goes.
func installation(beacon *Beacon, version string) installer.Installation {
	values := map[string]any{
		"colour": beacon.Spec.Colour, "lamps": beacon.Spec.Lamps, "flashing": beacon.Spec.Flashing, "version": version,
	}
	return installer.Installation{Sources: []installer.Source{
		{Name: "beacon", Content: chart, Renderer: helm.Renderer{}, Values: values},
	}}
}
