// Command stages makes the given targets of the Makefile one after another and prints how long each took, how much processor time it used,
// the slowest tests and set-ups among them, and the tests that failed.
//
// A target is written name or name=budget, such as test-unit=6m; targets joined by + are made at the same time. Every target is made, even
// after others failed: one run shows everything that is wrong. Where CI is set, a target that exceeds its budget fails the run after the
// rest was made; elsewhere the table only shows it, because a budget is meant for a known machine.
//
// Targets that run stages themselves share one record, so that the outermost run prints one table. Tests are read from the JUnit files that
// the targets write into the folder $STAGES_DIR (dist/stages). Non-goals: it neither chooses nor orders targets, and keeps no history.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
)

// folderVariable names the folder of the record and of the JUnit files; it is set for everything that a run starts.
const folderVariable = "STAGES_DIR"

// slowest is how many tests and set-ups the report shows.
const slowest = 40

func main() { os.Exit(runCommand()) }

// runCommand runs the command line until it is interrupted, and returns the exit code.
func runCommand() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "stages:", err)
		return 1
	}
	return 0
}

func run(ctx context.Context, args []string, out io.Writer) error {
	flags := flag.NewFlagSet("stages", flag.ExitOnError)
	maker := flags.String("make", "make", "the program that makes a target")
	if err := flags.Parse(args); err != nil {
		return err
	}
	steps, err := parseStages(flags.Args())
	if err != nil {
		return err
	}
	dir, outermost, err := openFolder()
	if err != nil {
		return err
	}
	r := runner{make: *maker, dir: dir, parent: os.Getenv(parentVariable), out: out, enforce: os.Getenv("CI") != ""}
	failed := r.runAll(ctx, steps)
	if outermost {
		if err := report(dir, out); err != nil {
			return err
		}
	}
	return failed
}

// openFolder returns the folder of this run and whether this run is the outermost, which starts with an empty folder.
func openFolder() (dir string, outermost bool, err error) {
	if dir = os.Getenv(folderVariable); dir != "" {
		return dir, false, nil
	}
	if dir, err = filepath.Abs(filepath.Join("dist", "stages")); err != nil {
		return "", false, err
	}
	if err := os.RemoveAll(dir); err != nil {
		return "", false, err
	}
	return dir, true, os.MkdirAll(dir, 0o750)
}

// report prints the slowest tests, the table of all stages and the failed tests of the run in the given folder.
func report(dir string, out io.Writer) error {
	results, err := readRecord(dir)
	if err != nil {
		return err
	}
	tests, err := readTests(dir)
	if err != nil {
		return err
	}
	printTests(out, slowestOf(tests, slowest))
	printStages(out, results)
	printFailures(out, failedOf(tests))
	return nil
}
