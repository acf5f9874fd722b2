package server

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"

	"github.com/kyma-project/lifecycle-manager/internal/client/runtimeaccess"
	"github.com/kyma-project/lifecycle-manager/internal/dashboard/operations"
)

// routeActs registers the routes that change something, and those that report on changes.
func (s *Server) routeActs() {
	s.handle("POST /api/v1/previews", s.preview)
	s.handle("POST /api/v1/operations", s.startOperation)
	s.handle("GET /api/v1/operations", s.operations)
	s.handle("GET /api/v1/operations/{id}", s.operation)
	s.handle("POST /api/v1/operations/{id}/resume", s.resumeOperation)
	s.handle("POST /api/v1/operations/{id}/cancel", s.cancelOperation)
	s.handle("DELETE /api/v1/operations/{id}", s.forgetOperation)
	s.routeSources()
}

// actor returns the user as package operations represents users.
func actor(u *User) operations.Actor {
	return operations.Actor{Name: u.Name, Config: u.Config, May: u.May}
}

// engine returns the engine that carries out operations.
func (s *Server) engine() (*operations.Engine, error) {
	if s.tasks == nil {
		return nil, fail(http.StatusNotImplemented, WhyRefused, "this dashboard is read-only: it was started without an operations engine")
	}
	return s.tasks, nil
}

// reasons maps the errors of package operations to answers.
var reasons = map[string]struct {
	status int
	reason string
}{
	operations.WhyInvalid:   {http.StatusBadRequest, WhyInvalid},
	operations.WhyNotFound:  {http.StatusNotFound, WhyNotFound},
	operations.WhyRefused:   {http.StatusUnprocessableEntity, WhyRefused},
	operations.WhyConfirm:   {http.StatusConflict, operations.WhyConfirm},
	operations.WhyBlocked:   {http.StatusConflict, operations.WhyBlocked},
	operations.WhyBusy:      {http.StatusConflict, WhyConflict},
	operations.WhyTooMany:   {http.StatusTooManyRequests, WhyTooMany},
	operations.WhyForbidden: {http.StatusForbidden, WhyForbidden},
}

// acted translates errors of package operations and of the access to a runtime. All others are errors of the cluster.
func acted(err error) error {
	if err == nil {
		return nil
	}
	if way, is := errors.AsType[*runtimeaccess.Error](err); is {
		if runtimeaccess.IsForbidden(way) {
			return fail(http.StatusForbidden, WhyForbidden, "%s", way.Message)
		}
		return fail(http.StatusConflict, way.Reason, "%s", way.Message)
	}
	own, is := errors.AsType[*operations.Error](err)
	if !is {
		return err
	}
	answer := reasons[own.Reason]
	problem := &Problem{Status: answer.status, Reason: answer.reason, Message: own.Message}
	for i := range own.Blocking {
		b := &own.Blocking[i]
		problem.Details = append(problem.Details, Detail{Field: string(b.UID), Message: b.Ref.String()})
	}
	return problem
}

// preview returns what a request would change.
func (s *Server) preview(ctx context.Context, u *User, r *http.Request) (any, error) {
	engine, err := s.engine()
	if err != nil {
		return nil, err
	}
	deed, err := decode[operations.Request](r)
	if err != nil {
		return nil, err
	}
	done, err := s.previews.take(ctx, u.Name)
	if err != nil {
		return nil, err
	}
	defer done()
	preview, err := engine.Preview(ctx, actor(u), deed)
	return preview, acted(err)
}

// startOperation begins to carry out a request.
func (s *Server) startOperation(ctx context.Context, u *User, r *http.Request) (any, error) {
	engine, err := s.engine()
	if err != nil {
		return nil, err
	}
	deed, err := decode[operations.Request](r)
	if err != nil {
		return nil, err
	}
	operation, err := engine.Start(ctx, actor(u), deed)
	if err != nil {
		return nil, acted(err)
	}
	return accepted(operation), nil
}

// operations lists the operations that the user may see, newest first.
func (s *Server) operations(ctx context.Context, u *User, r *http.Request) (any, error) {
	engine, err := s.engine()
	if err != nil {
		return nil, err
	}
	query := r.URL.Query()
	if err := known(query, "state"); err != nil {
		return nil, err
	}
	p, err := pageOf(query)
	if err != nil {
		return nil, err
	}
	all, err := engine.List(ctx, actor(u))
	if err != nil {
		return nil, acted(err)
	}
	all = slices.DeleteFunc(all, func(o operations.Operation) bool {
		text := strings.ToLower(strings.Join([]string{o.ID, o.Title, o.User, string(o.State), o.Message}, " "))
		return !chosen(query, "state", string(o.State)) || !p.has(text)
	})
	return listOf(all, p, []Unread{}), nil
}

// operation returns one operation.
func (s *Server) operation(ctx context.Context, u *User, r *http.Request) (any, error) {
	return s.withOperation(ctx, u, r, (*operations.Engine).Get)
}

// resumeOperation carries out an operation again, as the user.
func (s *Server) resumeOperation(ctx context.Context, u *User, r *http.Request) (any, error) {
	operation, err := s.withOperation(ctx, u, r, (*operations.Engine).Resume)
	if err != nil {
		return nil, err
	}
	return accepted(operation), nil
}

// cancelOperation ends an operation; the changes made until then stay.
func (s *Server) cancelOperation(ctx context.Context, u *User, r *http.Request) (any, error) {
	operation, err := s.withOperation(ctx, u, r, (*operations.Engine).Cancel)
	if err != nil {
		return nil, err
	}
	return accepted(operation), nil
}

func (s *Server) withOperation(
	ctx context.Context, u *User, r *http.Request,
	do func(*operations.Engine, context.Context, operations.Actor, string) (operations.Operation, error),
) (any, error) {
	engine, err := s.engine()
	if err != nil {
		return nil, err
	}
	operation, err := do(engine, ctx, actor(u), r.PathValue("id"))
	if err != nil {
		return nil, acted(err)
	}
	return operation, nil
}

// forgetOperation removes an operation from the list.
func (s *Server) forgetOperation(ctx context.Context, u *User, r *http.Request) (any, error) {
	engine, err := s.engine()
	if err != nil {
		return nil, err
	}
	return nil, acted(engine.Forget(ctx, actor(u), r.PathValue("id")))
}
