package operations

import (
	"context"
	"fmt"
	"strings"

	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/client/kymaedit"
	"github.com/kyma-project/lifecycle-manager/internal/client/modulestatus"
	"github.com/kyma-project/lifecycle-manager/internal/client/packaging"
)

// rollout plans what a user decided about a rollout. An abort also sets the channel back to the version before, after the decision:
// a channel that is set back first would be a new target.
func (p *planner) rollout(ctx context.Context) (*plan, error) {
	c, err := connect(p.as.Config)
	if err != nil {
		return nil, err
	}
	namespace, name, _ := strings.Cut(p.deed.Rollout, "/")
	key := client.ObjectKey{Namespace: namespace, Name: name}
	found := &v1beta2.ModuleRollout{}
	err = c.Get(ctx, key, found)
	if unserved(err) {
		return nil, refuse(WhyNotFound, "there is no ModuleRollout %s", key)
	}
	if err != nil {
		return nil, err
	}
	made := &plan{way: wayRollout}
	decision, err := p.decision(found)
	if err != nil {
		return made.refuse(err), nil
	}
	made.why, made.warnings = decision.Effect, decision.Warnings
	made.steps = []step{p.decideRollout(c, key)}
	if decision.SetBack != nil {
		made.steps = append(made.steps, setBack(c, key, *decision.SetBack))
	}
	return made, nil
}

// decideRollout returns the step that writes the decision.
func (p *planner) decideRollout(c *cluster, key client.ObjectKey) step {
	ref := modulestatus.Ref{APIVersion: v1beta2.GroupVersion.String(), Kind: "ModuleRollout", Namespace: key.Namespace, Name: key.Name}
	write := func(ctx context.Context, dry bool) (Change, error) {
		options := []client.PatchOption{client.FieldOwner(kymaedit.FieldManager)}
		if dry {
			options = append(options, client.DryRunAll)
		}
		made := Change{Object: ref, Fields: []Field{}}
		err := retry.RetryOnConflict(retry.DefaultRetry, func() error {
			before := &v1beta2.ModuleRollout{}
			if err := c.Get(ctx, key, before); err != nil {
				return err
			}
			decision, err := p.decision(before)
			if err != nil {
				return err
			}
			after := before.DeepCopy()
			after.Spec = decision.Spec
			if made, err = compared(ref, rolloutSpec(&before.Spec), rolloutSpec(&after.Spec)); err != nil || len(made.Fields) == 0 {
				return err
			}
			// What was decided holds for the rollout as it was read: its status may be another one a moment later.
			return c.Patch(ctx, after, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}), options...)
		})
		return made, err
	}
	return step{
		title: capitalized(p.deed.Title()),
		try: func(ctx context.Context) ([]Change, error) {
			change, err := write(ctx, true)
			return []Change{change}, err
		},
		do: func(ctx context.Context, r *reporter) error {
			change, err := write(ctx, false)
			r.object(ref, string(change.Change), "")
			return err
		},
	}
}

// setBack returns the step that lets the channel offer the version before.
func setBack(c *cluster, key client.ObjectKey, move packaging.Move) step {
	ref := modulestatus.Ref{APIVersion: v1beta2.GroupVersion.String(), Kind: "ModuleReleaseMeta", Namespace: key.Namespace, Name: key.Name}
	title := fmt.Sprintf("Let channel %s offer %s again", move.Channel, move.To)
	if move.Channel == "" {
		title = "Let all Kymas have " + move.To + " again"
	}
	return step{
		title: title,
		try: func(ctx context.Context) ([]Change, error) {
			change, err := c.moveChannel(ctx, ref, move, true)
			return []Change{change}, err
		},
		do: func(ctx context.Context, r *reporter) error {
			change, err := c.moveChannel(ctx, ref, move, false)
			r.object(ref, string(change.Change), "")
			return err
		},
	}
}

func rolloutSpec(spec *v1beta2.ModuleRolloutSpec) any {
	return struct {
		Spec *v1beta2.ModuleRolloutSpec `json:"spec"`
	}{spec}
}

func capitalized(text string) string { return strings.ToUpper(text[:1]) + text[1:] }
