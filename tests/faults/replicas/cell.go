package replicas

import (
	"fmt"
	"hash/fnv"
	"time"

	"github.com/kyma-project/lifecycle-manager/tests/faults/operation"
	"github.com/kyma-project/lifecycle-manager/tests/faults/trial"
)

// Kind is what happens to one of the replicas.
type Kind string

const (
	// Comes starts a third replica beside two; the write is held until the newcomer was promised a share.
	Comes Kind = "one comes"
	// Ends sends SIGTERM to the owner of the Kyma while its write is held for a moment.
	Ends Kind = "owner ends"
	// Killed kills the owner of the Kyma; its write arrives nevertheless.
	Killed Kind = "owner is killed"
	// HeadKilled kills the replica that assigns the work, whether it owns the Kyma or not.
	HeadKilled Kind = "head is killed"
	// Stopped stops the owner of the Kyma by SIGSTOP until the others have its share; when it continues, its write is still in flight.
	Stopped Kind = "owner stands still"
	// StoppedLate is the same, but the write arrives while the others work on the Kyma and the writer is still stopped.
	StoppedLate Kind = "owner stands still, its write is late"
	// HeadStopped stops the replica that assigns the work until the others have its share.
	HeadStopped Kind = "head stands still"
	// Failover kills the owner of the Kyma when everything is at rest; the operation begins right after that.
	Failover Kind = "failover"
)

// kinds that strike at a write.
var kinds = []Kind{Comes, Ends, Killed, HeadKilled, Stopped, StoppedLate, HeadStopped}

// Terms are the durations by which replicas share the work.
type Terms struct {
	Name                string
	Lease, Renew, Retry time.Duration
}

// Short is for trials, Patient for trials on a busy machine: three managers, three control planes and their proxies starve each other
// there, and a replica without a response for two seconds must not count as dead. Deployed is that of a deployed manager.
var (
	Short    = Terms{"3 s", 3 * time.Second, 2 * time.Second, 300 * time.Millisecond}
	Patient  = Terms{"9 s", 9 * time.Second, 6 * time.Second, time.Second}
	Deployed = Terms{"15 s", 15 * time.Second, 10 * time.Second, 2 * time.Second}
)

// flags returns the Terms as flags of a manager.
func (t Terms) flags() []string {
	return []string{
		"--leader-elect", "--leader-election-lease-duration=" + t.Lease.String(),
		"--leader-election-renew-deadline=" + t.Renew.String(), "--leader-election-retry-period=" + t.Retry.String(),
	}
}

// Cell is one trial.
type Cell struct {
	Kind      Kind
	Operation operation.Operation
	Terms     Terms
	// Server and N identify the write: the N-th of the operation on that server, counted from 1; 0 is the second of its ConfigMaps.
	Server string
	N      int
}

// Name is unique.
func (c Cell) Name() string {
	switch {
	case c.Kind == Failover:
		return fmt.Sprintf("%s/%s/lease of %s", c.Operation.Name, c.Kind, c.Terms.Name)
	case c.N == 0:
		return fmt.Sprintf("%s/%s/%s/module", c.Operation.Name, c.Kind, c.Server)
	}
	return fmt.Sprintf("%s/%s/%s/%d", c.Operation.Name, c.Kind, c.Server, c.N)
}

// Operations are the names of the operations that are tried by default.
var Operations = []string{"install", "upgrade", "disable", "delete"}

// Cells returns cells for an operation: each kind once on the hub and once in the runtime, at writes that the seed picks, a replica that is
// stopped in the middle of a module, and a failover with the terms of a deployed manager and with short ones.
func Cells(seed uint64, o operation.Operation, clean *trial.Clean) []Cell {
	return append(strikes(o, clean, func(kind Kind, server string, writes int) []int {
		hash := fnv.New64a()
		_, _ = fmt.Fprintf(hash, "%d/%s/%s/%s", seed, o.Name, kind, server) // a hash accepts everything
		return []int{1 + int(hash.Sum64()%uint64(writes))}
	}), always(o)...)
}

// Forms returns cells at every write.
func Forms(o operation.Operation, clean *trial.Clean) []Cell {
	return append(strikes(o, clean, func(_ Kind, _ string, writes int) []int {
		var all []int
		for n := range writes {
			all = append(all, n+1)
		}
		return all
	}), always(o)...)
}

func strikes(o operation.Operation, clean *trial.Clean, pick func(kind Kind, server string, writes int) []int) []Cell {
	var cells []Cell
	for _, kind := range kinds {
		for _, server := range []string{"hub", runtime} {
			if clean.Writes[server] == 0 {
				continue
			}
			for _, n := range pick(kind, server, clean.Writes[server]) {
				cells = append(cells, Cell{Kind: kind, Operation: o, Terms: Short, Server: server, N: n})
			}
		}
	}
	return cells
}

// runtime is the server with a module's objects.
const runtime = "runtime-1"

// InModule returns the cell in which writes must be refused: a pass over a module's objects records its results only afterwards.
func InModule(o operation.Operation) Cell {
	return Cell{Kind: Stopped, Operation: o, Terms: Short, Server: runtime}
}

// always returns the cells that do not depend on the seed.
func always(o operation.Operation) []Cell {
	late := InModule(o)
	late.Kind = StoppedLate
	return []Cell{InModule(o), late, {Kind: Failover, Operation: o, Terms: Short}, {Kind: Failover, Operation: o, Terms: Deployed}}
}
