// Command kyma packages, signs, publishes, installs, enables and watches Kyma modules. As kubectl-kyma it is a plugin of kubectl.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/go-logr/logr"
	"github.com/spf13/cobra"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/kyma-project/lifecycle-manager/internal/cli"
	"github.com/kyma-project/lifecycle-manager/internal/cli/console"
	"github.com/kyma-project/lifecycle-manager/internal/cli/startup"
)

func main() {
	cobra.OnInitialize(startup.Done) // before the command runs: until then there is nothing to collect
	// Library logs are for operators. A command prints what matters by itself.
	klog.SetLogger(logr.Discard())
	log.SetLogger(logr.Discard())
	ctx, release := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	context.AfterFunc(ctx, release) // a second Ctrl-C ends at once
	os.Exit(cli.Run(ctx, console.Of(os.Stdin, os.Stdout, os.Stderr), os.Args[1:]))
}
