package server

import (
	"context"
	"time"

	"github.com/kyma-project/lifecycle-manager/internal/client/causereader"
	"github.com/kyma-project/lifecycle-manager/internal/client/modulestatus"
	"github.com/kyma-project/lifecycle-manager/internal/client/modulestatus/rootcause"
)

// evidenceLasts is how long the evidence about a module is reused: it takes more requests than the rest of its page.
const evidenceLasts = 10 * time.Second

// causeOf returns why a module is not ready, nil if it is. in has what was read of its cluster, unless unread says why that was not
// possible.
func (s *Server) causeOf(ctx context.Context, u *User, o *one, in *modulestatus.Inputs, unread error) *modulestatus.Cause {
	if o.module.State == modulestatus.Ready {
		return nil
	}
	e, err := rootcause.Evidence{}, unread
	if reachable := o.module.Kyma == "" || o.kyma != nil; err == nil && reachable {
		e, err = s.evidence(ctx, u, o, in)
	}
	e.Module = o.module
	if err != nil {
		e.Unread = append(e.Unread, rootcause.Unread{Text: problemOf(acted(err)).Message})
	}
	return rootcause.Of(e, s.options.Now())
}

// evidence reads what may explain the state of a module, as the requesting user and in the cluster of its objects.
func (s *Server) evidence(ctx context.Context, u *User, o *one, in *modulestatus.Inputs) (rootcause.Evidence, error) {
	from, err := s.connectionOf(ctx, u, o.kyma)
	if err != nil {
		return rootcause.Evidence{}, err
	}
	beyond(ctx)
	key := "cause " + o.module.Kyma + " " + o.module.Name
	return recalledFor(ctx, u, key, evidenceLasts, func(ctx context.Context) (rootcause.Evidence, error) {
		logs, err := causereader.LogsOf(from.config)
		if err != nil {
			return rootcause.Evidence{}, err
		}
		return causereader.Read(ctx, causereader.Access{Reader: from.Client, Logs: logs}, in, o.module), nil
	})
}
