// Command run is `make faults` and `make soak`: it kills, blinds and breaks a real manager at every possible point, and records how each
// point ended. It can be interrupted and continues where it was; -slice divides the points among machines, -sample draws some of them by
// seed.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/go-logr/logr"
	logf "sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/kyma-project/lifecycle-manager/tests/faults/operation"
	"github.com/kyma-project/lifecycle-manager/tests/faults/record"
	"github.com/kyma-project/lifecycle-manager/tests/faults/rig"
)

// options are the flags.
type options struct {
	out        io.Writer
	suites     []string
	operations []operation.Operation
	choice     record.Choice
	dir        string
	program    string
	soak       time.Duration
	profiles   string // address of the manager's profiles, which only a soak reads
	forms      bool
	again      bool
	list       bool
	report     string
}

var suites = []string{"crash", "views", "matrix", "replicas"}

func main() {
	o, err := parse(os.Args[1:])
	if err == nil {
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
		logf.SetLogger(logr.Discard())
		err = run(ctx, o)
		stop()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "faults:", err)
		os.Exit(1)
	}
}

func parse(args []string) (options, error) {
	o := options{out: os.Stdout}
	flags := flag.NewFlagSet("faults", flag.ExitOnError)
	names := flags.String("suites", strings.Join(suites, ","), "what to run: crash, views, matrix, replicas, soak")
	operations := flags.String("operations", "", "which operations, separated by commas; empty means all")
	slice := flags.String("slice", "", "run only a part of the points, such as 2/5")
	only := flags.String("only", "", "run only the points whose name matches this expression")
	flags.Uint64Var(&o.choice.Seed, "seed", 1, "decides which points a sample has, which form of a fault a cell has, and which write")
	flags.IntVar(&o.choice.Sample, "sample", 0, "draw so many points of each suite by seed; 0 means all")
	flags.StringVar(&o.dir, "dir", "dist/faults", "folder for results, one file a point, and for logs")
	flags.StringVar(&o.program, "manager", "", "manager to run; empty means that of this checkout")
	flags.DurationVar(&o.soak, "duration", 2*time.Hour, "how long a soak lasts")
	flags.BoolVar(&o.forms, "forms", false, "run all forms of a fault with every operation, and strike replicas at every write, not at one")
	flags.BoolVar(&o.again, "again", false, "run points that passed before once more")
	flags.BoolVar(&o.list, "list", false, "list the cells of the matrix and what has passed, and run nothing")
	flags.StringVar(&o.report, "report", "", "write the results in the folder as tables into this page, between its markers, and run nothing")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	var err error
	if o.choice.Part, o.choice.Parts, err = record.ParseSlice(*slice); err != nil {
		return o, err
	}
	if o.choice.Only, err = regexp.Compile(*only); err != nil {
		return o, err
	}
	o.suites = strings.Split(*names, ",")
	for _, suite := range o.suites {
		if !slices.Contains(append(suites, "soak"), suite) {
			return o, fmt.Errorf("there is no suite %q", suite)
		}
	}
	var picked []string
	if *operations != "" {
		picked = strings.Split(*operations, ",")
	}
	o.operations, err = operation.Named(picked...)
	return o, err
}

func run(ctx context.Context, o options) error {
	book, err := record.Open(o.dir)
	if err != nil {
		return err
	}
	switch {
	case o.report != "":
		return writeReport(book, o.report)
	case o.list:
		return list(book, o)
	}
	if slices.Contains(o.suites, "soak") {
		if o.profiles, err = rig.FreeAddress(ctx); err != nil {
			return err
		}
	}
	return newSession(book, o).run(ctx)
}

// rigOptions put the logs beside the results, in a folder for this run: the manager's files are there too, and several runs may share the
// results.
func (o options) rigOptions() rig.Options {
	options := rig.Options{Dir: fmt.Sprintf("%s/logs/%d", o.dir, os.Getpid()), Program: o.program}
	if o.profiles != "" {
		options.Arguments = []string{"--pprof", "--pprof-bind-address=" + o.profiles}
	}
	return options
}
