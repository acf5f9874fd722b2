package sharding

import (
	"context"
	"sync"
	"time"
)

// stage is what a Member does with a bucket.
type stage int

const (
	elsewhere stage = iota
	paused          // the table says that it is ours, but our time is up or it is about to go
	coming          // ours, as soon as our view of it is known to be fresh
	working         // ours
	draining        // ours until what is under way has ended
)

func (s stage) ownership() Ownership {
	switch s {
	case working:
		return Mine
	case paused, coming, draining:
		return Paused
	case elsewhere:
	}
	return Elsewhere
}

// bucketOwnership is what a Member may do right now, and until when. Every write checks it.
type bucketOwnership struct {
	now func() time.Time
	// arm schedules the handling of the end of the time; nil where other calls check the time often enough.
	arm func(after time.Duration, do func()) (disarm func() bool)
	// idle is called when the last pass in a draining bucket has ended.
	idle func()

	mu       sync.Mutex
	until    time.Time // no write after this
	disarm   func() bool
	stages   [Buckets]stage
	visits   [Buckets]uint      // how often each began to come
	began    [Buckets]time.Time // since when each is worked on
	passes   [Buckets]map[*pass]struct{}
	moved    OwnershipChange // not told yet
	watchers []*watcher
}

// pass is one pass of a controller.
type pass struct {
	ownership *bucketOwnership
	bucket    int
	since     time.Time // since when its bucket is worked on without a break
	// The rest is guarded by the tenure.
	over   error                           // why it may not write any more
	cancel context.CancelCauseFunc         // ends the pass itself
	writes map[int]context.CancelCauseFunc // ends what it has under way, of which some outlives its context
	count  int
}

type passKey struct{}

// begin implements Owner.Begin.
func (t *bucketOwnership) begin(ctx context.Context, bucket int) (context.Context, func(), Ownership) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.expireLocked()
	if bucket < 0 || bucket >= Buckets {
		return ctx, func() {}, Elsewhere
	}
	if standing := t.stages[bucket].ownership(); standing != Mine {
		return ctx, func() {}, standing
	}
	p := &pass{ownership: t, bucket: bucket, since: t.began[bucket], writes: map[int]context.CancelCauseFunc{}}
	ctx, p.cancel = context.WithCancelCause(context.WithValue(ctx, passKey{}, p))
	if t.passes[bucket] == nil {
		t.passes[bucket] = map[*pass]struct{}{}
	}
	t.passes[bucket][p] = struct{}{}
	return ctx, func() {
		t.end(p)
		p.cancel(context.Canceled)
	}, Mine
}

// Since returns since when this replica has worked on the bucket of a pass without a break, zero for a replica that owns every bucket: what
// it knew before may be old.
func Since(ctx context.Context) time.Time {
	if p, marked := ctx.Value(passKey{}).(*pass); marked {
		return p.since
	}
	return time.Time{}
}

func (t *bucketOwnership) end(p *pass) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if p.over == nil {
		p.over = &Refusal{Bucket: p.bucket, Why: WhyEnded}
	}
	delete(t.passes[p.bucket], p)
	if t.stages[p.bucket] == draining && len(t.passes[p.bucket]) == 0 && t.idle != nil {
		t.idle()
	}
}

// cancelLocked cancels the pass, and then its writes under way: a pass that learns from a write that it has ended must find its own context
// canceled, or it continues and records what it did with a context that ends meanwhile. The caller holds the lock of the bucketOwnership.
func (p *pass) cancelLocked() {
	p.cancel(context.Canceled)
	for _, cancel := range p.writes {
		cancel(context.Canceled)
	}
}

// permit reports whether a write may be sent now, and registers its cancellation for when the right to it ends while it is under way.
func (p *pass) permit(cancel context.CancelCauseFunc) (detach func(), err error) {
	p.ownership.mu.Lock()
	defer p.ownership.mu.Unlock()
	p.ownership.expireLocked()
	if p.over != nil {
		return nil, p.over
	}
	at := p.count
	p.count++
	p.writes[at] = cancel
	return func() {
		p.ownership.mu.Lock()
		defer p.ownership.mu.Unlock()
		delete(p.writes, at)
	}, nil
}

// revokeWritesLocked takes the right to write from all passes in a bucket. The caller holds the lock.
func (t *bucketOwnership) revokeWritesLocked(bucket int, why string) {
	for p := range t.passes[bucket] {
		if p.over != nil {
			continue
		}
		p.over = &Refusal{Bucket: bucket, Why: why}
		p.cancelLocked()
		delete(t.passes[bucket], p)
	}
}

// within reports whether a moment is not reached, by neither of the two clocks of a machine: the monotonic one stops while a virtual
// machine is suspended, and the wall clock shows that when the machine resumes.
func within(now, until time.Time) bool {
	return now.Before(until) && now.Round(0).Before(until.Round(0))
}

