package operations

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/client/kymaedit"
	"github.com/kyma-project/lifecycle-manager/internal/client/modulestatus"
	"github.com/kyma-project/lifecycle-manager/internal/client/rolloutedit"
	"github.com/kyma-project/lifecycle-manager/internal/client/rollouts"
	"github.com/kyma-project/lifecycle-manager/pkg/apply"
)

// RolloutAction is what a user can do about a rollout.
type RolloutAction string

// The actions. A pause is about the rollout as a whole, and so is the resume that ends it; the others are about the target of one channel.
const (
	RolloutPause   RolloutAction = "pause"
	RolloutResume                = RolloutAction(v1beta2.RolloutResume)
	RolloutApprove               = RolloutAction(v1beta2.RolloutApprove)
	RolloutAbort                 = RolloutAction(v1beta2.RolloutAbort)
)

var rolloutActions = []RolloutAction{RolloutPause, RolloutResume, RolloutApprove, RolloutAbort}

// DecideRollout changes the spec of a rollout in memory as a request wants it. The release may be nil.
func DecideRollout(
	deed *Request, rollout *v1beta2.ModuleRollout, release *v1beta2.ModuleReleaseMeta, by rollouts.Person,
) (rollouts.Outcome, error) {
	ask := rollouts.Request{Channel: deed.Channel, Person: by}
	switch deed.Action {
	case RolloutPause:
		return rollouts.Pause(rollout), nil
	case RolloutResume:
		return rollouts.Resume(rollout, release, ask)
	case RolloutApprove:
		return rollouts.Approve(rollout, release, ask)
	case RolloutAbort:
		return rollouts.Abort(rollout, release, ask)
	}
	return rollouts.Outcome{}, refuse(WhyInvalid, "action %q is unknown", deed.Action)
}

// rollout plans what a user decided about a rollout. An abort also sets the channel back to the version before, after the decision: a
// channel that is set back first would be a new target.
func (p *planner) rollout(ctx context.Context) (*plan, error) {
	c, err := connect(p.as.Config)
	if err != nil {
		return nil, err
	}
	namespace, name, _ := strings.Cut(p.deed.Rollout, "/")
	key := client.ObjectKey{Namespace: namespace, Name: name}
	made := &plan{way: wayRollout}
	found, outcome, err := rolloutedit.Decide(ctx, c, key, kymaedit.DryRunClient, p.decideRollout)
	switch {
	case unserved(err):
		return nil, refuse(WhyNotFound, "there is no ModuleRollout %s", key)
	case err != nil && rolloutRefusal(err) != nil:
		return made.refuse(rolloutRefusal(err)), nil //nolint:nilerr // the plan says why
	case err != nil:
		return nil, err
	}
	made.why, made.warnings = p.rolloutEffect(found, outcome)
	made.steps = []step{p.decisionStep(c, key)}
	if outcome.Back != nil {
		made.steps = append(made.steps, setBackStep(c, key, *outcome.Back))
	}
	return made, nil
}

// decideRollout changes a rollout as the request wants it, if it is still about what the user saw.
func (p *planner) decideRollout(rollout *v1beta2.ModuleRollout, release *v1beta2.ModuleReleaseMeta) (rollouts.Outcome, error) {
	outcome, err := DecideRollout(p.deed, rollout, release, rollouts.Person{Name: p.as.Name, At: p.now()})
	if err != nil {
		return outcome, err
	}
	deed := p.deed
	switch {
	case deed.Target == "" || outcome.Target == "": // it is about the whole rollout, or was done before
	case outcome.Target != deed.Target:
		return outcome, refuse(WhyBusy, "the rollout of %s is about %s meanwhile, and not about %s: look at it again", rollout.Name,
			outcome.Target, deed.Target)
	case deed.Wave != "" && outcome.Wave != deed.Wave:
		return outcome, refuse(WhyBusy, "the rollout of %s is in wave %s meanwhile, and not in %s: look at it again", rollout.Name,
			outcome.Wave, deed.Wave)
	case outcome.Back != nil && outcome.Back.To != deed.Version:
		return outcome, refuse(WhyBusy, "the version before is %s meanwhile, and not %s: look at the rollout again", outcome.Back.To,
			deed.Version)
	}
	return outcome, nil
}

// rolloutRefusal gives an error about a decision a reason of this package; nil for one of the cluster.
func rolloutRefusal(err error) error {
	var refused *rollouts.RefusedError
	var choice *rollouts.ChoiceError
	var unknown *rollouts.UnknownChannelError
	var moved *rolloutedit.MovedError
	switch {
	case ReasonOf(err) != "":
		return err
	case errors.As(err, &refused), errors.As(err, &choice):
		return refuse(WhyRefused, "%s", err)
	case errors.As(err, &unknown):
		return refuse(WhyNotFound, "%s: it has %s", err, strings.Join(unknown.Channels, ", "))
	case errors.As(err, &moved):
		return refuse(WhyBusy, "%s: look at it again", err)
	}
	return nil
}

