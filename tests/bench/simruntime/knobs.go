package simruntime

import "time"

// Down is a way not to be there.
type Down int32

const (
	// Up is there.
	Up Down = iota
	// Refuse listens no more: the kernel refuses, and no dial can be counted.
	Refuse
	// Reset accepts, counts and resets.
	Reset
	// BlackHole accepts, counts and falls silent; so do open connections.
	BlackHole
)

// Knobs are what is wrong with a runtime. The zero value is a healthy one.
type Knobs struct {
	// Latency is added to the answer to every call.
	Latency time.Duration
	// Down says that it is not there at all; open connections are reset, or fall silent.
	Down Down
	// Status, when not 0, answers every call.
	Status int
	// RejectNth answers every n-th call with 503, none when 0.
	RejectNth int
}

// Set replaces what is wrong with it, from the next call on.
func (r *Runtime) Set(k Knobs) {
	before := r.knobs.Swap(&k)
	if before.Down == k.Down {
		return
	}
	if err := r.fall(k.Down); err != nil {
		r.fleet.options.Logf("%s cannot come back: %v", r.Name(), err)
	}
}

// Knobs returns what is wrong with it now.
func (r *Runtime) Knobs() Knobs { return *r.knobs.Load() }
