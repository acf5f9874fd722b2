package getcmd

import (
	"fmt"
	"io"
	"time"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/client/modulestatus"
)

// explainPending writes what a version that waits for consent asks for, the gravest first, and what to do. named means that the command
// must say which Kyma it is about.
func (s *show) explainPending(to io.Writer, m *modulestatus.Module, named bool) {
	if m.Installation.Reason == v1beta2.ReasonRequirementMissing {
		fmt.Fprintf(to, "  %-13s %s\n", "requirements", command("requirements", m, named)+" shows what is missing")
	}
	if m.Pending == nil {
		return
	}
	fmt.Fprintf(to, "  %-13s %s\n", "consent", oneLine(pendingText(m, named)))
	for _, sentence := range m.Pending.Gravest {
		fmt.Fprintf(to, "  %-13s - %s\n", "", oneLine(sentence))
	}
}

// pendingText returns what waits for whose consent, and the remedy.
func pendingText(m *modulestatus.Module, named bool) string {
	p := m.Pending
	text := p.Version + " waits"
	if counts := modulestatus.PendingCounts(p.Counts); counts != "" {
		text += ", with " + counts
	}
	if p.Deadline != nil {
		text += ", until " + p.Deadline.UTC().Format(time.RFC3339)
	}
	if !m.ConsentHere {
		return text + ": " + modulestatus.Consenters(p.From) + " must agree"
	}
	return text + ": " + command("approve", m, named)
}

// command returns the command line with a verb about a module.
func command(verb string, m *modulestatus.Module, named bool) string {
	line := "kyma " + verb + " " + m.Name
	if named && m.Kyma != "" {
		line += " --kyma " + m.Kyma
	}
	return line
}

// waits reports whether a module that runs waits for a person, or for another module, before it is upgraded.
func waits(m *modulestatus.Module) bool {
	return m.Pending != nil || m.Installation.Reason == v1beta2.ReasonRequirementMissing
}
