package getcmd

import (
	"fmt"
	"io"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kyma-project/lifecycle-manager/internal/client/bulk"
	"github.com/kyma-project/lifecycle-manager/internal/client/modulestatus"
)

const (
	// shownKymas is how many Kymas of a group are named, and shownReasons how many groups of a state are shown.
	shownKymas   = 3
	shownReasons = 10
)

// printSummary writes how many Kymas and modules are in which state, and what is not ready by its reason, with the first Kymas that have
// it: many Kymas have the same trouble. Where modules are named, only they count.
func (s *show) printSummary(in *modulestatus.Inputs, modules []modulestatus.Module, named bool) error {
	lines := modulestatus.Kymas(*in)
	counts := map[modulestatus.State]int{}
	for i := range lines {
		counts[lines[i].State]++
	}
	var text strings.Builder
	fmt.Fprintf(&text, "kymas: %s\n", s.counted(counts))
	s.overview(&text, modules)
	if named {
		lines = nil
	}
	for _, group := range bulk.Bounded(bulk.GroupBy(troubles(lines, modules), stateOutcomes()), shownReasons) {
		fmt.Fprintf(&text, "%s: %s\n  %s\n", s.console.State(string(group.Outcome)), oneLine(group.Message), bulk.Names(group.Keys, shownKymas))
	}
	_, err := io.WriteString(s.console.Out, text.String())
	return err
}

// stateOutcomes are the states as outcomes, those that need attention first.
func stateOutcomes() []bulk.Outcome {
	var outcomes []bulk.Outcome
	for _, state := range order {
		outcomes = append(outcomes, bulk.Outcome(state))
	}
	return outcomes
}

// troubles returns a result for each module that needs attention, and for each Kyma that does although none of its modules shown here
// explains it.
func troubles(lines []modulestatus.KymaLine, modules []modulestatus.Module) []bulk.Result {
	var results []bulk.Result
	explained := map[types.NamespacedName]bool{}
	for i := range modules {
		m := &modules[i]
		if untroubled(m) {
			continue
		}
		namespace, name, _ := strings.Cut(m.Kyma, "/")
		key := types.NamespacedName{Namespace: namespace, Name: name}
		explained[key] = true
		results = append(results, trouble(key, m.State, "module "+m.Name, reasonOf(m), why(m)))
	}
	for i := range lines {
		line := &lines[i]
		key := types.NamespacedName{Namespace: line.Namespace, Name: line.Name}
		if line.State != modulestatus.Ready && !explained[key] {
			results = append(results, trouble(key, line.State, "the Kyma itself", line.Reason, line.Message))
		}
	}
	return results
}

// reasonOf returns the reason that belongs to the message of why.
func reasonOf(m *modulestatus.Module) string {
	if m.Module.Message != "" && why(m) == m.Module.Message {
		return m.Module.Reason
	}
	return m.Installation.Reason
}

// trouble returns one result: "module notes: SignatureMissing: it is not signed".
func trouble(key types.NamespacedName, state modulestatus.State, what, reason, message string) bulk.Result {
	for _, part := range []string{reason, message} {
		if part != "" && part != string(state) {
			what += ": " + part
		}
	}
	return bulk.Result{Key: key, Outcome: bulk.Outcome(state), Message: bulk.Anonymous(what, key)}
}
