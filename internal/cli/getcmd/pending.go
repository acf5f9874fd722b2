package getcmd

import (
	"fmt"
	"io"
	"time"

	"github.com/kyma-project/lifecycle-manager/internal/client/modulestatus"
)

// explainPending writes what a version that waits for consent asks for, the gravest first, and what to do. named means that the command
// must say which Kyma it is about.
func (s *show) explainPending(to io.Writer, m *modulestatus.Module, named bool) {
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
	command := "kyma approve " + m.Name
	if named && m.Kyma != "" {
		command += " --kyma " + m.Kyma
	}
	return text + ": " + command
}
