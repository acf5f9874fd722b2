package workload

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/tests/bench/fit"
	"github.com/kyma-project/lifecycle-manager/tests/bench/meter"
	"github.com/kyma-project/lifecycle-manager/tests/bench/report"
	"github.com/kyma-project/lifecycle-manager/tests/bench/testbench"
)

// growth is the largest exponent that counts as linear; processorGrowth is what is asked of the manager's processor time by Kymas.
const growth, processorGrowth = 1.05, 1.03

// size is a point of a curve.
type size struct{ kymas, modules, objects int }

// axis is what grows along a curve.
type axis struct {
	name, label string
	sizes       []size
	x           func(size) int
}

// axes returns the three directions of growth. They are short by default; -curve-k, -curve-m and -curve-r say others.
func (b *Bench) axes() []axis {
	var kymas, modules, objects []size
	for _, k := range b.Curve.Kymas {
		kymas = append(kymas, size{k, b.Modules, b.Objects})
	}
	for _, m := range b.Curve.Modules {
		modules = append(modules, size{b.Curve.ModulesAt, m, b.Objects})
	}
	for _, r := range b.Curve.Objects {
		objects = append(objects, size{b.Curve.ObjectsAt, 1, r})
	}
	return []axis{
		{"kymas", fmt.Sprintf("Kymas (m=%d, R=%d)", b.Modules, b.Objects), kymas, func(s size) int { return s.kymas }},
		{"modules", fmt.Sprintf("modules of a Kyma (K=%d, R=%d)", b.Curve.ModulesAt, b.Objects), modules, func(s size) int { return s.modules }},
		{"objects", fmt.Sprintf("objects of a module (K=%d, m=1)", b.Curve.ObjectsAt), objects, func(s size) int { return s.objects }},
	}
}

// Curve says through which sizes curves go.
type Curve struct {
	Kymas                []int
	Modules, Objects     []int
	ModulesAt, ObjectsAt int
}

// curves returns how the cost of bringing a fleet in grows.
func curves(ctx context.Context, b *Bench) error {
	for _, a := range b.axes() {
		if err := b.curve(ctx, a); err != nil {
			return fmt.Errorf("%s: %w", a.name, err)
		}
	}
	return nil
}

// sample is what one point cost.
type sample struct {
	cpu    time.Duration
	calls  int
	memory int64
}

func (b *Bench) curve(ctx context.Context, a axis) error {
	var cpu, calls, memory []fit.Point
	for _, s := range a.sizes {
		got, err := b.point(ctx, s)
		if err != nil {
			return err
		}
		x := float64(a.x(s))
		b.Logf("curves: %s %.0f: CPU %.2f s, %d calls, %.1f MiB live", a.name, x, got.cpu.Seconds(), got.calls, mib(got.memory))
		cpu = append(cpu, fit.Point{X: x, Y: got.cpu.Seconds()})
		calls = append(calls, fit.Point{X: x, Y: float64(got.calls)})
		memory = append(memory, fit.Point{X: x, Y: mib(got.memory)})
		if err := b.Keep(report.Set{Curves: b.drawn(a, cpu, calls, memory)}); err != nil {
			return err
		}
	}
	return nil
}

func (b *Bench) drawn(a axis, cpu, calls, memory []fit.Point) []report.Curve {
	var drawn []report.Curve
	for _, c := range []struct {
		name, title, label string
		points             []fit.Point
	}{
		{"cpu", "manager's CPU until all are Ready", "CPU (s)", cpu},
		{"calls", "calls until all are Ready", "calls", calls},
		{"memory", "live memory beyond an idle manager", "memory (MiB)", memory},
	} {
		goal := report.AtMost(growth)
		if a.name == "kymas" && c.name == "cpu" {
			goal = report.AtMost(processorGrowth)
		}
		drawn = append(drawn, report.Curve{
			Name: "bench-" + a.name + "-" + c.name, Bench: "curves", Title: c.title + ", by " + a.name,
			XLabel: a.label, YLabel: c.label, Goal: goal, Command: b.Command, At: time.Now().UTC(),
			Lines: []report.Line{{Name: c.label, Points: c.points}},
		})
	}
	return drawn
}

// point brings one fleet in, in a world of its own. What a manager costs that does nothing is not counted.
func (b *Bench) point(ctx context.Context, s size) (got sample, err error) {
	w, err := b.open(ctx, testbench.Options{Runtimes: s.kymas, Simulated: true})
	if err != nil {
		return got, err
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	var names []string
	for i := range s.modules {
		m := testbench.Module{Name: moduleName(i), Version: version1, Objects: s.objects}
		if err := w.Offer(ctx, m, v1beta2.DefaultChannel); err != nil {
			return got, err
		}
		names = append(names, m.Name)
	}
	if _, err := w.StartManager(ctx, b.managerOptions()); err != nil {
		return got, err
	}
	idle, err := meter.Live(ctx, w.Manager.Profiles)
	if err != nil {
		return got, err
	}
	cost, err := begin(ctx, w)
	if err != nil {
		return got, err
	}
	sized := *b
	sized.Modules, sized.Objects = s.modules, s.objects
	profile := b.profile(ctx, w, fmt.Sprintf("curves-%d-%d-%d", s.kymas, s.modules, s.objects))
	err = sized.grow(ctx, w, 0, s.kymas, names...)
	if err = errors.Join(err, profile()); err != nil {
		return got, err
	}
	spent, err := cost.end(ctx)
	if err != nil {
		return got, err
	}
	live, err := meter.Live(ctx, w.Manager.Profiles)
	return sample{
		cpu: spent.usage.CPU, calls: spent.calls.Total(), memory: live.Live + live.Stacks - idle.Live - idle.Stacks,
	}, err
}
