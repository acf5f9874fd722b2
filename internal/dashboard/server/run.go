package server

import (
	"cmp"
	"context"
	"errors"
	"net"
	"net/http"
	"sync"
	"time"
)

// introduce reads the server's user name from the cluster. If that fails, pages show "unknown".
func (s *Server) introduce(ctx context.Context) {
	ctx, done := context.WithTimeout(ctx, 5*time.Second)
	defer done()
	s.self.Name = "unknown"
	if u, err := s.identify(ctx, s.self.Config); err == nil {
		s.self.Name, s.self.Groups = u.Name, u.Groups
	}
}

// followDefinitions watches for kinds that are added or removed.
func (s *Server) followDefinitions(ctx context.Context) {
	definitions := place{GroupVersionKind: definitionKind, names: true}
	h := hold(ctx, s.self, s.self.watcher, definitions, s.watches.definitionChanged)
	<-ctx.Done()
	h.stop()
}

// followTasks carries out operations, and wakes streams when one changes.
func (s *Server) followTasks(ctx context.Context) {
	if s.tasks == nil {
		return
	}
	var engine sync.WaitGroup
	engine.Go(func() {
		if err := s.tasks.Run(ctx); err != nil {
			s.log.Info("operations are no longer carried out", "error", err.Error())
		}
	})
	defer engine.Wait()
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.tasks.Changed():
			s.wake()
		}
	}
}

// Run serves on a listener until the context ends; then it lets requests in flight finish, for 10 s at most.
func (s *Server) Run(ctx context.Context, listener net.Listener) error {
	defer s.end()
	_, s.port, _ = net.SplitHostPort(listener.Addr().String())
	s.introduce(ctx)
	server := &http.Server{
		Handler: s.Handler(), ReadHeaderTimeout: 10 * time.Second, ReadTimeout: cmp.Or(s.options.readTimeout, time.Minute),
		IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 32 << 10, ErrorLog: quiet(s.log),
		BaseContext: func(net.Listener) context.Context { return s.life },
	}
	var beside sync.WaitGroup
	for _, f := range []func(context.Context){s.pulse.run, s.sessions.tidy, s.followDefinitions, s.followTasks} {
		beside.Go(func() { f(s.life) })
	}
	done := make(chan error, 1)
	go func() { done <- server.Serve(listener) }()
	var err error
	select {
	case err = <-done:
	case <-ctx.Done():
		s.halt()
		last, stop := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
		defer stop()
		err = server.Shutdown(last)
		if errors.Is(err, context.DeadlineExceeded) {
			err = server.Close()
		}
	}
	s.end()
	beside.Wait()
	s.jobs.wait()
	s.sourceReads.jobs.wait()
	s.contents.close()
	if s.revocations != nil {
		s.revocations.settle()
	}
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}
