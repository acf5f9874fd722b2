package modulestatus

import "time"

// Patience is how long a module may be in progress before it needs attention: a rollout takes time, but a module that waits for a node or
// an image waits forever.
const Patience = 2 * time.Minute

// Bad reports whether a state needs attention whatever its age.
func (s State) Bad() bool { return s == Error || s == Warning }

// NeedsAttention reports whether a module is in state Error or Warning, or is in progress and unlikely to finish by itself.
func (m *Module) NeedsAttention(now time.Time) bool {
	switch m.State {
	case Processing:
		return m.Since != nil && now.Sub(m.Since.Time) >= Patience
	case Deleting:
		return len(m.Installation.BlockedBy) > 0
	default:
		return m.State.Bad()
	}
}

// WillNeedAttention reports whether a module needs no attention yet, and will after a while if nothing changes.
func (m *Module) WillNeedAttention(now time.Time) bool {
	return m.State == Processing && m.Since != nil && !m.NeedsAttention(now)
}

// Explanation returns the reason and message that explain the state of a module: those of its installation, or those of its custom
// resource where that is worse.
func (m *Module) Explanation() (reason, message string) {
	resource := Worse(m.Module.State, Warning) == m.Module.State && !m.Installation.Warning && m.Installation.State == Installed
	if m.Installation.Message == "" || resource {
		return m.Module.Reason, m.Module.Message
	}
	return m.Installation.Reason, m.Installation.Message
}
