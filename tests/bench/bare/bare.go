package bare

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"time"
)

// variable tells a program that it is the loop.
const variable = "BENCH_BARE_LOOP"

// Mode is what the loop does with each object.
type Mode string

const (
	// Apply creates or changes objects by server-side apply; the same objects again are applied without effect.
	Apply Mode = "apply"
	// List reads the metadata of all ConfigMaps once for each unit.
	List Mode = "list"
)

// Spec is what the loop is to do. A unit is one module of one runtime.
type Spec struct {
	Mode Mode `json:"mode"`
	// Kubeconfigs are the runtimes; each gets all Modules, which are lists of objects as YAML.
	Kubeconfigs [][]byte `json:"kubeconfigs"`
	Modules     [][]byte `json:"modules"`
	// Units is how many are worked on at once, Workers how many writes of each.
	Units   int `json:"units"`
	Workers int `json:"workers"`
	// Rounds is how often everything is done; 0 means once.
	Rounds int `json:"rounds,omitempty"`
}

// Outcome is what it came to.
type Outcome struct {
	// Calls are those to runtimes, HubWrites those to the hub beside them.
	Calls     int           `json:"calls"`
	HubWrites int           `json:"hubWrites,omitempty"`
	Took      time.Duration `json:"took"`
	// CPU is the processor time of the loop alone, the start of its process not included.
	CPU time.Duration `json:"cpu"`
	// P50 and P99 are those of single calls, in milliseconds.
	P50 float64 `json:"p50"`
	P99 float64 `json:"p99"`
}

// Rate is calls per second.
func (o Outcome) Rate() float64 { return float64(o.Calls) / o.Took.Seconds() }

// CPUPerCall is in milliseconds.
func (o Outcome) CPUPerCall() float64 { return o.CPU.Seconds() * 1000 / float64(o.Calls) }

// Answer makes a program the loop when Run started it for that, and does not return then. Call it first in main, or in TestMain.
func Answer() {
	if os.Getenv(variable) == "" {
		return
	}
	if err := answer(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// order is what a process is started for: one of the two loops.
type order struct {
	Loop      *Spec      `json:"loop,omitempty"`
	Necessary *Necessary `json:"necessary,omitempty"`
}

func answer() error {
	var o order
	if err := json.NewDecoder(os.Stdin).Decode(&o); err != nil {
		return err
	}
	outcomes, err := o.run(context.Background())
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(outcomes)
}

// run returns what each step of the loop came to.
func (o order) run(ctx context.Context) ([]Outcome, error) {
	if o.Necessary != nil {
		return necessary(ctx, *o.Necessary)
	}
	outcome, err := loop(ctx, *o.Loop)
	return []Outcome{outcome}, err
}

// Run runs the loop that only writes into runtimes, as a process of its own: this very program, which must call Answer first.
func Run(ctx context.Context, spec Spec) (Outcome, error) {
	outcomes, err := start(ctx, order{Loop: &spec}, 1)
	if err != nil {
		return Outcome{}, err
	}
	return outcomes[0], nil
}

// start runs an order as a process of its own, and returns the outcomes of so many steps.
func start(ctx context.Context, o order, steps int) ([]Outcome, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	input, err := json.Marshal(o)
	if err != nil {
		return nil, err
	}
	var out, problem bytes.Buffer
	child := exec.CommandContext(ctx, self)
	child.Env = append(os.Environ(), variable+"=1")
	child.Stdin, child.Stdout, child.Stderr = bytes.NewReader(input), &out, &problem
	if err := child.Run(); err != nil {
		return nil, fmt.Errorf("the bare loop failed: %w", errors.Join(err, errors.New(problem.String())))
	}
	var outcomes []Outcome
	if err := json.Unmarshal(out.Bytes(), &outcomes); err != nil {
		return nil, err
	}
	if len(outcomes) != steps {
		return nil, fmt.Errorf("the bare loop told the outcome of %d steps, not of %d", len(outcomes), steps)
	}
	return outcomes, nil
}
