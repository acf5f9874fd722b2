package playground

import (
	"errors"
	"os"
	"path/filepath"
)

// Crew are the processes that stand in for pods: the manager's, and those of the operators of sample modules. The playground has one, and
// so has every sandbox. Their lives are bound to ours.
type Crew struct {
	launcher *launcher
	manager  *manager
	helpers  []*operators
}

// NewCrew is a crew without processes.
func NewCrew() *Crew { return &Crew{launcher: newLauncher()} }

// Duty says how to reach the manager.
type Duty struct {
	// Process is its id.
	Process int
	// Log is its file, Metrics and Probes the addresses on which it listens.
	Log, Metrics, Probes string
}

// Manager says how to reach the manager; false while none runs.
func (c *Crew) Manager() (Duty, bool) {
	if c.manager == nil {
		return Duty{}, false
	}
	m := c.manager
	return Duty{Process: m.cmd.Process.Pid, Log: m.log, Metrics: m.metrics, Probes: m.probes}, true
}

// Ended is closed when the manager ends by itself; nil, which nobody can receive from, while none was started.
func (c *Crew) Ended() <-chan struct{} {
	if c.manager == nil {
		return nil
	}
	return c.manager.done
}

// Failure says how the manager ended by itself. Call it after Ended.
func (c *Crew) Failure() error { return c.manager.failure() }

// EndManager ends the manager, which finishes what it has in flight.
func (c *Crew) EndManager() error {
	if c.manager == nil {
		return nil
	}
	err := c.manager.end(managerPatience)
	c.manager = nil
	return err
}

// End ends all of them: the manager first, because it has work in flight.
func (c *Crew) End() error {
	err := c.EndManager()
	for _, helper := range c.helpers {
		err = errors.Join(err, helper.end())
	}
	c.helpers = nil
	return err
}

// HasOperators tells that a folder has the programs of the sample modules' operators.
func HasOperators(programs string) bool {
	for _, name := range operatorPrograms() {
		if _, err := os.Stat(filepath.Join(programs, name)); err != nil {
			return false
		}
	}
	return true
}
