package operations

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/client/communitycatalog"
	"github.com/kyma-project/lifecycle-manager/internal/client/modulestatus"
	"github.com/kyma-project/lifecycle-manager/pkg/content"
	"github.com/kyma-project/lifecycle-manager/pkg/diagnostics"
)

// Tested is what a source offers, and its problems.
type Tested struct {
	Modules  []communitycatalog.Module `json:"modules"`
	Problems []SourceProblem           `json:"problems"`
	// Digest is its current digest; empty for a namespace of the cluster.
	Digest string `json:"digest"`

	// Source is the stored source that was read, and Catalog its content; nil if the source is not stored.
	Source  *communitycatalog.Source `json:"-"`
	Catalog communitycatalog.Catalog `json:"-"`
}

// SourceProblem is one problem of a catalog.
type SourceProblem struct {
	Rule    string `json:"rule"`
	Where   string `json:"where"`
	Message string `json:"message"`
}

// shelfOf returns the store of the sources, with the permissions of the user.
func (e *Engine) shelfOf(ctx context.Context, as Actor) (communitycatalog.SourceStore, *cluster, error) {
	c, err := connect(as.Config)
	if err != nil {
		return communitycatalog.SourceStore{}, nil, err
	}
	namespace := e.options.Sources
	if namespace == "" {
		switch namespace, err = communitycatalog.Home(ctx, c); {
		case apierrors.IsForbidden(err):
			return communitycatalog.SourceStore{}, nil, err
		case err != nil:
			return communitycatalog.SourceStore{}, nil, refuse(WhyNotFound, "%s", err)
		}
	}
	return communitycatalog.SourceStore{Client: c, Namespace: namespace}, c, nil
}

// Sources returns the sources that the user may list.
func (e *Engine) Sources(ctx context.Context, as Actor) ([]communitycatalog.Source, error) {
	shelf, _, err := e.shelfOf(ctx, as)
	if err != nil {
		return nil, err
	}
	return shelf.List(ctx)
}

// AddSource stores a source, and records on it the result of reading it now: if that fails, the source is kept, with the reason.
func (e *Engine) AddSource(ctx context.Context, as Actor, source communitycatalog.Source) (communitycatalog.Source, error) {
	source, err := userFields(source).Complete()
	if err != nil {
		return source, refuse(WhyInvalid, "%s", err)
	}
	shelf, _, err := e.shelfOf(ctx, as)
	if err != nil {
		return source, err
	}
	if err := shelf.Add(ctx, source, false); err != nil {
		if apierrors.IsAlreadyExists(err) {
			return source, refuse(WhyBusy, "there is a source %s already, with another address, digest or key: remove that first", source.Name)
		}
		return source, err
	}
	e.notify()
	_, _ = e.TestSource(ctx, as, communitycatalog.Source{Name: source.Name})
	return shelf.Get(ctx, source.Name)
}

// userFields returns the fields of a source that a user may set; the results of reading it are not among them.
func userFields(source communitycatalog.Source) communitycatalog.Source {
	return communitycatalog.Source{
		Name: source.Name, URL: strings.TrimSpace(source.URL), Digest: source.Digest, Key: source.Key, RequireFreshness: source.RequireFreshness,
	}
}

// remembered returns a stored source as it must be read: with the version that was last seen.
func remembered(source communitycatalog.Source) communitycatalog.Source {
	made := userFields(source)
	made.Version = source.Version
	return made
}

// RemoveSource forgets a source. Modules installed from it stay.
func (e *Engine) RemoveSource(ctx context.Context, as Actor, name string) error {
	shelf, _, err := e.shelfOf(ctx, as)
	if err != nil {
		return err
	}
	if err := shelf.Remove(ctx, name); err != nil {
		return err
	}
	e.notify()
	return nil
}

// TestSource reads a source, stored or not, and returns what it offers. The result for a stored source is recorded on it, if the user may
// do that.
func (e *Engine) TestSource(ctx context.Context, as Actor, source communitycatalog.Source) (Tested, error) {
	shelf, c, err := e.shelfOf(ctx, as)
	if err != nil {
		return Tested{}, err
	}
	source = userFields(source)
	stored, missing := shelf.Get(ctx, source.Name)
	if source.URL == "" && source.Name != "" {
		if missing != nil {
			return Tested{}, missing
		}
		source = userFields(stored)
	}
	source.Name = cmp.Or(source.Name, "unnamed")
	same := userFields(stored)
	same.RequireFreshness = same.RequireFreshness && source.RequireFreshness // without it, the stored value applies
	if missing != nil || !same.Same(source) {
		found, digest, err := e.fetch(ctx, c, source)
		if err != nil {
			return Tested{}, err
		}
		return e.tested(ctx, c, source, found, digest)
	}
	found, digest, err := e.readStored(ctx, shelf, c, stored)
	if err != nil {
		return Tested{}, err
	}
	made, err := e.tested(ctx, c, remembered(stored), found, digest)
	made.Source, made.Catalog = &stored, found
	return made, err
}

