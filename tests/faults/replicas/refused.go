package replicas

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/kyma-project/lifecycle-manager/internal/manager/sharding"
)

// fences waits until the victim's record of its work before the stop was refused. When it was struck at an arbitrary write, there may be
// nothing to record.
func (t *attempt) fences(ctx context.Context) error {
	if t.N > 0 {
		return nil
	}
	last := errors.New("nothing was refused")
	err := wait.PollUntilContextTimeout(ctx, poll, t.suite.longer(soon), true, func(ctx context.Context) (bool, error) {
		all, err := t.fleet.fenced(ctx)
		if err != nil {
			last = err
			return false, nil //nolint:nilerr // the next look may succeed, and the last failure is told
		}
		return sum(all[t.victim]) > sum(t.before[t.victim]), nil
	})
	if err != nil {
		return fmt.Errorf("it went on in the middle of a pass, and has to be refused the record of it: %w", last)
	}
	return nil
}

// refused returns which writes were refused without a reason, and notes those of the victim.
func (t *attempt) refused(ctx context.Context) (problems []string) {
	all, err := t.fleet.fenced(ctx)
	if err != nil {
		return []string{err.Error()}
	}
	for r, reasons := range all {
		if more := sum(reasons) - sum(t.before[r]); more > 0 {
			text := fmt.Sprintf("%.0f writes of %s were refused: %s", more, r.Name, list(reasons))
			t.notef("refused", "%s", text)
			if r != t.victim || reasons[sharding.WhyUnmarked] > 0 {
				problems = append(problems, text)
			}
		}
	}
	return problems
}

func sum(reasons map[string]float64) (total float64) {
	for _, n := range reasons {
		total += n
	}
	return total
}

func list(reasons map[string]float64) string {
	var words []string
	for reason, n := range reasons {
		words = append(words, fmt.Sprintf("%s %.0f", reason, n))
	}
	slices.Sort(words)
	return strings.Join(words, ", ")
}
