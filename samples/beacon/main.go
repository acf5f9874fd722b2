// Command beacon is the operator of the sample module beacon: for each Beacon it installs an embedded Helm chart, with values from the spec
// of the Beacon.
//
// It shows how little a module's operator needs on top of pkg/declarative: its kind (beacon.go), the installation for an object of that
// kind (installation, below), and a manager. The library keeps installed objects as declared, reports state and conditions, upgrades,
// prunes, and cleans up before the Beacon is deleted.
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

// files holds the folder "chart". Charts have files that begin with "_", hence "all:".
//
//go:embed all:chart
var files embed.FS

// chart is installed for a Beacon.
var chart = installer.Files(files, "chart")

func main() {
	// controller-runtime defines the flag -kubeconfig; without it, the pod's ServiceAccount is used.
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

// operator returns a reconciler that installs the chart for each Beacon.
func operator(version string) *declarative.Reconciler[*Beacon] {
	return &declarative.Reconciler[*Beacon]{
		Prototype: &Beacon{},
		Finalizer: "samples.kyma-project.io/beacon",
		Installation: func(_ context.Context, beacon *Beacon) (installer.Installation, error) {
			return installation(beacon, version), nil
		},
	}
}

// installation returns what to install for a Beacon. Objects that it declares are installed, and objects that it no longer declares are
// deleted.
func installation(beacon *Beacon, version string) installer.Installation {
	values := map[string]any{
		"colour": beacon.Spec.Colour, "lamps": beacon.Spec.Lamps, "flashing": beacon.Spec.Flashing, "version": version,
	}
	return installer.Installation{Sources: []installer.Source{
		{Name: "beacon", Content: chart, Renderer: helm.Renderer{}, Values: values},
	}}
}
