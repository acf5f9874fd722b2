package editcmd

import (
	"context"
	"errors"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/cli/console"
	"github.com/kyma-project/lifecycle-manager/internal/client/kymaedit"
)

// session is a cluster, the Kyma that a command is about, and the modules that are available there.
type session struct {
	client.WithWatch
	kymaedit.KymaContext
}

// open returns the cluster and the Kyma.
func (c *change) open(ctx context.Context) (*session, error) {
	if err := c.checked(); err != nil {
		return nil, err
	}
	cluster, err := c.target.Client()
	if err != nil {
		return nil, err
	}
	kyma, err := c.target.Kyma(ctx, cluster, c.kyma)
	if err != nil {
		return nil, err
	}
	return &session{cluster, kymaedit.StandOf(kyma)}, nil
}

// check gives an error of Check an exit code and a hint.
func (s *session) check(spec *v1beta2.KymaSpec, wish kymaedit.ModuleRequest) error {
	return judged(s.Check(spec, wish))
}

// judged gives an error of package kymaedit an exit code and a hint.
func judged(err error) error {
	var unknown *kymaedit.UnknownError
	var lower *kymaedit.LowerError
	var stuck *kymaedit.NoWayBackError
	if failure := unapproved(err); failure != nil {
		return failure
	}
	switch {
	case errors.As(err, &stuck):
		return (&console.Failure{Code: console.CodeError, Err: err}).With("kyma history %s shows what it had", stuck.Module)
	case errors.As(err, &unknown):
		return console.NotFound("%w", err).With("kyma catalog list shows the available modules")
	case errors.As(err, &lower):
		return (&console.Failure{Code: console.CodeError, Err: err}).
			With("the lifecycle manager refuses that: delete the module, and add it again")
	}
	return err
}
