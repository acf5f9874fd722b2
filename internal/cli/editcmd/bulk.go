package editcmd

import (
	"context"
	"errors"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/cli/console"
	"github.com/kyma-project/lifecycle-manager/internal/client/bulk"
	"github.com/kyma-project/lifecycle-manager/internal/client/kymaedit"
	"github.com/kyma-project/lifecycle-manager/internal/client/modulestatus"
	"github.com/kyma-project/lifecycle-manager/internal/client/waitfor"
)

// bulkCall is one call of a command for many Kymas. All reading is done when it is opened: a Kyma is read again only after a conflict.
type bulkCall struct {
	*change
	cluster  client.WithWatch
	kymas    []v1beta2.Kyma
	catalogs kymaedit.Catalogs
	// doing and question begin the texts about what is to be done, before the Kymas: "adding notes in" and "Add notes in".
	doing, question string
	// repeat is what a user can do after a call that did not do everything; empty where a repetition would do all of it again.
	repeat string
}

// openBulk finds the Kymas that the flags select and, with a catalog, what their namespaces offer.
func (c *change) openBulk(ctx context.Context, catalog bool) (*bulkCall, error) {
	if err := c.checked(); err != nil {
		return nil, err
	}
	cluster, err := c.target.Client()
	if err != nil {
		return nil, err
	}
	b := &bulkCall{change: c, cluster: cluster, repeat: "the same command again does only what is left"}
	if b.kymas, err = c.target.Kymas(ctx, cluster, &c.bulk.selection); err != nil || !catalog {
		return b, err
	}
	b.catalogs, err = kymaedit.LoadCatalogs(ctx, cluster, namespacesOf(b.kymas))
	return b, err
}

// namespacesOf returns the namespaces of some Kymas, sorted.
func namespacesOf(kymas []v1beta2.Kyma) []string {
	seen := map[string]bool{}
	var namespaces []string
	for i := range kymas {
		if namespace := kymas[i].Namespace; !seen[namespace] {
			seen[namespace] = true
			namespaces = append(namespaces, namespace)
		}
	}
	slices.Sort(namespaces)
	return namespaces
}

// session returns what is known of one Kyma.
func (b *bulkCall) session(kyma *v1beta2.Kyma) *session {
	return &session{b.cluster, b.catalogs.ContextOf(kyma)}
}

// known returns an error for a module that no selected Kyma has and no catalog offers: its name is mistyped.
func (b *bulkCall) known(names []string) error {
	var offered []string
	for _, catalog := range b.catalogs {
		for name := range catalog.Offers {
			offered = append(offered, name)
		}
	}
	for _, name := range names {
		has := func(kyma v1beta2.Kyma) bool {
			s := kymaedit.StandOf(&kyma)
			return s.Has(name) || s.StatusOf(name) != nil
		}
		if !slices.Contains(offered, name) && !slices.ContainsFunc(b.kymas, has) {
			return console.NotFound("no selected Kyma has a module %s", name).Known("modules", kymaedit.Similar(name, offered), offered)
		}
	}
	return nil
}

// effect is what a command does to one of many Kymas, or did.
type effect struct {
	outcome bulk.Outcome
	// message says what changes, or why nothing does.
	message string
	items   []item
	// awaited is what to wait for in the Kyma; nil means nothing.
	awaited *waitfor.Options
	// forbidden means that the user lacks a right.
	forbidden bool
}

// kymaStep is what a command does to one of many Kymas.
type kymaStep struct {
	key     client.ObjectKey
	planned effect
	// do carries it out; nil where there is nothing to do.
	do func(context.Context) effect
}

// bulkEditor edits one of many Kymas and says what that changes, or why it changes nothing. s is the Kyma as it is before that, and an
// error a refusal.
type bulkEditor func(s *session, kyma *v1beta2.Kyma) (changes []kymaedit.Change, message string, err error)

// expecting returns what to wait for after an edit; none means nothing. A nil one means that the whole Kyma must be ready.
type expecting func(s *session, done applied) []waitfor.Expectation

// edits returns a step for each Kyma, which edits it.
func (b *bulkCall) edits(ctx context.Context, do bulkEditor, wants expecting) []kymaStep {
	steps := make([]kymaStep, 0, len(b.kymas))
	for i := range b.kymas {
		kyma := &b.kymas[i]
		one := kymaStep{key: client.ObjectKeyFromObject(kyma), planned: b.edit(ctx, kyma, do, wants, kymaedit.DryRunClient)}
		if one.planned.outcome == bulk.Planned && kymaedit.DryRun(b.dryRun) != kymaedit.DryRunClient {
			one.do = func(ctx context.Context) effect { return b.edit(ctx, kyma, do, wants, kymaedit.DryRun(b.dryRun)) }
		}
		steps = append(steps, one)
	}
	return steps
}

// edit edits one Kyma.
func (b *bulkCall) edit(ctx context.Context, kyma *v1beta2.Kyma, do bulkEditor, wants expecting, dryRun kymaedit.DryRun) effect {
	key := client.ObjectKeyFromObject(kyma)
	if !kyma.DeletionTimestamp.IsZero() {
		return effect{outcome: bulk.Unchanged, message: "is being deleted"}
	}
	var s *session
	var done applied
	made := effect{outcome: bulk.Planned}
	result, err := kymaedit.ApplyTo(ctx, b.cluster, kyma, func(kyma *v1beta2.Kyma) error {
		s = b.session(kyma.DeepCopy())
		return kymaedit.EditEffective(kyma, &s.Asked, func(kyma *v1beta2.Kyma) (err error) {
			if done.changes, made.message, err = do(s, kyma); err != nil {
				return &refusedError{err}
			}
			return nil
		})
	}, kymaedit.Options{DryRun: dryRun})
	if err != nil {
		return failed(err, key)
	}
	done.Result, done.spec = result, modulestatus.Effective(result.After)
	switch {
	case result.Before == result.After:
		made.outcome = bulk.Unchanged
	case result.Written:
		made.outcome = bulk.Done
	}
	made.items = b.items(s, done)
	made.awaited = b.waitOptions(s, done, wants)
	return made
}

// waitOptions returns what to wait for after an edit.
func (b *bulkCall) waitOptions(s *session, done applied, wants expecting) *waitfor.Options {
	options := &waitfor.Options{Kyma: s.Key(), Generation: done.After.Generation, Again: b.again}
	if wants == nil {
		return options
	}
	if options.Modules = wants(s, done); len(options.Modules) == 0 {
		return nil
	}
	return options
}

// refusedError is why an edit is not made.
type refusedError struct{ error }

// Unwrap returns the reason.
func (e *refusedError) Unwrap() error { return e.error }

// failed returns the effect of an error. Its message does not name the Kyma, so that equal ones are told together.
func failed(err error, key client.ObjectKey) effect {
	made := effect{outcome: bulk.Failed, forbidden: apierrors.IsForbidden(err)}
	refused, is := errors.AsType[*refusedError](err)
	switch {
	case is:
		made.outcome, made.message = bulk.Refused, bulk.Anonymous(console.OneLine(refused.Error()), key)
	case apierrors.IsNotFound(err):
		made.message = "is gone"
	case errors.Is(err, context.Canceled):
		made.message = "was interrupted: it may be written or not"
	default:
		made.message = bulk.Anonymous(console.OneLine(err.Error()), key)
	}
	return made
}
