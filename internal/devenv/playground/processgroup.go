//go:build unix

package playground

import "errors"

// ProcessGroup holds the processes that stand in for pods: the manager's, and those of the operators of sample modules. The playground has
// one, and so has every sandbox. Their lives are tied to ours.
type ProcessGroup struct {
	launcher *launcher
	manager  *manager
	helpers  []*operators
}

// NewProcessGroup returns a group without processes.
func NewProcessGroup() *ProcessGroup { return &ProcessGroup{launcher: newLauncher()} }

// ManagerEndpoints describe how to reach the manager.
type ManagerEndpoints struct {
	// Process is its id.
	Process int
	// Log is its file, Metrics and Probes the addresses on which it listens.
	Log, Metrics, Probes string
}

// Manager returns how to reach the manager; false while it does not run.
func (c *ProcessGroup) Manager() (ManagerEndpoints, bool) {
	if c.manager == nil {
		return ManagerEndpoints{}, false
	}
	m := c.manager
	return ManagerEndpoints{Process: m.cmd.Process.Pid, Log: m.log, Metrics: m.metrics, Probes: m.probes}, true
}

// Ended returns a channel that is closed when the manager ends by itself; nil, which blocks for ever, while none was started.
func (c *ProcessGroup) Ended() <-chan struct{} {
	if c.manager == nil {
		return nil
	}
	return c.manager.done
}

// Failure returns the error of a manager that ended by itself. Call it after Ended.
func (c *ProcessGroup) Failure() error { return c.manager.failure() }

// EndManager ends the manager, which finishes the work that it has in flight.
func (c *ProcessGroup) EndManager() error {
	if c.manager == nil {
		return nil
	}
	err := c.manager.end(managerPatience)
	c.manager = nil
	return err
}

// End ends all of them: the manager first, because it has work in flight.
func (c *ProcessGroup) End() error {
	err := c.EndManager()
	for _, helper := range c.helpers {
		err = errors.Join(err, helper.end())
	}
	c.helpers = nil
	return err
}
