package rollout

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

// DefaultDeadline is the progressDeadline of a plan that has none.
const DefaultDeadline = 30 * time.Minute

// MaxUnderway is how many Kymas a status names at most.
const MaxUnderway = 500

// Plan is the spec of a ModuleRollout, ready to decide with. It does not change, and may be kept as long as the generation of the spec.
type Plan struct {
	waves    []wave // in their order; the last one is Others
	deadline time.Duration
	rollback bool
	paused   bool
	decision *v1beta2.RolloutDecision
}

// wave is a wave of a plan, parsed.
type wave struct {
	name     string
	selector labels.Selector // nil selects all
	share    int             // in per cent; 0: all that are selected
	limit    int             // how many upgrade at a time; 0: all
	failures threshold
	soak     time.Duration
	approval bool
}

// threshold is how many may fail.
type threshold struct {
	value   int
	percent bool
}

// of returns how many of total may fail.
func (t threshold) of(total int) int {
	if t.percent {
		return total * t.value / 100
	}
	return t.value
}

// Compile parses a spec. It fails where Validate finds something.
func Compile(spec *v1beta2.ModuleRolloutSpec) (*Plan, error) {
	plan := &Plan{
		deadline: spec.ProgressDeadline.Duration, rollback: spec.OnFailure == v1beta2.RolloutRollback, paused: spec.Paused,
		decision: spec.Decision.DeepCopy(),
	}
	if plan.deadline <= 0 {
		plan.deadline = DefaultDeadline
	}
	if len(spec.Waves) == 0 {
		return nil, errors.New("spec.waves is empty: name at least one wave")
	}
	for at := range spec.Waves {
		parsed, err := parseWave(&spec.Waves[at])
		if err != nil {
			return nil, fmt.Errorf("wave %q: %w", spec.Waves[at].Name, err)
		}
		if before, taken := plan.hidden(parsed.name); taken {
			return nil, fmt.Errorf("wave %q: %s", parsed.name, before)
		}
		plan.waves = append(plan.waves, parsed)
	}
	// Kymas that the author of the plan did not think of go last, and no more at a time than those before them.
	plan.waves = append(plan.waves, wave{name: Others, limit: plan.waves[len(plan.waves)-1].limit})
	return plan, nil
}

// Validate says what is wrong with a spec that its definition cannot check: selectors that cannot be parsed, waves that no Kyma can be in.
func Validate(spec *v1beta2.ModuleRolloutSpec) error {
	_, err := Compile(spec)
	return err
}

// hidden says why no wave of a name can follow those that the plan has.
func (p *Plan) hidden(name string) (why string, hidden bool) {
	for _, earlier := range p.waves {
		if earlier.name == name {
			return "another wave has the same name: rename one of them", true
		}
		if earlier.selector == nil && earlier.share == 0 {
			return fmt.Sprintf("wave %q before it has all Kymas: give that one a selector or a share, or move it to the end", earlier.name), true
		}
	}
	return "", false
}

func parseWave(from *v1beta2.RolloutWave) (wave, error) {
	parsed := wave{name: from.Name, limit: min(int(from.MaxConcurrent), MaxUnderway), soak: from.Soak.Duration, approval: from.Approval}
	switch {
	case from.Name == "":
		return parsed, errors.New("it has no name")
	case from.Name == Others:
		return parsed, fmt.Errorf("%q is the name of the wave of Kymas that no wave selects: choose another", Others)
	case from.MaxConcurrent < 0:
		return parsed, errors.New("maxConcurrent is negative: leave it out for no bound")
	case from.Soak.Duration < 0:
		return parsed, errors.New("soak is negative")
	}
	if from.Selector != nil {
		selector, err := metav1.LabelSelectorAsSelector(from.Selector)
		if err != nil {
			return parsed, fmt.Errorf("its selector cannot be parsed: %w", err)
		}
		if !selector.Empty() {
			parsed.selector = selector
		}
	}
	var err error
	if parsed.share, err = parseShare(from.Share); err != nil {
		return parsed, err
	}
	parsed.failures, err = parseThreshold(from.MaxFailed)
	return parsed, err
}

// parseShare returns a share in per cent; 0 for all, which is what a share of 100 % means as well.
func parseShare(share string) (int, error) {
	if share == "" {
		return 0, nil
	}
	number, ok := strings.CutSuffix(share, "%")
	value, err := strconv.Atoi(number)
	if !ok || err != nil || value < 1 || value > 100 {
		return 0, fmt.Errorf("share %q is not a percentage between 1%% and 100%%", share)
	}
	return value % 100, nil
}

func parseThreshold(maxFailed string) (threshold, error) {
	if maxFailed == "" {
		return threshold{}, nil
	}
	number, percent := strings.CutSuffix(maxFailed, "%")
	value, err := strconv.Atoi(number)
	if err != nil || value < 0 || percent && value > 100 {
		return threshold{}, fmt.Errorf("maxFailed %q is neither a number nor a percentage", maxFailed)
	}
	return threshold{value: value, percent: percent}, nil
}

// Horizon is the longest time that the plan measures. A Clock needs it.
func (p *Plan) Horizon() time.Duration {
	longest := p.deadline + UnreadyInSoak
	for _, each := range p.waves {
		longest = max(longest, each.soak+p.deadline+UnreadyInSoak)
	}
	return longest
}

// covers reports whether a plan is for a channel; the empty name stands for a mandatory module.
func covers(channels []string, channel string) bool {
	return len(channels) == 0 || slices.Contains(channels, channel)
}
