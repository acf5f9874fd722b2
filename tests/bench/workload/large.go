package workload

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/tests/bench/bare"
	"github.com/kyma-project/lifecycle-manager/tests/bench/meter"
	"github.com/kyma-project/lifecycle-manager/tests/bench/report"
	"github.com/kyma-project/lifecycle-manager/tests/bench/testbench"
)

const (
	largeObjects = 1000
	// largeDefinitions CustomResourceDefinitions of largeBytes each; an API server takes requests of 3 MiB, and etcd 1.5 MiB.
	largeDefinitions = 3
	largeBytes       = 700_000
	// largeFields has ended how many fields of its schema the text of a definition is spread.
	largeFields = 1500
	// largePatience bounds the installation of a large module.
	largePatience = 5 * time.Minute
	// unlimited calls a second: what a runtime may be asked is a setting, and not what is measured.
	unlimited = "1000000"
)

// large is B10: one module of very many objects, and one of very large ones, each into a real API server that is new.
func large(ctx context.Context, b *Bench) error {
	many := testbench.Module{Name: "many", Version: version1, Objects: largeObjects}
	other := testbench.Module{Name: "other", Version: version1, Objects: largeObjects}
	which := fmt.Sprintf("%d definitions of %d KB, real API server", largeDefinitions, largeBytes/1000)
	return errors.Join(
		b.largeOf(ctx, fmt.Sprintf("R=%d, real API server", largeObjects), many.YAML(), other.YAML(), largeObjects),
		b.largeOf(ctx, which, definitions(), nil, largeDefinitions),
	)
}

// largeOf installs content, and for comparison other content by the bare loop when there is any.
func (b *Bench) largeOf(ctx context.Context, which string, content, others []byte, objects int) (err error) {
	w, err := testbench.Open(ctx, testbench.Options{Runtimes: 1, Dir: b.Dir, Manager: b.Manager, Logf: b.Logf})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	r := b.Result("B10", which)
	options := b.managerOptions()
	options.Flags = append([]string{"--k8s-skr-client-qps=" + unlimited, "--k8s-skr-client-burst=" + unlimited}, options.Flags...)
	if _, err := w.StartManager(ctx, options); err != nil {
		return err
	}
	if err := w.OfferContent(ctx, "large", version1, content, v1beta2.DefaultChannel); err != nil {
		return err
	}
	if err := w.GiveAccess(ctx, 0, 1); err != nil {
		return err
	}
	took, err := b.installLarge(ctx, w, r)
	if err != nil {
		return err
	}
	r.Add("objects applied", "objects/s", float64(objects)/took.Seconds())
	if others != nil {
		spec := bareSpec(w.Runtimes)
		spec.Modules = [][]byte{others}
		outcome, err := bare.Run(ctx, spec)
		if err != nil {
			return err
		}
		r.Add("bare loop", "objects/s", outcome.Rate())
		r.Add("share of the bare loop's rate", "", float64(objects)/took.Seconds()/outcome.Rate(), report.AtLeast(0.7))
	}
	begin := time.Now()
	if err := remove(ctx, w, testbench.KymaName(0)); err != nil {
		return err
	}
	r.Add("delete to gone", "s", time.Since(begin).Seconds())
	return b.Done(r)
}

// installLarge brings one Kyma with the module in: its runtime is connected and has an empty Kyma before, so that only the module counts.
func (b *Bench) installLarge(ctx context.Context, w *testbench.Bench, r *report.Result) (time.Duration, error) {
	name := testbench.KymaName(0)
	bounded, cancel := context.WithTimeout(ctx, largePatience)
	defer cancel()
	empty := w.Kymas.When([]string{name}, testbench.Ready)
	if _, err := w.CreateKymas(ctx, 0, 1); err != nil {
		return 0, err
	}
	if _, err := empty.Done(bounded); err != nil {
		return 0, fmt.Errorf("%w\nthe manager's log ends with:\n%s", err, w.Manager.Log())
	}
	if _, err := w.Settle(ctx, quiet); err != nil {
		return 0, err
	}
	cost, err := begin(ctx, w)
	if err != nil {
		return 0, err
	}
	wait := w.Kymas.When([]string{name}, stands("large", true))
	_, sent, err := w.ChangeKyma(ctx, name, editModule("large", true))
	if err != nil {
		return 0, err
	}
	at, err := wait.Done(bounded)
	if err != nil {
		return 0, fmt.Errorf("%w\nthe manager's log ends with:\n%s", err, w.Manager.Log())
	}
	if _, err := w.Settle(ctx, quiet); err != nil {
		return 0, err
	}
	spent, err := cost.end(ctx)
	if err != nil {
		return 0, err
	}
	after, err := meter.Of(w.Manager.PID())
	if err != nil {
		return 0, err
	}
	took := at[name].Sub(sent)
	r.Add("enable to Ready", "s", took.Seconds())
	r.Add("writes to the runtime", "writes", float64(spent.calls.Runtimes.Writes().Total()))
	r.Add("writes to the hub", "writes", float64(spent.calls.Hub.Writes().Total()))
	r.Add("manager's CPU", "s", spent.usage.CPU.Seconds())
	r.Add("peak of its memory (RSS) above rest", "MiB", mib(after.Peak-cost.usage.RSS))
	r.Add("memory that it keeps (RSS) above rest", "MiB", mib(after.RSS-cost.usage.RSS))
	return took, nil
}

// definitions are CustomResourceDefinitions that say a lot.
func definitions() []byte {
	var out strings.Builder
	text := strings.Repeat("What this field means, at length. ", largeBytes/largeFields/34)
	for i := range largeDefinitions {
		fmt.Fprintf(&out, definition, i)
		for field := range largeFields {
			fmt.Fprintf(&out, "              field%04d: {type: string, description: %q}\n", field, text)
		}
	}
	return []byte(out.String())
}

// definition takes a number; fields follow.
const definition = `---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: larges.bench%[1]d.kyma-project.test}
spec:
  group: bench%[1]d.kyma-project.test
  names: {plural: larges, singular: large, kind: Large, listKind: LargeList}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties:
`
