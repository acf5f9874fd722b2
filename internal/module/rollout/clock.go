package rollout

import (
	"slices"
	"time"
)

// jitter is how far wall and monotonic clock may drift apart between two readings without one having been set.
const jitter = time.Second

// Jump is a wall clock that was set forward: At is what it showed afterwards, By is how far it moved.
type Jump struct {
	At time.Time
	By time.Duration

	mono time.Duration // when, by the monotonic clock
}

// Clock compares the wall clock with the monotonic one of the process, so that no span that a rollout measures is longer than it took by
// either: a wall clock that is set forward ends no soak and passes no deadline, and what begins afterwards is not delayed by it. A wall
// clock that is set back is followed, which only delays. Its zero value is ready; the first reading belongs to the start of the process.
type Clock struct {
	started bool
	wall    time.Time
	mono    time.Duration
	jumps   []Jump
}

// Read takes a reading of both clocks, and returns the jumps that spans must be measured with. Mono is the time since any fixed moment of
// the process. Jumps that are older than the horizon, the longest span that is measured, are forgotten.
func (c *Clock) Read(wall time.Time, mono, horizon time.Duration) []Jump {
	wall = wall.Round(0) // Without a monotonic reading of its own.
	if c.started {
		switch ahead := wall.Sub(c.wall) - (mono - c.mono); {
		case ahead > jitter:
			c.jumps = append(slices.Clip(c.jumps), Jump{At: wall, By: ahead, mono: mono})
		case ahead < -jitter:
			c.jumps = takeFrom(c.jumps, -ahead)
		}
	}
	c.started, c.wall, c.mono = true, wall, mono
	c.jumps = slices.DeleteFunc(slices.Clone(c.jumps), func(each Jump) bool { return mono-each.mono > horizon })
	return c.jumps
}

// takeFrom undoes the last jumps, as far as the clock was set back.
func takeFrom(jumps []Jump, back time.Duration) []Jump {
	left := slices.Clone(jumps)
	for back > 0 && len(left) > 0 {
		last := &left[len(left)-1]
		undone := min(back, last.By)
		last.By, back = last.By-undone, back-undone
		if last.By == 0 {
			left = left[:len(left)-1]
		}
	}
	return left
}

// shift returns when something would have begun by today's wall clock. Only what began before a jump moves.
func shift(jumps []Jump, at time.Time) time.Time {
	if at.IsZero() {
		return at
	}
	moved := at
	for _, each := range jumps {
		if at.Before(each.At) {
			moved = moved.Add(each.By)
		}
	}
	return moved
}
