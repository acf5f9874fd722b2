// Command main is the lifecycle manager: it installs the modules of Kymas into their clusters and keeps them intact.
package main

import (
	"fmt"
	"os"

	ctrl "sigs.k8s.io/controller-runtime"
	logf "sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/kyma-project/lifecycle-manager/internal/manager/setup"
)

func main() {
	config, err := setup.ParseFlags(os.Args[1:], os.Stderr)
	if setup.IsHelp(err) {
		return
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "lifecycle-manager:", err)
		os.Exit(1)
	}
	log := setup.Logger(os.Stderr, config.LogLevel)
	logf.SetLogger(log)
	hub, err := ctrl.GetConfig()
	if err != nil {
		fmt.Fprintln(os.Stderr, "lifecycle-manager: no access to a cluster: set KUBECONFIG, or run in one:", err)
		os.Exit(1)
	}
	if err := setup.Run(ctrl.SetupSignalHandler(), hub, config, log, setup.Hooks{}); err != nil {
		log.Error(err, "The manager ended")
		os.Exit(2)
	}
}
