package operations

import (
	"context"
	"encoding/json"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/client/kymaedit"
	"github.com/kyma-project/lifecycle-manager/internal/client/modulestatus"
	"github.com/kyma-project/lifecycle-manager/internal/client/waitfor"
	"github.com/kyma-project/lifecycle-manager/pkg/apply"
)

// change is an edit of a Kyma that is tried, then made, and then waited for.
type change struct {
	*hubContext
	// ask holds the options of the wait.
	ask waitfor.Options
	// edit changes the spec. It may be called many times.
	edit func(*v1beta2.KymaSpec) error
	// editKyma is edit for one that depends on the status; edit is not used then.
	editKyma func(*v1beta2.Kyma) error
	// wants returns the expectations of the wait; nil means the Kyma as a whole.
	wants func(after *v1beta2.KymaSpec) []waitfor.Expectation
	// after is the Kyma after the edit.
	after *v1beta2.Kyma
}

// steps returns the steps of a change: the edit, and the wait.
func (c *change) steps(title, waiting string) []step {
	return []step{
		{title: title, try: c.try, do: func(ctx context.Context, r *reporter) error {
			result, err := c.apply(ctx, kymaedit.DryRunNone)
			if c.after = result.After; err != nil {
				return err
			}
			made, err := compared(kymaRef(c.Kyma), shownKyma(result.Before), shownKyma(result.After))
			r.wrote(made)
			return err
		}},
		{title: waiting, do: c.await},
	}
}

// apply edits as if the spec held everything that is requested; entries that the edit leaves alone stay out of it, with the runtime's
// user.
func (c *change) apply(ctx context.Context, dry kymaedit.DryRun) (kymaedit.Result, error) {
	result, err := kymaedit.Apply(ctx, c.WithWatch, c.Key(), func(kyma *v1beta2.Kyma) error {
		asked := modulestatus.Effective(kyma)
		return kymaedit.EditEffective(kyma, &asked, func(kyma *v1beta2.Kyma) error {
			if c.editKyma != nil {
				return c.editKyma(kyma)
			}
			return c.edit(&kyma.Spec)
		})
	}, kymaedit.Options{DryRun: dry})
	if err != nil {
		return kymaedit.Result{}, c.explain(err)
	}
	return result, nil
}

// try checks the edit by a dry run on the API server.
func (c *change) try(ctx context.Context) ([]Change, error) {
	result, err := c.apply(ctx, kymaedit.DryRunServer)
	if err != nil {
		return nil, err
	}
	changes, err := compared(kymaRef(c.Kyma), shownKyma(result.Before), shownKyma(result.After))
	return []Change{changes}, err
}

// shownKyma returns the part of a Kyma that users write.
func shownKyma(kyma *v1beta2.Kyma) any {
	return struct {
		Spec v1beta2.KymaSpec `json:"spec"`
	}{kyma.Spec}
}

// compared returns the change from one value to another one. Equal values are no change.
func compared(ref modulestatus.Ref, from, to any) (Change, error) {
	made := Change{Object: ref, Change: apply.ChangeUnchanged, Fields: []Field{}}
	left, err := looseOf(from)
	if err != nil {
		return made, err
	}
	right, err := looseOf(to)
	if err != nil {
		return made, err
	}
	for _, field := range apply.Compare(left, right) {
		made.Fields = append(made.Fields, Field(field))
	}
	if len(made.Fields) > 0 {
		made.Change = apply.ChangeUpdate
	}
	return made, nil
}

func looseOf(value any) (*unstructured.Unstructured, error) {
	loose := &unstructured.Unstructured{}
	text, err := json.Marshal(value)
	if err != nil {
		return nil, err
	}
	return loose, json.Unmarshal(text, &loose.Object)
}

// await waits until the change has been carried out, or needs a user's action.
func (c *change) await(ctx context.Context, r *reporter) error {
	ask := c.ask
	ask.Kyma, ask.Generation = c.Key(), c.after.Generation
	spec := modulestatus.Effective(c.after)
	if c.wants != nil {
		ask.Modules = c.wants(&spec)
	} else if len(spec.Modules) == 0 {
		return nil // there is nothing to wait for
	}
	outcome, err := waitfor.Wait(ctx, c.WithWatch, ask, func(line waitfor.Progress) {
		r.object(c.refOfLine(line.Key), string(line.State), withoutCommand(line.Text))
	})
	if err != nil {
		return err
	}
	note, err := ended(outcome, ask)
	if note != "" {
		r.say(withoutCommand(note))
	}
	return err
}

// withoutCommand returns a text without the command that agrees to a version: pages have a button for that.
func withoutCommand(text string) string {
	text, _, _ = strings.Cut(text, "; agree with kyma approve")
	return text
}

// refOfLine returns the module that a line is about, or the Kyma as a whole.
func (c *change) refOfLine(key string) modulestatus.Ref {
	if key == "Kyma "+c.Key().String() {
		return modulestatus.Ref{APIVersion: v1beta2.GroupVersion.String(), Kind: "Kyma", Namespace: c.Kyma.Namespace, Name: c.Kyma.Name}
	}
	return modulestatus.Ref{Kind: modulestatus.KindModule, Namespace: c.Kyma.Namespace, Name: key}
}

// ended returns the meaning of an outcome: a warning is a note, failures and timeouts are errors.
func ended(outcome waitfor.Outcome, ask waitfor.Options) (note string, err error) {
	switch end, why, line := outcome.End(); {
	case end == waitfor.Warned:
		return why, nil
	case end == waitfor.Failed:
		return "", refuse(WhyRefused, "%s", why)
	case line != nil:
		return "", refuse(WhyRefused, "%s after %s: %s; it continues in the cluster, and resuming waits for it", why, ask.Timeout, line.Text)
	case end == waitfor.Open:
		return "", refuse(WhyRefused, "%s after %s", why, ask.Timeout)
	}
	return "", nil
}
