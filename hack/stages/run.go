package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"
)

// parentVariable holds the place of the stage that encloses a run of stages, so that a table shows the nesting.
const parentVariable = "STAGES_PARENT"

// stopTime is how long a target may take to end after an interrupt.
const stopTime = 30 * time.Second

// stage is a target to make. A budget of zero means none.
type stage struct {
	target string
	budget time.Duration
}

// parseStages reads steps, each with one stage or several that are made at the same time: a, a=5m, a=5m+b=3m.
func parseStages(args []string) ([][]stage, error) {
	steps := make([][]stage, 0, len(args))
	for _, arg := range args {
		var step []stage
		for part := range strings.SplitSeq(arg, "+") {
			s, err := parseStage(part)
			if err != nil {
				return nil, fmt.Errorf("%q: %w", arg, err)
			}
			step = append(step, s)
		}
		steps = append(steps, step)
	}
	if len(steps) == 0 {
		return nil, errors.New("name the targets to make, such as test-unit or test-unit=6m")
	}
	return steps, nil
}

func parseStage(text string) (stage, error) {
	target, limit, limited := strings.Cut(text, "=")
	if target == "" {
		return stage{}, errors.New("the name of a target is missing")
	}
	s := stage{target: target}
	if limited {
		budget, err := time.ParseDuration(limit)
		if err != nil || budget <= 0 {
			return stage{}, fmt.Errorf("%q is no budget: write one such as 90s or 5m", limit)
		}
		s.budget = budget
	}
	return s, nil
}

type runner struct {
	make, dir, parent string
	out               io.Writer
	// enforce makes a stage over its budget a failure.
	enforce bool
}

// indent shows in the output how many stages enclose those of this run.
func (r *runner) indent() string {
	if r.parent == "" {
		return ""
	}
	return strings.Repeat(" ", 1+strings.Count(r.parent, "."))
}

// runAll makes every stage and returns an error that names the failed ones.
func (r *runner) runAll(ctx context.Context, steps [][]stage) error {
	var failed []string
	for _, step := range steps {
		results, err := r.runStep(ctx, step)
		if err != nil {
			return err
		}
		if ctx.Err() != nil {
			return fmt.Errorf("interrupted during %s", step[0].target)
		}
		for i := range results {
			if verdict := results[i].verdict(); verdict == failedVerdict || verdict == overBudget && r.enforce {
				failed = append(failed, fmt.Sprintf("%s (%s)", results[i].Target, verdict))
			}
		}
	}
	if len(failed) > 0 {
		return errors.New(strings.Join(failed, ", "))
	}
	return nil
}

// runStep makes the stages of a step, at the same time if there are several.
func (r *runner) runStep(ctx context.Context, step []stage) ([]result, error) {
	places := make([]string, len(step))
	for i := range step {
		var err error
		if places[i], err = reserve(r.dir, r.parent); err != nil {
			return nil, err
		}
	}
	if len(step) > 1 {
		return r.runTogether(ctx, step, places)
	}
	fmt.Fprintf(r.out, "%s== %s\n", r.indent(), step[0].target)
	done, err := r.runStage(ctx, step[0], places[0], r.out)
	return []result{done}, err
}

// runTogether makes several stages at the same time. The output of each is held back until it has ended, so that it is readable.
func (r *runner) runTogether(ctx context.Context, step []stage, places []string) ([]result, error) {
	for _, s := range step {
		fmt.Fprintf(r.out, "%s== %s, beside others\n", r.indent(), s.target)
	}
	results := make([]result, len(step))
	var group errgroup.Group
	var printing sync.Mutex
	for i, s := range step {
		group.Go(func() (err error) {
			var said bytes.Buffer
			results[i], err = r.runStage(ctx, s, places[i], &said)
			printing.Lock()
			defer printing.Unlock()
			fmt.Fprintf(r.out, "%s== %s printed\n%s", r.indent(), s.target, &said)
			return err
		})
	}
	return results, group.Wait()
}

// runStage makes one target. A failed target is a result; a result that cannot be written is an error.
func (r *runner) runStage(ctx context.Context, s stage, place string, out io.Writer) (result, error) {
	cmd := exec.CommandContext(ctx, r.make, s.target)
	cmd.Stdout, cmd.Stderr = out, out
	cmd.Env = append(os.Environ(), folderVariable+"="+r.dir, parentVariable+"="+place)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = stopTime
	begin := time.Now()
	err := cmd.Run()
	done := result{
		Place: place, Target: s.target, Budget: s.budget, Began: begin, Took: time.Since(begin), Failed: err != nil,
	}
	if cmd.ProcessState != nil {
		done.CPU = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	} else {
		fmt.Fprintln(out, "stages:", err) // make itself could not be started
	}
	return done, done.write(r.dir)
}
