package shard

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

func (s stage) standing() Standing {
	switch s {
	case working:
		return Mine
	case paused, coming, draining:
		return Paused
	case elsewhere:
	}
	return Elsewhere
}

// tenure is what a Member may do right now, and until when. It is asked at every write.
type tenure struct {
	now func() time.Time
	// arm has the end of the time acted upon without anybody asking; nil where somebody asks all the time.
	arm func(after time.Duration, do func()) (disarm func() bool)
	// idle is told when the last pass in a bucket that drains has ended.
	idle func()

	mu       sync.Mutex
	until    time.Time // no write after this
	disarm   func() bool
	stages   [Buckets]stage
	visits   [Buckets]uint // how often each began to come
	passes   [Buckets]map[*pass]struct{}
	moved    Moved // not told yet
	watchers []*watcher
}

// pass is one pass of a controller.
type pass struct {
	tenure *tenure
	bucket int
	// The rest is guarded by the tenure.
	over   error                           // why it may not write any more
	cancel context.CancelCauseFunc         // ends the pass itself
	writes map[int]context.CancelCauseFunc // ends what it has under way, of which some outlives its context
	count  int
}

type passKey struct{}

// begin is Owner.Begin.
func (t *tenure) begin(ctx context.Context, bucket int) (context.Context, func(), Standing) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.lapse()
	if bucket < 0 || bucket >= Buckets {
		return ctx, func() {}, Elsewhere
	}
	if standing := t.stages[bucket].standing(); standing != Mine {
		return ctx, func() {}, standing
	}
	p := &pass{tenure: t, bucket: bucket, writes: map[int]context.CancelCauseFunc{}}
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

func (t *tenure) end(p *pass) {
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

// stop cancels the pass, and then the writes that it has under way: a pass that learns from a write that it is over must find its own
// context ended, or it goes on to record what it did by a context that ends under its hands. The caller holds the lock of the tenure.
func (p *pass) stop() {
	p.cancel(context.Canceled)
	for _, cancel := range p.writes {
		cancel(context.Canceled)
	}
}

// permit says whether a write may go out now, and has it cancelled when the right to it ends while it is under way.
func (p *pass) permit(cancel context.CancelCauseFunc) (detach func(), err error) {
	p.tenure.mu.Lock()
	defer p.tenure.mu.Unlock()
	p.tenure.lapse()
	if p.over != nil {
		return nil, p.over
	}
	at := p.count
	p.count++
	p.writes[at] = cancel
	return func() {
		p.tenure.mu.Lock()
		defer p.tenure.mu.Unlock()
		delete(p.writes, at)
	}, nil
}

// kill takes the right to write from all passes in a bucket. The caller holds the lock.
func (t *tenure) kill(bucket int, why string) {
	for p := range t.passes[bucket] {
		if p.over != nil {
			continue
		}
		p.over = &Refusal{Bucket: bucket, Why: why}
		p.stop()
		delete(t.passes[bucket], p)
	}
}

// within says that a moment is not reached, by neither of the two clocks of a machine: the one that nobody sets stands still while a
// virtual machine does, and the other one shows that when it goes on.
func within(now, until time.Time) bool {
	return now.Before(until) && now.Round(0).Before(until.Round(0))
}

// lapse ends everything when the time is up. The caller holds the lock.
func (t *tenure) lapse() {
	if within(t.now(), t.until) {
		return
	}
	for bucket, stage := range t.stages {
		if stage == working || stage == draining {
			t.stages[bucket] = paused
			t.kill(bucket, WhyLapsed)
		}
	}
}

// visit is one time that a bucket comes. A bucket can go and come again while its view is still being made fresh.
type visit struct {
	bucket int
	number uint
}

// extend moves the end of the time, and takes over what the table says of each bucket. What lapsed before has lapsed. It returns the
// buckets whose view is to be made fresh before arrived is told of them; those that are fresh already are said by the caller.
func (t *tenure) extend(until time.Time, owned func(bucket int) (mine, moving bool), fresh func(bucket int) bool) (arriving []visit) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.lapse()
	t.until = until
	lapsed := !within(t.now(), until)
	for bucket := range t.stages {
		mine, moving := owned(bucket)
		if t.move(bucket, mine, moving, lapsed, fresh) {
			t.visits[bucket]++
			arriving = append(arriving, visit{bucket, t.visits[bucket]})
		}
	}
	t.rearm()
	t.tell()
	return arriving
}

// move is one bucket of extend; it says whether it is to be made fresh. The caller holds the lock.
func (t *tenure) move(bucket int, mine, moving, lapsed bool, fresh func(bucket int) bool) bool {
	now := t.stages[bucket]
	switch {
	case !mine && now == elsewhere, mine && !lapsed && !moving && (now == working || now == coming):
	case !mine:
		t.kill(bucket, WhyMoved)
		t.stages[bucket] = elsewhere
		t.moved.Lost[bucket], t.moved.Gained[bucket] = true, false
	case lapsed:
		t.kill(bucket, WhyLapsed)
		t.stages[bucket] = paused
	case moving && (now == working || now == draining):
		t.stages[bucket] = draining
	case moving:
		t.stages[bucket] = paused // it goes before it came
	case now == draining, fresh(bucket):
		t.settle(bucket)
	default:
		t.stages[bucket] = coming
		return true
	}
	return false
}

// settle begins the work on a bucket. The caller holds the lock.
func (t *tenure) settle(bucket int) {
	t.stages[bucket] = working
	t.moved.Gained[bucket], t.moved.Lost[bucket] = true, false
}

// arrived begins the work on buckets whose view is fresh by now, or has them tried again when it is not. What went meanwhile, and perhaps
// came again, is not concerned: others may have changed it since.
func (t *tenure) arrived(came []visit, fresh bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.lapse()
	for _, v := range came {
		bucket := v.bucket
		switch {
		case t.stages[bucket] != coming, t.visits[bucket] != v.number:
		case fresh && within(t.now(), t.until):
			t.settle(bucket)
		default:
			t.stages[bucket] = paused
		}
	}
	t.tell()
}

// dismiss ends everything at once: somebody declared us dead.
func (t *tenure) dismiss() {
	t.extend(time.Time{}, func(int) (bool, bool) { return false, false }, nil)
}

// drained says that a bucket may go: nothing that may write is under way in it.
func (t *tenure) drained(bucket int) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.stages[bucket] != working && len(t.passes[bucket]) == 0
}

// cut ends what is still under way in buckets that drain: it had its time.
func (t *tenure) cut() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for bucket, stage := range t.stages {
		if stage != draining {
			continue
		}
		for p := range t.passes[bucket] {
			p.stop()
		}
	}
}

// rearm has the end of the time noticed. The caller holds the lock.
func (t *tenure) rearm() {
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
			t.lapse()
		})
	} else {
		t.lapse() // it has passed meanwhile
	}
}

// counts says how many buckets there are, by what is done with them.
func (t *tenure) counts() map[stage]int {
	t.mu.Lock()
	defer t.mu.Unlock()
	counts := map[stage]int{}
	for _, stage := range t.stages {
		counts[stage]++
	}
	return counts
}

// stop has no further pass begin. What is under way goes on.
func (t *tenure) stop() {
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
