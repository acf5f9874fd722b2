package server

import (
	"context"
	"errors"
	"sync"

	"github.com/kyma-project/lifecycle-manager/internal/client/communitycatalog"
	"github.com/kyma-project/lifecycle-manager/internal/client/hubsettings"
	"github.com/kyma-project/lifecycle-manager/internal/client/versioncontent"
	"github.com/kyma-project/lifecycle-manager/pkg/content"
)

// mostRegistries bounds how many registries are kept a loader for.
const mostRegistries = 16

// contents keeps one loader of versions for each registry that a hub reads components from.
type contents struct {
	make func(hub versioncontent.Place) *versioncontent.Loader

	mutex sync.Mutex
	kept  map[versioncontent.Place]*versioncontent.Loader
}

// loader returns the loader for a place, nil if versions are not read. What no loader is kept for gets one that done closes.
func (c *contents) loader(at versioncontent.Place) (found *versioncontent.Loader, done func()) {
	done = func() {}
	if c.make == nil {
		return nil, done
	}
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if found = c.kept[at]; found != nil {
		return found, done
	}
	found = c.make(at)
	if len(c.kept) >= mostRegistries {
		return found, func() { _ = found.Close() }
	}
	if c.kept == nil {
		c.kept = map[versioncontent.Place]*versioncontent.Loader{}
	}
	c.kept[at] = found
	return found, done
}

// close removes what was fetched.
func (c *contents) close() {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	for _, loader := range c.kept {
		_ = loader.Close() // a temporary folder that stays does no harm
	}
	c.kept = nil
}

// unreadable says why a version cannot be read here, and what a user can do.
type unreadable struct {
	Reason  string `json:"reason"`
	Message string `json:"message"`
	Remedy  string `json:"remedy,omitempty"`
}

// Error returns the message.
func (u *unreadable) Error() string { return u.Message }

// unread returns an error as what pages show.
func unread(err error) *unreadable {
	if own, is := errors.AsType[*unreadable](err); is {
		return own
	}
	if refused := communitycatalog.Undialled(err); refused != nil { // the address is not told
		return &unreadable{
			Reason: WhyUnreachable, Message: refused.Error(),
			Remedy: "where the registry is at a private address, start the dashboard with --allow-private-catalogs",
		}
	}
	if typed, is := errors.AsType[*versioncontent.Error](err); is {
		return &unreadable{Reason: typed.Reason, Message: typed.Error(), Remedy: typed.Remedy}
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return &unreadable{Reason: versioncontent.ReasonTimeout, Message: "the registry did not answer in time", Remedy: "try again"}
	}
	problem := problemOf(err)
	return &unreadable{Reason: problem.Reason, Message: problem.Message}
}

// notRead is the answer of a dashboard that was started without access to registries.
func notRead() error {
	return &unreadable{Reason: versioncontent.ReasonUnsupported, Message: "this dashboard reads no versions of modules"}
}

// fetching returns a context for reading registries. In a cluster, addresses are checked when they are dialled, as are those of catalogs.
func (s *Server) fetching(ctx context.Context) context.Context {
	if s.options.Mode != ModeCluster {
		return ctx
	}
	return content.WithDialControl(ctx, communitycatalog.Control(s.options.AllowPrivate))
}

// loaderFor returns the loader for the modules of a namespace, found with what a user may read.
func (s *Server) loaderFor(ctx context.Context, u *User, namespace, module string) (
	*versioncontent.Loader, hubsettings.Settings, func(), error,
) {
	if u.ended.Load() {
		return nil, hubsettings.Settings{}, nil, notLoggedIn()
	}
	settings, err := hubsettings.Read(ctx, u.Client, hubsettings.Files{})
	if err != nil {
		return nil, settings, nil, err
	}
	loader, done := s.contents.loader(settings.FindPlace(ctx, u.Client, namespace, module))
	if loader == nil {
		err = notRead()
	}
	return loader, settings, done, err
}
