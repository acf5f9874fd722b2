package trial

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/kyma-project/lifecycle-manager/tests/faults/operation"
)

// statusOf returns the Kyma's status as text: state, reasons and messages.
func statusOf(ctx context.Context, s *operation.Scenario) string {
	kyma, err := s.Live(ctx)
	if err != nil {
		return err.Error()
	}
	var words []string
	words = append(words, string(kyma.Status.State))
	for _, cond := range kyma.Status.Conditions {
		words = append(words, fmt.Sprintf("%s=%s %s: %s", cond.Type, cond.Status, cond.Reason, cond.Message))
	}
	modules, err := json.Marshal(kyma.Status.Modules)
	if err != nil {
		return err.Error()
	}
	return strings.Join(append(words, string(modules)), "; ")
}