// expireLocked ends everything when the time is up. The caller holds the lock.
func (t *bucketOwnership) expireLocked() {
	if within(t.now(), t.until) {
		return
	}
	for bucket, stage := range t.stages {
		if stage == working || stage == draining {
			t.stages[bucket] = paused
			t.revokeWritesLocked(bucket, WhyLapsed)
		}
	}
}

// visit is one arrival of a bucket. A bucket can leave and arrive again while its view is still being made fresh.
type visit struct {
	bucket int
	number uint
}

// extend moves the end of the time, and applies the table to each bucket. What lapsed before has lapsed. It returns the buckets whose view
// must be made fresh before arrived is called for them; fresh reports those that are fresh already.
func (t *bucketOwnership) extend(
	until time.Time, owned func(bucket int) (mine, moving bool), fresh func(bucket int) bool,
) (arriving []visit) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.expireLocked()
	t.until = until
	lapsed := !within(t.now(), until)
	for bucket := range t.stages {
		mine, moving := owned(bucket)
		if t.moveBucketLocked(bucket, mine, moving, lapsed, fresh) {
			t.visits[bucket]++
			arriving = append(arriving, visit{bucket, t.visits[bucket]})
		}
	}
	t.resetTimerLocked()
	t.reportMovesLocked()
	return arriving
}

// moveBucketLocked handles one bucket of extend; it reports whether the bucket must be made fresh. The caller holds the lock.
func (t *bucketOwnership) moveBucketLocked(bucket int, mine, moving, lapsed bool, fresh func(bucket int) bool) bool {
	now := t.stages[bucket]
	switch {
	case !mine && now == elsewhere, mine && !lapsed && !moving && (now == working || now == coming):
	case !mine:
		t.revokeWritesLocked(bucket, WhyMoved)
		t.stages[bucket] = elsewhere
		t.moved.Lost[bucket], t.moved.Gained[bucket] = true, false
	case lapsed:
		t.revokeWritesLocked(bucket, WhyLapsed)
		t.stages[bucket] = paused
	case moving && (now == working || now == draining):
		t.stages[bucket] = draining
	case moving:
		t.stages[bucket] = paused // it goes before it came
	case now == draining, fresh(bucket):
		t.startBucketLocked(bucket)
	default:
		t.stages[bucket] = coming
		return true
	}
	return false
}

// startBucketLocked starts the work on a bucket. The caller holds the lock.
func (t *bucketOwnership) startBucketLocked(bucket int) {
	t.stages[bucket], t.began[bucket] = working, t.now()
	t.moved.Gained[bucket], t.moved.Lost[bucket] = true, false
}

// arrived starts the work on buckets whose view is fresh now, or makes them be tried again when it is not. It skips buckets that left
// meanwhile, and perhaps arrived again: others may have changed them since.
func (t *bucketOwnership) arrived(came []visit, fresh bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.expireLocked()
	for _, v := range came {
		bucket := v.bucket
		switch {
		case t.stages[bucket] != coming, t.visits[bucket] != v.number:
		case fresh && within(t.now(), t.until):
			t.startBucketLocked(bucket)
		default:
			t.stages[bucket] = paused
		}
	}
	t.reportMovesLocked()
}

// releaseAll ends everything at once: another replica declared us dead.
func (t *bucketOwnership) releaseAll() {
	t.extend(time.Time{}, func(int) (bool, bool) { return false, false }, nil)
}

// drained reports whether a bucket may be handed over: nothing that may write is under way in it.
func (t *bucketOwnership) drained(bucket int) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.stages[bucket] != working && len(t.passes[bucket]) == 0
}

// cancelDraining ends what is still under way in draining buckets: it had its time.
func (t *bucketOwnership) cancelDraining() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for bucket, stage := range t.stages {
		if stage != draining {
			continue
		}
		for p := range t.passes[bucket] {
			p.cancelLocked()
		}
	}
}

// resetTimerLocked schedules the handling of the end of the time. The caller holds the lock.
func (t *bucketOwnership) resetTimerLocked() {
	if t.arm == nil {
		return
	}
	if t.disarm != nil {
		t.disarm()
	}
	if after := t.until.Sub(t.now()); after > 0 {
		t.disarm = t.arm(after, func() {
			t.mu.Lock()
			defer t.mu.Unlock()
			t.expireLocked()
		})
	} else {
		t.expireLocked() // it has passed meanwhile
	}
}

// counts returns the number of buckets in each stage.
func (t *bucketOwnership) counts() map[stage]int {
	t.mu.Lock()
	defer t.mu.Unlock()
	counts := map[stage]int{}
	for _, stage := range t.stages {
		counts[stage]++
	}
	return counts
}

// stop prevents new passes. What is under way continues.
func (t *bucketOwnership) stop() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for bucket, stage := range t.stages {
		switch stage {
		case working:
			t.stages[bucket] = draining
		case coming:
			t.stages[bucket] = paused
		case elsewhere, paused, draining:
		}
	}
}
