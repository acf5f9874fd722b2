// Program run answers: how fast, how large and how quiet is the manager on this machine? `make bench` starts it.
//
// It builds the manager, plays the workloads that are requested, prints every figure with its bound, keeps the results in a folder and
// makes docs/benchmarks.md and its pictures of them. With -smoke it is a test, and refuses to end well when a counted figure misses its
// bound. Times depend on the machine: one that misses its bound is told and no failure.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/kyma-project/lifecycle-manager/internal/devenv/localcluster"
	"github.com/kyma-project/lifecycle-manager/tests/bench/bare"
	"github.com/kyma-project/lifecycle-manager/tests/bench/records"
	"github.com/kyma-project/lifecycle-manager/tests/bench/report"
	"github.com/kyma-project/lifecycle-manager/tests/bench/testbench"
	"github.com/kyma-project/lifecycle-manager/tests/bench/workload"
)

// kubernetes is the version of the API servers; hack/controlplane/go.mod says so.
const kubernetes = "1.36.3"

func main() {
	bare.Answer()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stdout)
	stop()
	if errors.Is(err, flag.ErrHelp) {
		return
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// options are the flags.
type options struct {
	bench, results, manager, logs, profiles string
	smoke, publish, list                    bool
	settings                                workload.Settings
}

func run(ctx context.Context, args []string, out io.Writer) error {
	// What client-go and controller-runtime say of what a bench does to servers is not for its reader.
	klog.SetLogger(logr.Discard())
	ctrl.SetLogger(logr.Discard())
	o, err := parse(args, out)
	if err != nil {
		return err
	}
	root, err := localcluster.Root()
	if err != nil {
		return err
	}
	if o.list {
		return list(out)
	}
	chosen, err := workload.Choose(o.bench)
	if o.smoke {
		chosen, err = workload.Smoke(&o.settings)
	}
	if err != nil {
		return err
	}
	set, played := play(ctx, o, root, chosen, out)
	fmt.Fprint(out, "\n"+report.Table(set))
	if played != nil {
		return played
	}
	if missed := workload.Missed(set); len(missed) > 0 && o.smoke {
		return fmt.Errorf("counted figures miss their bounds:\n%s", strings.Join(missed, "\n"))
	}
	return publish(o, root)
}

// play runs the workloads in a folder of their own, and returns what they gave.
func play(ctx context.Context, o options, root string, chosen []workload.Workload, out io.Writer) (set report.Set, err error) {
	dir, err := os.MkdirTemp("", "bench-")
	if err != nil {
		return set, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	for _, folder := range []string{o.profiles, o.logs} {
		if folder == "" {
			continue
		}
		if err := os.MkdirAll(folder, 0o750); err != nil {
			return set, err
		}
	}
	begun := time.Now()
	b := &workload.Bench{
		Settings: o.settings, Dir: dir, Manager: o.manager, Logs: o.logs, Profiles: o.profiles, Machine: records.Machine(ctx, root, kubernetes),
	}
	b.Logf = func(format string, args ...any) {
		fmt.Fprintf(out, "%5.0fs  %s\n", time.Since(begun).Seconds(), fmt.Sprintf(format, args...))
	}
	b.Keep = func(newer report.Set) error {
		set = report.Merge(set, newer)
		if o.results == "" {
			return nil
		}
		return records.Keep(o.results, newer)
	}
	if b.Manager == "" {
		if b.Manager, err = testbench.BuildManager(ctx, dir); err != nil {
			return set, err
		}
	}
	return set, b.Play(ctx, chosen)
}

// publish makes the page and the pictures of everything that the folder of results has.
func publish(o options, root string) error {
	if !o.publish || o.results == "" {
		return nil
	}
	all, err := records.All(o.results)
	if err != nil {
		return err
	}
	return records.Publish(root, all)
}

func list(out io.Writer) error {
	for _, w := range workload.All() {
		if _, err := fmt.Fprintf(out, "%-8s %s\n", w.Name, w.Title); err != nil {
			return err
		}
	}
	return nil
}

func parse(args []string, out io.Writer) (options, error) {
	o := options{settings: workload.Defaults()}
	set := flag.NewFlagSet("bench", flag.ContinueOnError)
	set.SetOutput(out)
	set.StringVar(&o.bench, "bench", "", "workloads, separated by commas; all of them when empty")
	set.BoolVar(&o.list, "list", false, "only list the workloads")
	set.BoolVar(&o.smoke, "smoke", false, "a short run that fails when a counted figure misses its bound")
	set.StringVar(&o.results, "results", "", "folder that keeps the results, one file for each workload; a run adds to what is there")
	set.BoolVar(&o.publish, "publish", false, "make docs/benchmarks.md and its pictures of all that the folder of results has")
	set.StringVar(&o.manager, "manager", "", "the manager's program; built when empty")
	set.StringVar(&o.logs, "logs", "", "folder that keeps the manager's logs")
	set.StringVar(&o.profiles, "profiles", "",
		"folder that gets processor profiles of the manager and the hub, of the workloads that have many Kymas")
	bindSizes(set, &o.settings)
	if err := set.Parse(args); err != nil {
		return o, err
	}
	if set.NArg() > 0 {
		return o, fmt.Errorf("unexpected argument %q", set.Arg(0))
	}
	o.settings.Command = command(set)
	var err error
	if o.results != "" {
		o.results, err = filepath.Abs(o.results)
	}
	return o, err
}

func bindSizes(set *flag.FlagSet, s *workload.Settings) {
	set.Var((*numbers)(&s.Kymas), "k", "sizes of the fleet, separated by commas")
	set.IntVar(&s.Modules, "m", s.Modules, "modules of each Kyma")
	set.IntVar(&s.Objects, "r", s.Objects, "objects of each module")
	set.DurationVar(&s.Idle, "idle", s.Idle, "how long rest is watched")
	set.Var((*numbers)(&s.Singles), "singles", "objects of the modules that are installed one by one")
	set.IntVar(&s.Runs, "runs", s.Runs, "how often a single installation is repeated")
	set.IntVar(&s.Processors, "processors", s.Processors, "GOMAXPROCS of the manager; 0 leaves it alone")
	set.Var((*numbers)(&s.Curve.Kymas), "curve-k", "Kymas of the points of the first curve")
	set.Var((*numbers)(&s.Curve.Modules), "curve-m", "modules of the points of the second curve")
	set.Var((*numbers)(&s.Curve.Objects), "curve-r", "objects of the points of the third curve")
	set.Var(&words{"flag", &s.Flags}, "flag", "a further flag of the manager; may be repeated")
	set.Var(&words{"env", &s.Env}, "env", "a variable of the manager's environment, GOMEMLIMIT=2500MiB; may be repeated")
}

// numbers is a list of numbers above zero, written with commas.
type numbers []int

// String writes the list.
func (n *numbers) String() string {
	if n == nil {
		return ""
	}
	return strings.Trim(strings.ReplaceAll(fmt.Sprint(*n), " ", ","), "[]")
}

// Set reads a list.
func (n *numbers) Set(text string) error {
	var list []int
	for part := range strings.SplitSeq(text, ",") {
		number, err := strconv.Atoi(strings.TrimSpace(part))
		if err != nil || number < 1 {
			return fmt.Errorf("%q is no number above zero", part)
		}
		list = append(list, number)
	}
	*n = list
	return nil
}

// words is a list that grows with every use of its flag.
type words struct {
	flag string
	list *[]string
}

// String writes the list as the values of the repeated flag.
func (w *words) String() string {
	if w == nil || w.list == nil {
		return ""
	}
	return strings.Join(*w.list, " -"+w.flag+"=")
}

// Set adds to the list.
func (w *words) Set(text string) error {
	*w.list = append(*w.list, text)
	return nil
}

// variables are those of make, by flag.
var variables = map[string]string{
	"bench": "BENCH", "k": "K", "m": "M", "r": "R", "idle": "IDLE", "runs": "RUNS",
}

// command returns how a run is repeated by make.
func command(set *flag.FlagSet) string {
	text, rest := "make bench", ""
	set.Visit(func(f *flag.Flag) {
		value := f.Value.String()
		switch name, known := variables[f.Name]; {
		case f.Name == "smoke":
			text = "make bench-smoke"
		case f.Name == "results" || f.Name == "publish" || f.Name == "manager" || f.Name == "logs" || f.Name == "profiles":
		case known:
			text += " " + name + "=" + value
		default:
			rest += " -" + f.Name + "=" + value
		}
	})
	if rest != "" {
		text += " BENCHARGS='" + strings.TrimSpace(rest) + "'"
	}
	return text
}
