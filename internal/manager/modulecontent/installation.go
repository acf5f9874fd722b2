package modulecontent

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"maps"
	"strings"

	"github.com/kyma-project/lifecycle-manager/pkg/component/descriptor"
	"github.com/kyma-project/lifecycle-manager/pkg/content"
	"github.com/kyma-project/lifecycle-manager/pkg/generated"
	"github.com/kyma-project/lifecycle-manager/pkg/render"
)

// lookupFunc answers a lookup of templates, as runtimes.Installation does.
type lookupFunc func(context.Context, render.Lookup) (json.RawMessage, error)

// nothing is the answer where templates may not look anything up.
func nothing(context.Context, render.Lookup) (json.RawMessage, error) {
	return json.RawMessage("null"), nil
}

// ofInstallation reports whether what a chart declares depends on its installation.
func (a *answer) ofInstallation() bool {
	return a.blind != nil || a.rendered.Generated != nil || a.hasReleases()
}

// hasReleases reports whether what a chart declares depends on what else its release began with than content and values.
func (a *answer) hasReleases() bool {
	return a.blind != nil || len(a.rendered.Lookups) > 0 || a.rendered.ByRevision
}

// forInstallation returns a part as it is for its installation. looked is the part as it is for any.
//
//  1. Generated values that the installation lacks are made. They may be asked for again before they are kept, so the render is for this
//     installation and this version of what it keeps.
//  2. The answers to lookups are those that the release began with. A new release asks again: what runs does not change because an object
//     of others does.
//  3. Nothing is rendered with a guess: what turns up while rendering is asked for, and everything is rendered again.
func (r *reading) forInstallation(
	ctx context.Context, part *parsedSource, input render.Input, source content.Source, looked answer,
) (content.Source, answer, error) {
	of := r.known.Installation
	if of == nil {
		if looked.blind != nil {
			return nil, answer{}, pending(part, 0, looked.blind)
		}
		return source, looked, nil
	}
	store, err := of.Kept(ctx)
	if err != nil {
		return nil, answer{}, err
	}
	release, look := &generated.Release{Revision: 1}, lookupFunc(nothing)
	if looked.hasReleases() {
		release, look = r.release(part, store, releaseInputs(looked.resolved.Digest, input), looked.resolved.Digest)
	}
	lookups := looked.rendered.Lookups
	if looked.blind != nil {
		lookups = looked.blind.Lookups
	}
	source, got, err := r.renderRelease(ctx, part, input, store, release, look, lookups)
	if err == nil && looked.hasReleases() {
		got.rendered.Generated = generated.WithRelease(got.rendered.Generated, release)
	}
	return source, got, err
}

// renderRelease renders a part until the release has an answer to everything that it looks up; lookups are those that are known before.
func (r *reading) renderRelease(
	ctx context.Context, part *parsedSource, input render.Input, store generated.Store, release *generated.Release, look lookupFunc,
	lookups []render.Lookup,
) (content.Source, answer, error) {
	of := strings.Join([]string{string(r.manifest.UID), r.manifest.Namespace, r.manifest.Name, part.name, store.Version}, "/")
	for {
		for _, lookup := range lookups {
			if _, known := release.Found[lookup.String()]; known {
				continue
			}
			found, err := look(ctx, lookup)
			if err != nil {
				return nil, answer{}, err
			}
			release.Found[lookup.String()] = found
		}
		input.Generated = &render.Generated{
			Installation: of, Values: store.Values[part.name], Revision: release.Revision,
			Found: maps.Clone(release.Found), // a render that takes long goes on without this caller
		}
		source, got, err := r.get(ctx, part, input)
		unanswered, ok := errors.AsType[*render.Unanswered](err)
		if !ok {
			return source, got, err
		}
		lookups = []render.Lookup{unanswered.Lookup}
	}
}

// release returns the release that a part belongs to, and who answers its lookups.
//
//  1. Other content or other values than those of the release before are the next one.
//  2. An installation that kept no release is one that was rendered without, by an earlier version of the chart or of the operator: the
//     same content goes on like that, and other content is an upgrade.
//  3. Content that has to be signed cannot depend on what others write into the cluster, unless the policy allows values, too. That holds
//     for kept answers as well: they may be from before the policy, and a user of the cluster can edit them.
func (r *reading) release(part *parsedSource, store generated.Store, inputs, digest string) (*generated.Release, lookupFunc) {
	look, installation := lookupFunc(r.known.Installation.Lookup), r.known.Installation
	kept := store.Release(part.name)
	if r.enforces(descriptor.AllowValues) {
		look = nothing
		if kept != nil {
			clear(kept.Found)
		}
	}
	next := &generated.Release{Inputs: inputs, Revision: 1, Found: map[string]json.RawMessage{}}
	switch {
	case kept != nil && kept.Inputs == inputs:
		return kept, look
	case kept != nil:
		next.Revision = kept.Revision + 1
	case installation.Exists && r.installed(part, digest):
		return next, nothing
	case installation.Exists:
		next.Revision = 2
	}
	return next, look
}

// installed reports whether a part has this content already.
func (r *reading) installed(part *parsedSource, digest string) bool {
	for _, known := range r.manifest.Status.Resolved {
		if known.Name == part.name {
			return known.Digest == digest
		}
	}
	return false
}

// releaseInputs identifies the content of a release and what its author or user gave it; what the cluster serves is not among that.
func releaseInputs(digest string, input render.Input) string {
	sum := fingerprint(render.Input{Name: input.Name, Namespace: input.Namespace, Path: input.Path, Values: input.Values})
	all := sha256.Sum256(append([]byte(digest), sum[:]...))
	return hex.EncodeToString(all[:8])
}
