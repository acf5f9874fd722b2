package task

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/collection"
	"github.com/kyma-project/lifecycle-manager/internal/view"
	"github.com/kyma-project/lifecycle-manager/pkg/content"
	"github.com/kyma-project/lifecycle-manager/pkg/finding"
)

// Tested is what a source offers, and what is wrong with it.
type Tested struct {
	Modules  []collection.Module `json:"modules"`
	Problems []SourceProblem     `json:"problems"`
	// Digest that it has now; empty for a namespace of the cluster.
	Digest string `json:"digest"`
}

// SourceProblem is one thing that is wrong with a catalog.
type SourceProblem struct {
	Rule    string `json:"rule"`
	Where   string `json:"where"`
	Message string `json:"message"`
}

// shelfOf is where the sources are kept, with the rights of the person.
func (e *Engine) shelfOf(ctx context.Context, as Actor) (collection.Shelf, *cluster, error) {
	c, err := connect(as.Config)
	if err != nil {
		return collection.Shelf{}, nil, err
	}
	namespace := e.options.Sources
	if namespace == "" {
		if namespace, err = collection.Home(ctx, c); err != nil {
			return collection.Shelf{}, nil, refuse(WhyNotFound, "%s", err)
		}
	}
	return collection.Shelf{Client: c, Namespace: namespace}, c, nil
}

// Sources are those that the person may list.
func (e *Engine) Sources(ctx context.Context, as Actor) ([]collection.Source, error) {
	shelf, _, err := e.shelfOf(ctx, as)
	if err != nil {
		return nil, err
	}
	return shelf.List(ctx)
}

// AddSource stores a source, and notes on it what reading it gives now: it is kept where that fails, too, and says why.
func (e *Engine) AddSource(ctx context.Context, as Actor, source collection.Source) (collection.Source, error) {
	source, err := asked(source).Complete()
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
	_, _ = e.TestSource(ctx, as, collection.Source{Name: source.Name})
	return shelf.Get(ctx, source.Name)
}

// asked is what somebody says of a source; what was found out about it is not theirs to say.
func asked(source collection.Source) collection.Source {
	return collection.Source{
		Name: source.Name, URL: strings.TrimSpace(source.URL), Digest: source.Digest, Key: source.Key, RequireFreshness: source.RequireFreshness,
	}
}

// remembered is a source that is kept, as it is to be asked: with the version that was seen of it.
func remembered(source collection.Source) collection.Source {
	made := asked(source)
	made.Version = source.Version
	return made
}

// RemoveSource forgets a source. What was installed from it stays.
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

// TestSource reads a source and says what it offers, whether it is stored or not. What came of one that is stored is noted on it, as far as
// the person may.
func (e *Engine) TestSource(ctx context.Context, as Actor, source collection.Source) (Tested, error) {
	shelf, c, err := e.shelfOf(ctx, as)
	if err != nil {
		return Tested{}, err
	}
	source = asked(source)
	stored, missing := shelf.Get(ctx, source.Name)
	if source.URL == "" && source.Name != "" {
		if missing != nil {
			return Tested{}, missing
		}
		source = asked(stored)
	}
	source.Name = cmp.Or(source.Name, "unnamed")
	same := asked(stored)
	same.RequireFreshness = same.RequireFreshness && source.RequireFreshness // who does not say so asks as it is kept
	kept := missing == nil && same.Same(source)
	if kept {
		source = remembered(stored)
	}
	found, digest, err := e.fetch(ctx, c, source)
	if kept {
		if err == nil {
			err = saw(ctx, shelf, source, found)
		}
		if modules, now := len(found.Modules()), e.now(); !stored.Noted(modules, err, now) {
			_ = shelf.Note(ctx, source.Name, modules, err, now) // a note that is for the next look; this one has its answer
			e.notify()
		}
	}
	if err != nil {
		return Tested{}, err
	}
	return e.tested(ctx, c, source, found, digest)
}

// tested is what a source offers in a cluster, and what is wrong with it.
func (e *Engine) tested(
	ctx context.Context, c *cluster, source collection.Source, found collection.Collection, digest string,
) (Tested, error) {
	var known v1beta2.ModuleTemplateList
	if err := c.List(ctx, &known); err != nil && !unserved(err) && !apierrors.IsForbidden(err) {
		return Tested{}, err
	}
	tested := Tested{Modules: found.Modules(known.Items...), Problems: []SourceProblem{}, Digest: digest}
	if found.Warning != "" {
		tested.Problems = append(tested.Problems, SourceProblem{Rule: "freshness", Where: source.URL, Message: found.Warning})
	}
	for _, f := range collection.Check(ctx, found, collection.Options{}) {
		tested.Problems = append(tested.Problems, SourceProblem{Rule: f.Rule, Where: whereOf(f), Message: f.Message})
	}
	return tested, nil
}

func whereOf(f finding.Finding) string {
	if f.Field == "" {
		return f.File
	}
	return strings.TrimPrefix(f.File+": "+f.Field, ": ")
}

// stored is a source that is kept, as it is to be asked; nil for no name.
func (e *Engine) stored(ctx context.Context, as Actor, name string) (*collection.Source, error) {
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

// again is the source that a module came from which is installed at a place; nil where it came from none. What a runtime says of it counts
// only as far as the hub keeps such a source: whoever owns the runtime could name any address.
func (e *Engine) again(ctx context.Context, as Actor, at *place, installed *view.Direct) (*collection.Source, error) {
	origin := installed.Origin
	if origin == nil {
		return nil, nil
	}
	var kept []collection.Source
	shelf, _, err := e.shelfOf(ctx, as)
	if err == nil {
		kept, err = shelf.List(ctx)
	}
	if err != nil && (origin.Name != "" || at.elsewhere()) {
		return nil, fmt.Errorf("module %s came from the catalog %.300q, and it cannot be seen whether that is kept: %w",
			installed.Module, origin.URL, err)
	}
	before := collection.Source{Name: origin.Name, URL: origin.URL, Digest: origin.Asked(), Key: origin.Key, Version: origin.Version}
	if at.elsewhere() {
		before.Name = "" // the name of something in the runtime, if of anything
	}
	source, err := collection.Again(before, kept, at.elsewhere())
	if err != nil {
		return nil, refuse(WhyRefused, "module %s is not upgraded, and stays as it is: %s", installed.Module, told(err))
	}
	source = remembered(source)
	return &source, nil
}

// fetch reads a source, and gives what is wrong with it a reason of its own.
func (e *Engine) fetch(ctx context.Context, c *cluster, source collection.Source) (collection.Collection, string, error) {
	limits := e.options.Catalogs
	limits.Cluster = c
	if limits.Now == nil {
		limits.Now = e.now
	}
	found, digest, err := collection.Fetch(ctx, source, limits)
	var refused apierrors.APIStatus
	switch {
	case err == nil, ctx.Err() != nil, errors.As(err, &refused):
		return found, digest, err
	case content.ReasonOf(err) == content.ReasonSourceInvalid:
		return found, digest, refuse(WhyInvalid, "%s", told(err))
	}
	return found, digest, refuse(WhyRefused, "%s", told(err))
}
