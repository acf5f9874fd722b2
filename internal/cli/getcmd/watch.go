package getcmd

import (
	"context"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/cli/await"
	"github.com/kyma-project/lifecycle-manager/internal/client/modulestatus"
)

// follow draws once, and with --watch again whenever something has changed. Only without --watch does the error of a drawing end it.
func (s *show) follow(ctx context.Context, draw func(modulestatus.Inputs) error) error {
	cluster, err := s.target.Client()
	if err != nil {
		return err
	}
	scope, err := s.scope(ctx, cluster)
	if err != nil {
		return err
	}
	if !s.watch {
		in, err := s.read(ctx, cluster, scope)
		if err != nil {
			return err
		}
		return draw(in)
	}
	namespace := scope.Namespace
	if scope.Kyma != nil {
		namespace = scope.Kyma.Namespace
	}
	events, err := await.Events(ctx, s.console, cluster, namespace, &v1beta2.KymaList{}, &v1beta2.ManifestList{})
	if err != nil {
		return err
	}
	return await.Redraw(ctx, s.console, events, func() error {
		in, err := s.read(ctx, cluster, scope)
		if err == nil {
			_ = draw(in) // the output shows the trouble; the exit code follows at the end, which is Ctrl-C
		}
		return err
	})
}