// ReadSource reads a source as Sources lists it, and returns its content. The outcome is recorded on it, as by TestSource. One that was
// changed or removed meanwhile is not read.
func (e *Engine) ReadSource(ctx context.Context, as Actor, source communitycatalog.Source) (communitycatalog.Catalog, error) {
	shelf, c, err := e.shelfOf(ctx, as)
	if err != nil {
		return communitycatalog.Catalog{}, err
	}
	switch now, err := shelf.Get(ctx, source.Name); {
	case apierrors.IsForbidden(err): // who may list sources may read them
	case err != nil:
		return communitycatalog.Catalog{}, err
	case !now.Same(source):
		return communitycatalog.Catalog{}, refuse(WhyNotFound, "the source %s was changed meanwhile", source.Name)
	default:
		source = now
	}
	found, _, err := e.readStored(ctx, shelf, c, source)
	return found, err
}

// readStored reads a stored source, and records the outcome on it, if the user may do that.
func (e *Engine) readStored(
	ctx context.Context, shelf communitycatalog.SourceStore, c *cluster, stored communitycatalog.Source,
) (communitycatalog.Catalog, string, error) {
	source := remembered(stored)
	found, digest, err := e.fetch(ctx, c, source)
	if err == nil {
		err = saw(ctx, shelf, source, found)
	}
	if modules, now := len(found.Modules()), e.now(); !stored.Noted(modules, err, now) {
		_ = shelf.Note(ctx, source.Name, modules, err, now) // the note is for later readers; this one has its answer
		e.notify()
	}
	return found, digest, err
}

// tested returns what a source offers in a cluster, and its problems.
func (e *Engine) tested(
	ctx context.Context, c *cluster, source communitycatalog.Source, found communitycatalog.Catalog, digest string,
) (Tested, error) {
	var known v1beta2.ModuleTemplateList
	if err := c.List(ctx, &known); err != nil && !unserved(err) && !apierrors.IsForbidden(err) {
		return Tested{}, err
	}
	tested := Tested{Modules: found.Modules(known.Items...), Problems: []SourceProblem{}, Digest: digest}
	if found.Warning != "" {
		tested.Problems = append(tested.Problems, SourceProblem{Rule: "freshness", Where: source.URL, Message: found.Warning})
	}
	for _, f := range communitycatalog.Check(ctx, found, communitycatalog.Options{}) {
		tested.Problems = append(tested.Problems, SourceProblem{Rule: f.Rule, Where: whereOf(f), Message: f.Message})
	}
	return tested, nil
}

func whereOf(f diagnostics.Finding) string {
	if f.Field == "" {
		return f.File
	}
	return strings.TrimPrefix(f.File+": "+f.Field, ": ")
}

// stored returns a stored source, as it must be read; nil without a name.
func (e *Engine) stored(ctx context.Context, as Actor, name string) (*communitycatalog.Source, error) {
	if name == "" {
		return nil, nil
	}
	shelf, _, err := e.shelfOf(ctx, as)
	if err != nil {
		return nil, err
	}
	source, err := shelf.Get(ctx, name)
	if apierrors.IsNotFound(err) {
		err = refuse(WhyNotFound, "there is no source %s", name)
	}
	source = remembered(source)
	return &source, err
}

// again returns the source that an installed module came from; nil if it came from none. The record in a runtime counts only if the hub
// keeps such a source: the runtime's owner could name any address.
func (e *Engine) again(ctx context.Context, as Actor, at *place, installed *modulestatus.Direct) (*communitycatalog.Source, error) {
	origin := installed.Origin
	if origin == nil {
		return nil, nil
	}
	var kept []communitycatalog.Source
	shelf, _, err := e.shelfOf(ctx, as)
	if err == nil {
		kept, err = shelf.List(ctx)
	}
	if err != nil && (origin.Name != "" || at.elsewhere()) {
		return nil, fmt.Errorf("module %s came from the catalog %.300q, and it cannot be seen whether that is kept: %w",
			installed.Module, origin.URL, err)
	}
	before := SourceOf(origin)
	if at.elsewhere() {
		before.Name = "" // at most, it names a source in the runtime
	}
	source, err := communitycatalog.Again(before, kept, at.elsewhere())
	if err != nil {
		return nil, refuse(WhyRefused, "module %s is not upgraded, and stays as it is: %s", installed.Module, errorText(err))
	}
	source = remembered(source)
	return &source, nil
}

// SourceOf returns the source that a module came from, as it was requested then.
func SourceOf(origin *modulestatus.Origin) communitycatalog.Source {
	return communitycatalog.Source{
		Name: origin.Name, URL: origin.URL, Digest: origin.RequestedDigest(), Key: origin.Key, Version: origin.Version,
	}
}

// fetch reads a source, and gives its errors a reason of this package.
func (e *Engine) fetch(ctx context.Context, c *cluster, source communitycatalog.Source) (communitycatalog.Catalog, string, error) {
	limits := e.options.Catalogs
	limits.Cluster = c
	if limits.Now == nil {
		limits.Now = e.now
	}
	found, digest, err := communitycatalog.Fetch(ctx, source, limits)
	var refused apierrors.APIStatus
	switch {
	case err == nil, ctx.Err() != nil, errors.As(err, &refused):
		return found, digest, err
	case content.ReasonOf(err) == content.ReasonSourceInvalid:
		return found, digest, refuse(WhyInvalid, "%s", errorText(err))
	}
	return found, digest, refuse(WhyRefused, "%s", errorText(err))
}
