package engine

import (
	"context"
	"encoding/json"
	"errors"
	"reflect"

	"github.com/kyma-project/lifecycle-manager/pkg/content"
	"github.com/kyma-project/lifecycle-manager/pkg/generated"
	"github.com/kyma-project/lifecycle-manager/pkg/render"
)

// Rendering is a source whose objects depend on their installation: its templates generate values, look objects up, or ask whether this is
// an upgrade. See docs/adr/0032-generated-values.md and docs/adr/0036-lookup.md.
type Rendering struct {
	// Installation tells the installation from all others, and Source the source from the others in it.
	Installation, Source string
	// Store has what the installation has kept so far.
	Store generated.Store
	// Inputs are those of the release, see render.ReleaseInputs; Before is what was installed when no release was kept.
	Inputs string
	Before generated.Before
	// Lookup answers what templates look up. With nil nothing is found, and a release that has found something is refused.
	Lookup func(context.Context, render.Lookup) (json.RawMessage, error)
	// Render renders the content.
	Render func(context.Context, *render.Generated) (render.Rendered, error)
}

// DependsOnInstallation reports whether content has to be rendered for its installation, by what a render for none has told: what was
// rendered, or why that could not be done without lookups.
func DependsOnInstallation(looked render.Rendered, blind *render.NeedsLookups) bool {
	return looked.Generated != nil || hasReleases(looked, blind)
}

// hasReleases reports whether what is declared depends on what else a release began with than content and values.
func hasReleases(looked render.Rendered, blind *render.NeedsLookups) bool {
	return blind != nil || len(looked.Lookups) > 0 || looked.ByRevision
}

// Run renders the content for its installation. Rendered.Generated is to be kept before an object is applied.
//  1. Generated values that the installation lacks are made.
//  2. The answers to lookups are those that the release began with. A new release asks again: what runs does not change because an object
//     of others does.
//  3. Nothing is rendered with a guess.
func (r *Rendering) Run(ctx context.Context, looked render.Rendered, blind *render.NeedsLookups) (render.Rendered, error) {
	release, releases := &generated.Release{Revision: 1, Found: map[string]json.RawMessage{}}, hasReleases(looked, blind)
	ask := findNothing
	if releases {
		var asks bool
		if release, asks = r.Store.Next(r.Source, r.Inputs, r.Before); asks && r.Lookup != nil {
			ask = r.Lookup
		}
		if r.Lookup == nil {
			if err := forget(release); err != nil {
				return render.Rendered{}, err
			}
		}
	}
	known := looked.Lookups
	if blind != nil {
		known = blind.Lookups
	}
	var made render.Rendered
	err := render.AnswerLookups(ctx, release.Found, known, ask, func(found map[string]json.RawMessage) (err error) {
		made, err = r.render(ctx, r.Installation, release.Revision, found)
		return err
	})
	if err == nil && len(made.Generated) > 0 && !generated.HasResults(r.Store.Values[r.Source]) {
		made.GeneratedAnew, err = r.shows(ctx, made, release)
	}
	if err == nil && releases {
		made.Generated = generated.WithRelease(made.Generated, release)
	}
	return made, err
}

func (r *Rendering) render(
	ctx context.Context, installation string, revision int, found map[string]json.RawMessage,
) (render.Rendered, error) {
	return r.Render(ctx, &render.Generated{
		Installation: installation, Values: r.Store.Values[r.Source], Revision: revision, Found: found,
	})
}

// shows reports whether objects have the new values: a render with others declares something else. Charts also call generators for a
// password that they take only where they find none.
func (r *Rendering) shows(ctx context.Context, made render.Rendered, release *generated.Release) (bool, error) {
	other, err := r.render(ctx, r.Installation+"/other", release.Revision, release.Found)
	if _, asks := errors.AsType[*render.Unanswered](err); asks {
		return true, nil
	}
	return !reflect.DeepEqual(made.Steps, other.Steps) || !reflect.DeepEqual(made.Hooks, other.Hooks), err
}

// forget takes the answers from a release that must not have any. One that has found something is refused, for without that other objects
// would take the place of those that run, a password among them.
func forget(release *generated.Release) error {
	for query, answer := range release.Found {
		if string(answer) != "null" {
			return content.Errorf(content.ReasonContentNotCovered, "the chart was rendered with what it has found in the cluster (%s), which no "+
				"signature covers, and a signature is enforced now: allow values in the rule of the policy; or give the chart what it needs as "+
				"values, and take the entry %q of this source out of the Secret with the generated values", query, "release")
		}
	}
	clear(release.Found)
	return nil
}

// findNothing is the answer where templates may not look anything up.
func findNothing(context.Context, render.Lookup) (json.RawMessage, error) {
	return json.RawMessage("null"), nil
}
