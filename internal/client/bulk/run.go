package bulk

import (
	"context"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// grace is how long what is under way may go on after an interruption, so that it is known what became of it.
const grace = 500 * time.Millisecond

// Job is what is to be done to one object.
type Job struct {
	Key types.NamespacedName
	// Do returns the outcome and its message.
	Do func(context.Context) (Outcome, string)
}

// Options of Run.
type Options struct {
	// Concurrency is how many jobs are under way at a time, at least one.
	Concurrency int
	// FailFast begins no further job after one has Failed.
	FailFast bool
	// Report is called after each job, never concurrently; it may be nil.
	Report func(Result)
}

// Run does the jobs and returns their results in the same order. A job that fails stops no other one, unless FailFast is set. When the
// context ends, no further job begins, and those under way have half a second to end.
func Run(ctx context.Context, jobs []Job, options Options) []Result {
	r := &run{jobs: jobs, options: options, results: make([]Result, len(jobs))}
	begin, stop := context.WithCancel(ctx)
	defer stop()
	work, end := outlasting(ctx, grace)
	defer end()
	for i := range jobs {
		r.results[i] = Result{Key: jobs[i].Key, Outcome: NotTried}
	}
	next := make(chan int)
	var workers sync.WaitGroup
	for range min(max(options.Concurrency, 1), len(jobs)) {
		workers.Go(func() {
			for i := range next {
				if begin.Err() == nil && r.do(work, i) == Failed && options.FailFast {
					stop()
				}
			}
		})
	}
	r.hand(begin, next)
	workers.Wait()
	r.explain(ctx)
	return r.results
}

// run is one call of Run.
type run struct {
	jobs    []Job
	options Options
	results []Result
	mutex   sync.Mutex
}

// hand gives the jobs to the workers, one after the other, until a context ends.
func (r *run) hand(begin context.Context, next chan<- int) {
	defer close(next)
	for i := range r.jobs {
		select {
		case <-begin.Done():
			return
		case next <- i:
		}
	}
}

// do does one job.
func (r *run) do(ctx context.Context, i int) Outcome {
	outcome, message := r.jobs[i].Do(ctx)
	r.results[i].Outcome, r.results[i].Message = outcome, message
	if r.options.Report != nil {
		r.mutex.Lock()
		defer r.mutex.Unlock()
		r.options.Report(r.results[i])
	}
	return outcome
}

// explain says of the jobs that were not begun why.
func (r *run) explain(ctx context.Context) {
	why := "not begun after a failure"
	if ctx.Err() != nil {
		why = "not begun before the interruption"
	}
	for i := range r.results {
		if r.results[i].Outcome == NotTried {
			r.results[i].Message = why
		}
	}
}

// outlasting returns a context that ends a while after another one.
func outlasting(ctx context.Context, by time.Duration) (context.Context, context.CancelFunc) {
	longer, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(by, cancel) })
	return longer, func() { stop(); cancel() }
}
