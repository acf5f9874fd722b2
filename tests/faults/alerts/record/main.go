// Command record is `make record-alerts`: it brings about the faults of the matrix on a real manager, one after the other, and writes what
// the manager publishes meanwhile, for the tests of the alerts. With -check it also replays what it has recorded, so that a change of the
// manager or of the rules is tried on the living program.
//
// A recording that exists is left alone, unless -again; so it can be interrupted. Non-goals: it does not judge what the manager does (make
// faults does), only what it publishes.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"regexp"
	"syscall"
	"time"

	"github.com/go-logr/logr"
	"golang.org/x/sync/errgroup"
	logf "sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/kyma-project/lifecycle-manager/tests/faults/alerts"
	"github.com/kyma-project/lifecycle-manager/tests/faults/matrix"
)

// options are the flags.
type options struct {
	out      io.Writer
	dir      string
	program  string
	promtool string
	only     *regexp.Regexp
	again    bool
	parallel int
	clean    time.Duration
}

func main() {
	o, err := parse(os.Args[1:])
	if err == nil {
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
		logf.SetLogger(logr.Discard())
		err = run(ctx, o)
		stop()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "record:", err)
		os.Exit(1)
	}
}

func parse(args []string) (options, error) {
	o := options{out: os.Stdout}
	flags := flag.NewFlagSet("record", flag.ExitOnError)
	only := flags.String("only", "", "record only the faults whose name matches this expression; \"clean\" is the run without a fault")
	flags.StringVar(&o.dir, "dir", "tests/faults/alerts/testdata", "folder for the recordings, one file a fault")
	flags.StringVar(&o.program, "manager", "", "manager to run; empty means that of this checkout")
	flags.StringVar(&o.promtool, "check", "", "promtool to replay each recording with; one that rings otherwise than expected is an error")
	flags.BoolVar(&o.again, "again", false, "record again what is recorded already")
	flags.IntVar(&o.parallel, "parallel", 1, "how many faults at once, each with clusters of its own: a recording mostly waits")
	flags.DurationVar(&o.clean, "clean", 30*time.Minute, "how long the run without a fault lasts")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	if o.parallel < 1 {
		return o, errors.New("-parallel must be at least 1")
	}
	var err error
	o.only, err = regexp.Compile(*only)
	return o, err
}

// wanted returns what is to be recorded.
func (o *options) wanted() []alerts.Expectation {
	clean, _ := alerts.ExpectationOf(alerts.Clean)
	var wanted []alerts.Expectation
	for _, expected := range append(alerts.Expectations(), clean) {
		if !o.only.MatchString(expected.Fault) {
			continue
		}
		if _, err := alerts.Read(o.dir, expected.Fault); err == nil && !o.again {
			continue
		}
		wanted = append(wanted, expected)
	}
	return wanted
}

func run(ctx context.Context, o options) error {
	rules, err := alerts.ReadRules()
	if err != nil {
		return err
	}
	matrix.Pause = hold // a replica stands still for as long as the other faults last
	wanted := o.wanted()
	fmt.Fprintf(o.out, "record: %d recordings into %s, %d at once\n", len(wanted), o.dir, o.parallel)
	queue := make(chan alerts.Expectation, len(wanted))
	for _, expected := range wanted {
		queue <- expected
	}
	close(queue)
	var group errgroup.Group
	for range min(o.parallel, len(wanted)) {
		group.Go(func() error { return newSession(rules, &o).work(ctx, queue) })
	}
	return group.Wait()
}
