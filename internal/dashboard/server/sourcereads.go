package server

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/client/communitycatalog"
	"github.com/kyma-project/lifecycle-manager/internal/client/modulestatus"
	"github.com/kyma-project/lifecycle-manager/internal/dashboard/operations"
	"github.com/kyma-project/lifecycle-manager/pkg/content"
)

const (
	// contentLasts is how long the content of a source is reused before it is read again.
	contentLasts = 5 * time.Minute
	// sourcesLast is how long the list of sources is reused: no watch covers it.
	sourcesLast = 10 * time.Second
	// mostSources bounds how many sources of a user are read, and mostStocks of how many the content is kept.
	mostSources, mostStocks = 50, 64
	// mostSourceReads and mostSourceReadsOfOne bound how many sources are read at once.
	mostSourceReads, mostSourceReadsOfOne = 4, 2
)

// WhyReading means that a source has not been read yet: a live query gets the answer when it is there.
const WhyReading = "Reading"

// sourceReads holds what sources held when they were read last, once for all users who may list a source with the same settings. It is kept
// when a later reading fails, and lost with the server.
type sourceReads struct {
	jobs *jobs
	// edits counts changes of sources here, so that the list is read again after each.
	edits atomic.Int64

	mutex  sync.Mutex
	stocks map[string]*stock
}

// stock is the content of a source, and when it was read. It must not be changed.
type stock struct {
	catalog communitycatalog.Catalog
	read    time.Time
}

// knownSource is a source that a user may see, with what is known of its content.
type knownSource struct {
	communitycatalog.Source

	// stock is nil if the source was not read yet.
	stock   *stock
	reading bool
	// trouble is why it cannot be read, or why its content does not count any more.
	trouble error
}

func newSourceReads(life context.Context, wake func()) *sourceReads {
	turns := newTurns(mostSourceReads, mostSourceReadsOfOne, "sources are read")
	return &sourceReads{jobs: newJobs(life, wake, turns), stocks: map[string]*stock{}}
}

// stockKey identifies the content of a source: one with another address, digest or key has another content.
func stockKey(s communitycatalog.Source) string {
	return fmt.Sprintf("%q %q %q %q %t", s.Name, s.URL, s.Digest, s.Key, s.RequireFreshness)
}

// put keeps the content of a source. Of too many, the one that was read first is dropped.
func (k *sourceReads) put(key string, found communitycatalog.Catalog, now time.Time) {
	k.mutex.Lock()
	defer k.mutex.Unlock()
	k.stocks[key] = &stock{found, now}
	for len(k.stocks) > mostStocks {
		oldest := ""
		for one, of := range k.stocks {
			if oldest == "" || of.read.Before(k.stocks[oldest].read) {
				oldest = one
			}
		}
		delete(k.stocks, oldest)
	}
}

func (k *sourceReads) get(key string) *stock {
	k.mutex.Lock()
	defer k.mutex.Unlock()
	return k.stocks[key]
}

// changed forgets how sources were listed and read: a user has changed or read one.
func (k *sourceReads) changed(source *communitycatalog.Source) {
	k.edits.Add(1)
	if source != nil {
		k.jobs.forget(stockKey(*source))
	}
}

// knownSources returns the sources that a user may list, and begins to read those whose content is not known or old. Namespaces of the
// cluster are left out: their modules are those of the cluster.
func (s *Server) knownSources(ctx context.Context, u *User) ([]knownSource, error) {
	if s.tasks == nil {
		return nil, nil
	}
	key := "sources " + strconv.FormatInt(s.sourceReads.edits.Load(), 10)
	listed, err := recalledFor(ctx, u, key, sourcesLast, func(ctx context.Context) ([]communitycatalog.Source, error) {
		return s.tasks.Sources(ctx, actor(u))
	})
	if own, is := errors.AsType[*operations.Error](err); is && own.Reason == operations.WhyNotFound {
		return nil, nil // there is no namespace for sources, and so none of them
	}
	if err != nil {
		return nil, acted(err)
	}
	var all []knownSource
	for _, source := range listed {
		if source.Kind != communitycatalog.Cluster && len(all) < mostSources {
			all = append(all, s.knownSourceOf(u, source))
		}
	}
	return all, nil
}

// knownSourceOf returns what is known of a source, and begins to read it if that is old.
func (s *Server) knownSourceOf(u *User, source communitycatalog.Source) knownSource {
	is := knownSource{Source: source}
	if source.URL == "" { // its ConfigMap is invalid, and Error says why
		is.trouble = fail(http.StatusUnprocessableEntity, WhyInvalid, "%s", source.Error)
		return is
	}
	key, as := stockKey(source), actor(u)
	got := look(s.sourceReads.jobs, key, u.Name, contentLasts, func(ctx context.Context, _ func(string)) (bool, error) {
		found, err := s.tasks.ReadSource(ctx, as, source)
		if err == nil {
			s.sourceReads.put(key, found, s.options.Now())
		}
		return err == nil, err
	})
	is.stock, is.trouble = s.sourceReads.get(key), got.err
	is.reading = is.stock == nil && is.trouble == nil
	if is.stock != nil && is.trouble == nil {
		is.trouble = is.stock.catalog.Counts(source, s.options.Now())
	}
	return is
}

// counts reports whether upgrades can be taken from what was read of the source. A source that is only unreachable does not take them away.
func (b *knownSource) counts(now time.Time) bool {
	return b.stock != nil && b.stock.catalog.Counts(b.Source, now) == nil
}

// content returns what was read of the source last.
func (b *knownSource) content() modulestatus.Stock {
	is := modulestatus.Stock{Source: b.Name}
	if b.stock != nil {
		is.Templates, is.Releases = b.stock.catalog.Templates, b.stock.catalog.Releases
	}
	return is
}

// template returns the template of a version, or of the newest one if none is named; nil if there is none.
func (b *knownSource) template(name, version string) *v1beta2.ModuleTemplate {
	if b.stock == nil {
		return nil
	}
	templates := b.stock.catalog.Templates
	var versions []string
	at := map[string]int{}
	for i := range templates {
		if modulestatus.ModuleOf(&templates[i]) == name {
			versions = append(versions, templates[i].ModuleVersion())
			at[templates[i].ModuleVersion()] = i
		}
	}
	if version == "" {
		if version = modulestatus.NewestFor(versions, ""); version == "" && len(versions) > 0 {
			version = slices.Max(versions)
		}
	}
	found, is := at[version]
	if !is {
		return nil
	}
	return &templates[found]
}

// sourceNamed returns one of the sources that a user may list, which must have been read.
func (s *Server) sourceNamed(ctx context.Context, u *User, name string) (*knownSource, error) {
	all, err := s.knownSources(ctx, u)
	if err != nil {
		return nil, err
	}
	at := slices.IndexFunc(all, func(b knownSource) bool { return b.Name == name })
	name = clip(name, 100)
	switch {
	case at < 0:
		return nil, fail(http.StatusNotFound, WhyNotFound, "there is no source %s", name)
	case all[at].stock != nil:
		return &all[at], nil
	case all[at].reading:
		return nil, fail(http.StatusServiceUnavailable, WhyReading, "the source %s is being read: a moment", name)
	}
	return nil, fail(http.StatusBadGateway, WhyUnreachable, "the source %s cannot be read: %s", name, problemText(all[at].trouble))
}

// problemText returns why a source cannot be read, for users.
func problemText(err error) string {
	if err == nil {
		return ""
	}
	if judged, is := errors.AsType[*content.Error](err); is {
		return judged.Error()
	}
	return problemOf(acted(err)).Message
}
