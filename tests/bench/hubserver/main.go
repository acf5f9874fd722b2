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
	"time"

	"github.com/go-logr/logr"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/kyma-project/lifecycle-manager/internal/devenv/localcluster"
	"github.com/kyma-project/lifecycle-manager/tests/bench/testbench"
)

// startPatience bounds the start on a busy machine.
const startPatience = 5 * time.Minute

type options struct {
	dir, manager            string
	idle, modules, runtimes int
}

func main() {
	var o options
	flag.StringVar(&o.dir, "dir", "", "existing folder for the kubeconfig and what the hub writes")
	flag.StringVar(&o.manager, "manager", "", "program of the manager, which -runtimes needs")
	flag.IntVar(&o.idle, "idle", 0, "Kymas with a status, without a manager")
	flag.IntVar(&o.modules, "modules", 5, "modules of each of them")
	flag.IntVar(&o.runtimes, "runtimes", 0, "Kymas with a simulated runtime and a manager")
	flag.Parse()
	log.SetLogger(logr.Discard()) // otherwise controller-runtime prints a stack
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	if err := run(ctx, o); err != nil {
		fmt.Fprintln(os.Stderr, "hubserver:", err)
		os.Exit(1) //nolint:gocritic // the signal handler ends with the process
	}
}

// run starts the hub, says where its kubeconfig is, and waits for the end.
func run(ctx context.Context, o options) error {
	if (o.idle > 0) == (o.runtimes > 0) || o.dir == "" {
		return errors.New("name -dir, and either -idle or -runtimes")
	}
	bench, err := testbench.Open(ctx, testbench.Options{
		Dir: o.dir, Manager: o.manager, Runtimes: o.runtimes, Simulated: o.runtimes > 0, Logs: o.dir,
	})
	if err != nil {
		return err
	}
	err = serve(ctx, bench, o)
	return errors.Join(err, bench.Close())
}

func serve(ctx context.Context, bench *testbench.Bench, o options) error {
	starting, cancel := context.WithTimeout(ctx, startPatience)
	defer cancel()
	begun := time.Now()
	var err error
	if o.idle > 0 {
		err = testbench.CreateIdleKymas(starting, bench.Hub.Client, o.idle, o.modules)
	} else {
		err = rollOut(starting, bench, o.runtimes)
	}
	if err != nil {
		return err
	}
	kubeconfig, err := localcluster.KubeconfigOf("hub", bench.Hub.Config)
	if err != nil {
		return err
	}
	file := filepath.Join(o.dir, "kubeconfig")
	if err := os.WriteFile(file, kubeconfig, 0o600); err != nil {
		return err
	}
	fmt.Fprintf(os.Stdout, "ready after %s: %s http://%s\n", time.Since(begun).Round(time.Millisecond), file, bench.Registry.Host)
	<-ctx.Done()
	return nil
}
