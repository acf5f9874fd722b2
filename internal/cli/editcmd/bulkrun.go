package editcmd

import (
	"context"
	"fmt"

	"github.com/dustin/go-humanize"
	"github.com/dustin/go-humanize/english"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/cli/await"
	"github.com/kyma-project/lifecycle-manager/internal/cli/console"
	"github.com/kyma-project/lifecycle-manager/internal/client/bulk"
	"github.com/kyma-project/lifecycle-manager/internal/client/waitfor"
)

// carryOut says what would change in how many Kymas, asks once, does it, and says what became of all of them.
func (b *bulkCall) carryOut(ctx context.Context, steps []kymaStep) error {
	if err := b.agree(ctx, steps); err != nil {
		return err
	}
	effects := b.do(ctx, steps)
	if err := b.printEffects(steps, effects); err != nil {
		return err
	}
	err := b.ended(ctx, effects)
	if !b.waitsForMany() || ctx.Err() != nil {
		return err
	}
	if waited := b.await(ctx, effects); err == nil {
		return waited
	}
	return err
}

// agree shows the plan and asks; nothing is asked where nothing would be written.
func (b *bulkCall) agree(ctx context.Context, steps []kymaStep) error {
	var planned []client.ObjectKey
	var results []bulk.Result
	for i := range steps {
		results = append(results, bulk.Result{Key: steps[i].key, Outcome: steps[i].planned.outcome, Message: steps[i].planned.message})
		if steps[i].do != nil {
			planned = append(planned, steps[i].key)
		}
	}
	if len(planned) == 0 || b.dry() {
		return nil
	}
	b.say(results)
	kymas := kymasText(planned)
	return b.console.Confirm(ctx, b.doing+" "+kymas, b.question+" "+kymas+"?")
}

// do carries the steps out, a few at a time.
func (b *bulkCall) do(ctx context.Context, steps []kymaStep) []effect {
	effects := make([]effect, len(steps))
	var jobs []bulk.Job
	var at []int
	for i := range steps {
		effects[i] = steps[i].planned
		if do := steps[i].do; do != nil {
			at = append(at, i)
			jobs = append(jobs, bulk.Job{Key: steps[i].key, Do: func(ctx context.Context) (bulk.Outcome, string) {
				effects[i] = do(ctx)
				return effects[i].outcome, effects[i].message
			}})
		}
	}
	report, end := b.progress(len(jobs))
	results := bulk.Run(ctx, jobs, bulk.Options{Concurrency: b.bulk.concurrency, FailFast: b.bulk.failFast, Report: report})
	end()
	for i, result := range results {
		if result.Outcome == bulk.NotTried {
			effects[at[i]] = effect{outcome: result.Outcome, message: result.Message}
		}
	}
	return effects
}

// progress shows on a terminal how many Kymas are done. Elsewhere the summary is enough.
func (b *bulkCall) progress(all int) (report func(bulk.Result), end func()) {
	if !b.console.Live || all == 0 {
		return nil, func() {}
	}
	progress, counts, done := b.console.Progress(), map[bulk.Outcome]int{}, 0
	return func(result bulk.Result) {
		done++
		counts[result.Outcome]++
		state := v1beta2.StateProcessing
		if done == all {
			state = v1beta2.StateReady
		}
		progress.Set(plural(all), string(state),
			fmt.Sprintf("%d done, %d failed", done-counts[bulk.Failed]-counts[bulk.Refused], counts[bulk.Failed]+counts[bulk.Refused]))
	}, progress.End
}

// ended returns the error of a call in which not everything was done.
func (b *bulkCall) ended(ctx context.Context, effects []effect) error {
	counts, forbidden := map[bulk.Outcome]int{}, false
	for i := range effects {
		counts[effects[i].outcome]++
		forbidden = forbidden || effects[i].forbidden
	}
	if ctx.Err() != nil {
		b.console.Sayf("Stopped: %s changed, %s not begun.%s", was(counts[bulk.Done]), was(counts[bulk.NotTried]), asSentence(b.repeat))
		return ctx.Err()
	}
	var parts []string
	for _, part := range []struct {
		outcome bulk.Outcome
		words   string
	}{{bulk.Failed, "failed"}, {bulk.Refused, "refused"}, {bulk.NotTried, "not begun"}} {
		if counts[part.outcome] > 0 {
			parts = append(parts, humanize.Comma(int64(counts[part.outcome]))+" "+part.words)
		}
	}
	if len(parts) == 0 {
		return nil
	}
	failure := &console.Failure{Code: console.CodeError, Err: fmt.Errorf("%s of %s", english.WordSeries(parts, "and"), plural(len(effects)))}
	if forbidden {
		return failure.With("ask for the right to get and patch kymas.operator.kyma-project.io there")
	}
	return failure.With("%s", b.repeat)
}

// waitOutcomes are the outcomes of a wait, and waitCodes their exit codes, the worst first.
var (
	waitOutcomes = map[waitfor.End]bulk.Outcome{
		waitfor.Done: bulk.Done, waitfor.Warned: bulk.Warned, waitfor.Failed: bulk.Failed, waitfor.Open: bulk.Open,
	}
	waitCodes = []struct {
		outcome bulk.Outcome
		code    int
		words   string
		hint    string
	}{
		{bulk.Failed, console.CodeError, "did not become as requested", seeWhy},
		{bulk.Open, console.CodeTimeout, "under way when the time ran out", "it continues in the background: --timeout waits longer"},
		{bulk.Warned, console.CodeWarning, "with a warning", seeWhy},
	}
)

// seeWhy is the hint for Kymas that did not become ready.
const seeWhy = "kyma status with the same selection shows more"

// await waits until what was requested came about in all Kymas, and says how that ended.
func (b *bulkCall) await(ctx context.Context, effects []effect) error {
	ask := waitfor.ManyOptions{Timeout: b.timeout}
	for i := range effects {
		if options := effects[i].awaited; options != nil && (effects[i].outcome == bulk.Done || effects[i].outcome == bulk.Unchanged) {
			ask.Kymas = append(ask.Kymas, *options)
		}
	}
	if len(ask.Kymas) == 0 {
		return nil
	}
	if namespaces := namespacesOf(b.kymas); len(namespaces) == 1 {
		ask.Namespace = namespaces[0]
	}
	outcomes, err := await.FollowMany(ctx, b.console, b.cluster, ask)
	if err != nil && ctx.Err() == nil {
		return err
	}
	counts := map[bulk.Outcome]int{}
	var results []bulk.Result
	for i := range outcomes {
		end, why, _ := outcomes[i].End()
		key := ask.Kymas[i].Kyma
		results = append(results, bulk.Result{Key: key, Outcome: waitOutcomes[end], Message: bulk.Anonymous(console.OneLine(why), key)})
		counts[waitOutcomes[end]]++
	}
	b.say(results)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return waited(counts)
}

// waited returns the error of a wait after which not all Kymas are as requested.
func waited(counts map[bulk.Outcome]int) error {
	for _, is := range waitCodes {
		if count := counts[is.outcome]; count > 0 {
			failure := &console.Failure{Code: is.code, Err: fmt.Errorf("%s %s", plural(count), is.words)}
			return failure.With("%s", is.hint)
		}
	}
	return nil
}
