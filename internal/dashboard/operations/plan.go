package operations

import (
	"cmp"
	"context"
	"errors"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/rest"

	"github.com/kyma-project/lifecycle-manager/internal/client/directinstall"
	"github.com/kyma-project/lifecycle-manager/internal/client/runtimeaccess"
	"github.com/kyma-project/lifecycle-manager/pkg/apply"
	"github.com/kyma-project/lifecycle-manager/pkg/content"
)

// Actor is the user on whose behalf something is done.
type Actor struct {
	Name string
	// Config reaches the hub as the user. It holds the token: it is never printed, and never written anywhere.
	Config *rest.Config
	// May reports what the user may do; nil means that the cluster is queried each time.
	May AccessChecker
}

// plan is a request as it would be carried out. It is recreated for each preview, start and resume, from the current state of the
// cluster.
type plan struct {
	way, why string
	// confirm is the text that the user must type.
	confirm string
	// refused is the error with which the request is refused; nil if it can be done.
	refused  error
	blocking []Blocking
	warnings []string
	// dependents are modules that need the one that is deleted.
	dependents []Dependent
	// taken lists where directly installed modules come from.
	taken []Taken
	steps []step
	// elsewhere reports whether objects of a runtime are listed, which not every reader of the Kyma may see.
	elsewhere bool
	// here lists the Kymas of the request whose modules are in the cluster of the hub.
	here []string
}

// step is one part of a plan.
type step struct {
	title string
	// try returns what do would change, without changing it; nil for a step that changes nothing by itself.
	try func(context.Context) ([]Change, error)
	do  func(context.Context, *reporter) error
}

// of returns the step with everything that it reports attributed to a Kyma, for requests about several of them.
func (s step) of(kyma string) step {
	do, try := s.do, s.try
	s.do = func(ctx context.Context, r *reporter) error {
		named := *r
		named.kyma = kyma
		return do(ctx, &named)
	}
	if try == nil {
		return s
	}
	s.try = func(ctx context.Context) ([]Change, error) {
		changes, err := try(ctx)
		for i := range changes {
			if changes[i].Object.Kind != "Kyma" {
				changes[i].Kyma = kyma
			}
		}
		return changes, err
	}
	return s
}

// planner makes plans for one user.
type planner struct {
	*Engine
	as   Actor
	deed *Request
	// start reports whether the plan is carried out, and not only shown.
	start bool
	// here lists the Kymas that were found to have their modules here.
	here []string
}

// plan decides how a request is carried out. An error means that this cannot be determined; a request that cannot be carried out is a
// refused plan.
func (e *Engine) plan(ctx context.Context, as Actor, deed *Request, start bool) (*plan, error) {
	p := &planner{Engine: e, as: as, deed: deed, start: start}
	made, err := p.make(ctx)
	if made != nil {
		made.here = p.here
	}
	return made, err
}

func (p *planner) make(ctx context.Context) (*plan, error) {
	deed := p.deed
	switch deed.Kind {
	case Add:
		if deed.directly() {
			return p.addDirectly(ctx)
		}
		return p.add(ctx)
	case Upgrade:
		return p.upgrade(ctx)
	case Delete:
		return p.remove(ctx)
	case Manage, Unmanage:
		return p.manage(ctx)
	case Channel:
		return p.channel(ctx)
	case Configure:
		return p.configure(ctx)
	case Promote:
		return p.promote(ctx)
	case Rollout:
		return p.rollout(ctx)
	case Back:
		return p.back(ctx)
	case Retry:
		return p.retry(ctx)
	case Approve:
		return p.approve(ctx)
	case Strategy:
		return p.strategy(ctx)
	case Create:
		return p.createKyma(ctx)
	case Connect:
		return p.connect(ctx)
	case DeleteKyma:
		return p.deleteKyma(ctx)
	case Suspend, Resume:
		return p.suspend(ctx)
	}
	return nil, deed.Validate()
}

// preview tries all steps. If the cluster refuses a step, that is part of the preview; any other failure is an error.
func (p *plan) preview(ctx context.Context) (Preview, error) {
	preview := Preview{
		Way: p.way, Why: p.why, Confirm: p.confirm, Blocking: p.blocking, Warnings: p.warnings, Templates: p.taken, Diff: []Change{},
	}
	if preview.Templates == nil {
		preview.Templates = []Taken{}
	}
	if preview.Dependents = p.dependents; preview.Dependents == nil {
		preview.Dependents = []Dependent{}
	}
	if preview.Blocking == nil {
		preview.Blocking = []Blocking{}
	}
	if preview.Warnings == nil {
		preview.Warnings = []string{}
	}
	if preview.Refused = p.refusal(); preview.Refused != "" {
		return preview, nil
	}
	for _, step := range p.steps {
		if step.try == nil {
			continue
		}
		changes, err := step.try(ctx)
		preview.Diff = append(preview.Diff, changes...)
		switch {
		case err == nil:
		case says(err):
			preview.Refused = cmp.Or(preview.Refused, err.Error())
		default:
			return preview, err
		}
	}
	return preview, nil
}

// says distinguishes errors that are an answer about the request from failures to get one.
func says(err error) bool {
	var status apierrors.APIStatus
	switch {
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded), apply.Classify(err) == apply.ClassUnauthorized:
		return false
	case ReasonOf(err) != "", runtimeaccess.ReasonOf(err) != "", errors.As(err, &status):
		return true
	}
	return directinstall.ReasonOf(err) != content.ReasonInternal
}

// refuse records why it cannot be done.
func (p *plan) refuse(why error) *plan {
	p.refused = why
	return p
}

// refusal returns why it cannot be done, "" if it can.
func (p *plan) refusal() string {
	if p.refused == nil {
		return ""
	}
	return p.refused.Error()
}

// check returns an error for a plan that must not be started.
func (p *plan) check(deed *Request) error {
	if p.refused != nil {
		return p.refused
	}
	if p.confirm != "" && deed.Confirmation != p.confirm {
		return refuse(WhyConfirm, "%s: type %q to confirm that", p.why, p.confirm)
	}
	return nil
}

// blocked returns the error for a deletion that objects block.
func blocked(blocking []Blocking, format string, args ...any) error {
	err := refuse(WhyBlocked, format, args...)
	if own, ok := errors.AsType[*Error](err); ok {
		own.Blocking = blocking
	}
	return err
}
