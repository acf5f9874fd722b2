// Command playground shows the lifecycle manager at work on this machine; `make run` builds and starts it.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/kyma-project/lifecycle-manager/internal/devenv/playground"
)

const usage = `Usage: make run, or bin/playground [flags]

Shows the lifecycle manager at work on this machine. It starts two clusters (one for the Kymas, one for the modules, neither runs
containers), an OCI registry with sample modules and the manager, creates two Kymas, waits until they are Ready, serves the
dashboard, and says what there is and what to try. Ctrl-C ends all of it. It listens on loopback only; every run starts from nothing.
A third cluster, for a rollout to try, is started when there is a Kyma for it.

The programs manager, kyma, beacon and greeter are looked for beside this one. The control plane programs come from KUBEBUILDER_ASSETS, or
are built by hack/controlplane/build.sh, which takes about ten minutes the first time.

Flags:
`

func main() {
	options, err := parse(os.Args[1:])
	switch {
	case errors.Is(err, flag.ErrHelp):
		return
	case err != nil:
		os.Exit(2) // package flag has printed the error
	}
	ctx, release := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	context.AfterFunc(ctx, release) // a second Ctrl-C ends the playground at once, with everything that it started
	if playground.Run(ctx, options, os.Stdout) != nil {
		os.Exit(1) // it has printed the error
	}
}

func parse(args []string) (playground.Options, error) {
	var options playground.Options
	set := flag.NewFlagSet("playground", flag.ContinueOnError)
	set.Usage = func() {
		fmt.Fprint(set.Output(), usage)
		set.PrintDefaults()
	}
	set.StringVar(&options.Dir, "dir", "",
		"`folder` for state and logs, one numbered folder inside for each playground (default .playground in the checkout)")
	if err := set.Parse(args); err != nil {
		return options, err
	}
	if set.NArg() > 0 {
		fmt.Fprintf(set.Output(), "unexpected argument %q, see --help\n", set.Arg(0))
		return options, errors.New("unexpected argument")
	}
	self, err := os.Executable()
	if err != nil {
		fmt.Fprintln(set.Output(), "cannot find the folder of this program:", err)
		return options, err
	}
	options.Programs = filepath.Dir(self)
	options.Dashboard = serveDashboard
	return options, nil
}
