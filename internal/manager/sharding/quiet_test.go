package sharding

import (
	"testing"
	"time"

	"github.com/kyma-project/lifecycle-manager/internal/manager/sharding/assignment"
)

// slowly is how much time passes between two turns at most, so that a call of three replicas takes a second when it takes long.
const slowly = 200 * time.Millisecond

// calmWorld returns one in which nothing is lost, clocks run at one speed, and so many replicas share the buckets evenly.
func calmWorld(t *testing.T, seed uint64, replicas int) *simulation {
	t.Helper()
	w := newWorld(t, seed)
	w.calm = true
	for range replicas {
		w.add(realTerms).rate = 1
		w.pass(time.Duration(w.rnd.Int64N(int64(3 * time.Second))))
	}
	w.pass(40 * time.Second)
	return w
}

// pass advances the time.
func (w *simulation) pass(length time.Duration) {
	for end := w.time + length; w.time < end; {
		w.step(slowly)
	}
}

// head returns the replica that assigns.
func (w *simulation) head() *replica {
	for _, r := range w.alive() {
		if r.member.Name() == w.throne.Holder {
			return r
		}
	}
	w.failf("no one assigns")
	return nil
}

// quiet lets time pass, and sees that replicas work on all along what they work on now. It counts how often a bucket changed hands.
func (w *simulation) quiet(length time.Duration, replicas ...*replica) (moved int) {
	before := w.table
	had := map[*replica]map[stage]int{}
	for _, r := range replicas {
		had[r] = r.member.counts()
	}
	for end := w.time + length; w.time < end; {
		w.step(slowly)
		for bucket := range before {
			if before[bucket].Owner != w.table[bucket].Owner {
				moved++
			}
		}
		before = w.table
		for _, r := range replicas {
			if now := r.member.counts(); now[working] < had[r][working] {
				w.failf("at %s %s works on %d buckets, after %d: %v", w.time, r.name, now[working], had[r][working], now)
			}
		}
	}
	return moved
}

func TestMember_KeepsBucketsWhenAnotherReplicaJoinsOrLeaves(t *testing.T) {
	for name, strike := range map[string]func(w *simulation, head, other *replica) (gone *replica){
		"the head is killed": func(_ *simulation, head, _ *replica) *replica {
			head.dead = true
			return head
		},
		"another one is killed": func(_ *simulation, _, other *replica) *replica {
			other.dead = true
			return other
		},
		"the head leaves": func(_ *simulation, head, _ *replica) *replica {
			head.leaves = true
			return head
		},
		"another one leaves": func(_ *simulation, _, other *replica) *replica {
			other.leaves = true
			return other
		},
		"the head stands still": func(w *simulation, head, _ *replica) *replica {
			head.until = w.time + 25*time.Second
			return head
		},
	} {
		t.Run(name, func(t *testing.T) {
			for seed := range uint64(60) {
				w := calmWorld(t, seed, 3)
				w.pass(time.Duration(w.rnd.Int64N(int64(4 * time.Second))))
				head := w.head()
				var healthy []*replica
				for _, r := range w.alive() {
					if r != head {
						healthy = append(healthy, r)
					}
				}
				before := w.table
				gone := strike(w, head, healthy[0])
				if gone != head {
					healthy[0] = head
				}
				name, share := gone.member.Name(), 0
				moved := w.quiet(25*time.Second, healthy...)
				for bucket := range before {
					if before[bucket].Owner == name {
						share++
					}
				}
				if moved != share {
					w.failf("seed %d: %d buckets changed hands, and %s had %d of %d", seed, moved, gone.name, share, assignment.Buckets)
				}
			}
		})
	}
}