// rolloutEffect says what follows from a decision, and what a user should know before.
func (p *planner) rolloutEffect(rollout *v1beta2.ModuleRollout, outcome rollouts.Outcome) (effect string, warnings []string) {
	version, _, _ := strings.Cut(outcome.Target, "@")
	c := rolloutChannel(rollout, outcome.Channel)
	switch {
	case outcome.Done == "":
		return outcome.Why, nil
	case p.deed.Action == RolloutPause:
		return "no further Kyma begins; upgrades that have begun continue", nil
	case p.deed.Action == RolloutAbort:
		effect = fmt.Sprintf("no further Kyma gets %s; those that have it keep it", version)
		if outcome.Back == nil {
			warnings = append(warnings, fmt.Sprintf("no version before %s was rolled out to all, so that it stays the version on offer: Kymas "+
				"without it wait until another one is released", version))
		}
	case p.deed.Action == RolloutApprove:
		effect = "the Kymas of wave " + outcome.Wave + " get " + version
		if rollout.Spec.Paused {
			warnings = append(warnings, "the rollout is paused: nothing begins before it is resumed")
		}
	case c == nil || outcome.Wave == "":
		effect = "Kymas begin again where the rollout was paused"
	default:
		effect = fmt.Sprintf("further Kymas get %s, and what failed so far no longer counts", version)
		if failed := failedOf(c); failed != "" {
			warnings = append(warnings, failed)
		}
	}
	return effect, warnings
}

// failedOf names the Kymas that a resume forgives.
func failedOf(c *v1beta2.RolloutChannel) string {
	failed := int32(0)
	for i := range c.Waves {
		failed += c.Waves[i].Failed
	}
	if failed == 0 {
		return ""
	}
	var names []string
	for i := range c.Worst {
		names = append(names, c.Worst[i].Kyma)
	}
	if len(names) == 0 {
		return fmt.Sprintf("the failure of Kymas is forgiven: %d", failed)
	}
	return fmt.Sprintf("the failure of Kymas is forgiven: %d, among them %s", failed, few(names))
}

func rolloutChannel(rollout *v1beta2.ModuleRollout, name string) *v1beta2.RolloutChannel {
	at := slices.IndexFunc(rollout.Status.Channels, func(c v1beta2.RolloutChannel) bool { return c.Name == name })
	if at < 0 {
		return nil
	}
	return &rollout.Status.Channels[at]
}

// decisionStep returns the step that writes the decision.
func (p *planner) decisionStep(c *cluster, key client.ObjectKey) step {
	ref := modulestatus.Ref{APIVersion: v1beta2.GroupVersion.String(), Kind: "ModuleRollout", Namespace: key.Namespace, Name: key.Name}
	write := func(ctx context.Context, dry kymaedit.DryRun) (Change, error) {
		before := &v1beta2.ModuleRolloutSpec{}
		after, _, err := rolloutedit.Decide(ctx, c, key, dry,
			func(rollout *v1beta2.ModuleRollout, release *v1beta2.ModuleReleaseMeta) (rollouts.Outcome, error) {
				before = rollout.Spec.DeepCopy()
				return p.decideRollout(rollout, release)
			})
		if refusal := rolloutRefusal(err); refusal != nil {
			err = refusal
		}
		if err != nil {
			return Change{Object: ref, Change: apply.ChangeRefused, Fields: []Field{}, Error: errorText(err)}, err
		}
		return compared(ref, rolloutSpec(before), rolloutSpec(&after.Spec))
	}
	return step{
		title: p.deed.Title(),
		try: func(ctx context.Context) ([]Change, error) {
			change, err := write(ctx, kymaedit.DryRunServer)
			return []Change{change}, err
		},
		do: func(ctx context.Context, r *reporter) error {
			change, err := write(ctx, kymaedit.DryRunNone)
			r.object(ref, string(change.Change), change.Error)
			return err
		},
	}
}

func rolloutSpec(spec *v1beta2.ModuleRolloutSpec) any {
	return struct {
		Spec *v1beta2.ModuleRolloutSpec `json:"spec"`
	}{spec}
}

// setBackStep returns the step that lets the channel offer the version before.
func setBackStep(c *cluster, key client.ObjectKey, back rollouts.SetBack) step {
	ref := modulestatus.Ref{APIVersion: v1beta2.GroupVersion.String(), Kind: "ModuleReleaseMeta", Namespace: key.Namespace, Name: key.Name}
	path, title := "spec.channels["+back.Channel+"].version", fmt.Sprintf("Let channel %s offer %s again", back.Channel, back.To)
	if back.Channel == "" {
		path, title = "spec.mandatory.version", "Let all Kymas have "+back.To+" again"
	}
	write := func(ctx context.Context, dry kymaedit.DryRun) (Change, error) {
		made := Change{Object: ref, Change: apply.ChangeUnchanged, Fields: []Field{}}
		changed, err := rolloutedit.SetChannel(ctx, c, key, back, dry)
		if refusal := rolloutRefusal(err); refusal != nil {
			err = refusal
		}
		switch {
		case err != nil:
			made.Change, made.Error = apply.ChangeRefused, errorText(err)
		case changed:
			made.Change, made.Fields = apply.ChangeUpdate, []Field{{Path: path, From: back.From, To: back.To}}
		}
		return made, err
	}
	return step{
		title: title,
		try: func(ctx context.Context) ([]Change, error) {
			change, err := write(ctx, kymaedit.DryRunServer)
			return []Change{change}, err
		},
		do: func(ctx context.Context, r *reporter) error {
			change, err := write(ctx, kymaedit.DryRunNone)
			r.object(ref, string(change.Change), change.Error)
			return err
		},
	}
}
