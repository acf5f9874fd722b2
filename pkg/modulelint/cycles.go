package modulelint

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kyma-project/lifecycle-manager/pkg/diagnostics"
	"github.com/kyma-project/lifecycle-manager/pkg/moduleconfig"
	"github.com/kyma-project/lifecycle-manager/pkg/requirements"
)

// Cycles returns a finding for each circle in which modules require each other: none of them could ever be installed. It is reported where
// the first module of the circle requires the next one.
func Cycles(configs []*moduleconfig.Config) []diagnostics.Finding {
	byName, needs := map[string]*moduleconfig.Config{}, map[string][]requirements.Requirement{}
	for _, c := range configs {
		byName[c.ModuleName()], needs[c.ModuleName()] = c, c.Requires
	}
	_, cycles := requirements.Order(requirements.NewGraph(needs))
	var found []diagnostics.Finding
	for _, cycle := range cycles {
		c := byName[cycle[0]]
		if len(cycle) <= 2 { // moduleconfig refuses a module that requires itself
			continue
		}
		at := slices.IndexFunc(c.Requires, func(r requirements.Requirement) bool { return r.Module == cycle[1] })
		field := fmt.Sprintf("requires[%d].module", at)
		line, column := c.Position(field)
		found = append(found, diagnostics.Finding{
			Rule: RuleRequirementCycle, Severity: diagnostics.Error, File: c.File, Line: line, Column: column, Field: field,
			Message: "the modules require each other: " + strings.Join(cycle, " -> "), Fix: "let one of them do without the next",
		})
	}
	return found
}
