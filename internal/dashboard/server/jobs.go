package server

import (
	"context"
	"net/http"
	"slices"
	"sync"
	"time"
)

const (
	// mostJobs bounds how many results of jobs are kept, mostJobTime how long a job may take.
	mostJobs    = 64
	mostJobTime = 2 * time.Minute
	// mostReadings and mostReadingsOfOne bound how many jobs run at once: each may read and render two versions of a module.
	mostReadings, mostReadingsOfOne = 2, 1
	// failureLasts is how long a failure is told before it is tried again.
	failureLasts = time.Minute
)

// jobs carries out work that takes longer than a request may, once for all requests that ask for the same. A live query that asks for a
// result gets it when it is there.
type jobs struct {
	// life ends with the server; wake makes live queries look again.
	life  context.Context //nolint:containedctx // what a request begins outlives it
	wake  func()
	turns *concurrency

	mutex sync.Mutex
	kept  map[string]*job
	runs  sync.WaitGroup
}

// job is one piece of work. While it is done again, its last result stays.
type job struct {
	running bool
	step    string
	// ended is when it ended last; the zero time before that.
	ended time.Time
	value any
	err   error
}

func newJobs(life context.Context, wake func(), turns *concurrency) *jobs {
	return &jobs{life: life, wake: wake, turns: turns, kept: map[string]*job{}}
}

// forget lets the next look do a job again. Its last result stays until then.
func (j *jobs) forget(key string) {
	j.mutex.Lock()
	defer j.mutex.Unlock()
	if one := j.kept[key]; one != nil && !one.running {
		delete(j.kept, key)
	}
}

// work is what a job does. It reports its steps by say.
type work[T any] func(ctx context.Context, say func(step string)) (T, error)

// outcome is the result of a job, or the step that it is at.
type outcome[T any] struct {
	done  bool
	step  string
	value T
	err   error
}

// look returns the outcome of a job, and starts it if there is none that is young enough.
func look[T any](j *jobs, key, user string, lasts time.Duration, do work[T]) outcome[T] {
	j.mutex.Lock()
	defer j.mutex.Unlock()
	one := j.kept[key]
	if one == nil {
		if j.runningLocked() >= mostJobs {
			busy := fail(http.StatusTooManyRequests, WhyTooMany, "%d %s already: try again in a moment", mostJobs, j.turns.what)
			return outcome[T]{done: true, err: busy}
		}
		one = &job{}
		j.kept[key] = one
		j.forgetLocked(key)
	}
	if one.err != nil {
		lasts = min(lasts, failureLasts)
	}
	if !one.running && time.Since(one.ended) >= lasts {
		one.running, one.step = true, ""
		j.runs.Go(func() {
			j.run(one, user, func(ctx context.Context, say func(string)) (any, error) { return do(ctx, say) })
		})
	}
	is := outcome[T]{done: !one.ended.IsZero(), step: one.step, err: one.err}
	is.value, _ = one.value.(T)
	return is
}

// wait waits for all jobs, after the end of the server's life.
func (j *jobs) wait() { j.runs.Wait() }

// runningLocked counts the jobs that run or wait for their turn.
func (j *jobs) runningLocked() int {
	n := 0
	for _, one := range j.kept {
		if one.running {
			n++
		}
	}
	return n
}

// forgetLocked drops the oldest results above the bound. Jobs that run stay.
func (j *jobs) forgetLocked(but string) {
	var ended []string
	for key, one := range j.kept {
		if !one.running && key != but {
			ended = append(ended, key)
		}
	}
	slices.SortFunc(ended, func(a, b string) int { return j.kept[a].ended.Compare(j.kept[b].ended) })
	for _, key := range ended[:min(len(ended), max(0, len(j.kept)-mostJobs))] {
		delete(j.kept, key)
	}
}

// run carries out a job.
func (j *jobs) run(one *job, user string, do work[any]) {
	ctx, end := context.WithTimeout(j.life, mostJobTime)
	defer end()
	value, err := j.inTurn(ctx, one, user, do)
	j.mutex.Lock()
	one.running, one.step, one.value, one.err, one.ended = false, "", value, err, time.Now()
	j.mutex.Unlock()
	j.wake()
}

func (j *jobs) inTurn(ctx context.Context, one *job, user string, do work[any]) (any, error) {
	done, err := j.turns.take(ctx, user)
	if err != nil {
		return nil, err
	}
	defer done()
	return do(ctx, func(step string) {
		j.mutex.Lock()
		one.step = step
		j.mutex.Unlock()
		j.wake()
	})
}
