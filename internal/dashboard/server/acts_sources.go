package server

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"github.com/kyma-project/lifecycle-manager/internal/client/communitycatalog"
)

// routeSources registers the routes for the catalogs that modules come from.
func (s *Server) routeSources() {
	s.handle("GET /api/v1/sources", s.sources)
	s.handle("POST /api/v1/sources", s.addSource)
	s.handle("POST /api/v1/sources/test", s.testSource)
	s.handle("DELETE /api/v1/sources/{name}", s.removeSource)
}

// sourceBody is a source as a user enters it.
type sourceBody struct {
	Name   string `json:"name"`
	URL    string `json:"url"`
	Digest string `json:"digest"`
	Key    string `json:"key"`
	// RequireFreshness refuses a signed catalog that has no version or no expiry.
	RequireFreshness bool `json:"requireFreshness"`
}

func (b sourceBody) source() communitycatalog.Source {
	return communitycatalog.Source{Name: b.Name, URL: b.URL, Digest: b.Digest, Key: b.Key, RequireFreshness: b.RequireFreshness}
}

// sources lists the sources that the user may see.
func (s *Server) sources(ctx context.Context, u *User, r *http.Request) (any, error) {
	engine, err := s.engine()
	if err != nil {
		return nil, err
	}
	query := r.URL.Query()
	if err := known(query); err != nil {
		return nil, err
	}
	p, err := pageOf(query)
	if err != nil {
		return nil, err
	}
	all, err := engine.Sources(ctx, actor(u))
	if err != nil {
		return nil, acted(err)
	}
	all = slices.DeleteFunc(all, func(source communitycatalog.Source) bool {
		return !p.has(strings.ToLower(strings.Join([]string{source.Name, source.URL, source.Error}, " ")))
	})
	return listOf(all, p, []Unread{}), nil
}

// addSource stores a source.
func (s *Server) addSource(ctx context.Context, u *User, r *http.Request) (any, error) {
	engine, err := s.engine()
	if err != nil {
		return nil, err
	}
	body, err := decode[sourceBody](r)
	if err != nil {
		return nil, err
	}
	source, err := engine.AddSource(ctx, actor(u), body.source())
	if err != nil {
		return nil, acted(err)
	}
	s.sourceReads.changed(&source)
	return created(source), nil
}

// testSource reads the catalog of a source, stored or not.
func (s *Server) testSource(ctx context.Context, u *User, r *http.Request) (any, error) {
	engine, err := s.engine()
	if err != nil {
		return nil, err
	}
	body, err := decode[sourceBody](r)
	if err != nil {
		return nil, err
	}
	tested, err := engine.TestSource(ctx, actor(u), body.source())
	if err != nil {
		return nil, acted(err)
	}
	if tested.Source != nil { // the catalog shows what was read just now
		s.sourceReads.put(stockKey(*tested.Source), tested.Catalog, s.options.Now())
		s.sourceReads.changed(nil)
		s.wake()
	}
	return tested, nil
}

// removeSource forgets a source; modules installed from it stay.
func (s *Server) removeSource(ctx context.Context, u *User, r *http.Request) (any, error) {
	engine, err := s.engine()
	if err != nil {
		return nil, err
	}
	defer s.sourceReads.changed(nil)
	return nil, acted(engine.RemoveSource(ctx, actor(u), r.PathValue("name")))
}
