package releaseoutlook

import (
	"context"
	"fmt"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/client/releasepreview"
	"github.com/kyma-project/lifecycle-manager/internal/client/versioncontent"
	"github.com/kyma-project/lifecycle-manager/internal/module"
	"github.com/kyma-project/lifecycle-manager/internal/module/revision"
)

// compare renders each distinct step once: those of most Kymas, and that from what the channel offers now.
func (l *looking) compare(ctx context.Context, target *versioncontent.Version) {
	after := SideOf(target)
	left, known := 0, false
	for _, pair := range l.made.Pairs {
		if len(l.made.Changes) == maxRendered {
			left++
			continue
		}
		made, err := l.compareStep(ctx, &pair, target)
		if ctx.Err() != nil {
			return
		}
		if err != nil {
			l.unrenderedf(err, "what changes from %s is not shown: %v", pair.From.Version, err)
			continue
		}
		l.note(&pair, &made)
		known = known || pair.From != nil && pair.From.Version == l.made.Offered
		l.made.Changes = append(l.made.Changes, made)
	}
	if left > 0 {
		l.made.Unrendered = append(l.made.Unrendered, fmt.Sprintf("%d more steps, of fewer Kymas, are not compared", left))
	}
	if known || l.made.Offered == l.made.Version {
		return
	}
	l.compareOffered(ctx, after)
}

// note keeps what a step changes, for decisions about consent.
func (l *looking) note(pair *releasepreview.Pair, made *PairChanges) {
	if l.changes == nil {
		l.changes = map[module.ChangeKey]module.Change{}
	}
	key := module.ChangeKey{Module: l.Release.Name, To: pair.To.Digest}
	if pair.From != nil {
		key.From = pair.From.Digest
	}
	l.changes[key] = module.ChangeOf(made.Rights)
}

// compareStep compares what the Kymas of a pair have with what they would get: with the values and the target namespace of their Manifests.
func (l *looking) compareStep(ctx context.Context, pair *releasepreview.Pair, target *versioncontent.Version) (PairChanges, error) {
	made := PairChanges{Kymas: pair.Kymas}
	if pair.From == nil {
		made.Changes = releasepreview.Compare(nil, SideOf(target))
		return made, nil
	}
	manifest := l.manifestWith(pair.From.Digest)
	before, err := l.before(ctx, pair, manifest)
	if err != nil {
		return made, err
	}
	after := target
	if pair.To.Digest != target.Digest {
		if after, err = l.Loader.LoadFor(ctx, l.Release, target.Template, manifest); err != nil {
			return made, err
		}
	}
	made.Changes = releasepreview.Compare(before, SideOf(after))
	l.caveats = append(l.caveats, before.Caveats, after.Caveats)
	return made, nil
}

// compareOffered compares with what the channel offers now, where no Kyma has that.
func (l *looking) compareOffered(ctx context.Context, after *releasepreview.Side) {
	var before *releasepreview.Side
	if template := l.template(l.made.Offered); template != nil {
		version, err := l.Loader.Load(ctx, l.Release, template)
		if err != nil {
			l.unrenderedf(err, "what changes from %s is not shown: %v", l.made.Offered, err)
			return
		}
		before = SideOf(version)
	} else if len(l.made.Changes) > 0 {
		return // nothing to compare with, and other steps tell more
	}
	l.made.Changes = append(l.made.Changes, PairChanges{Changes: releasepreview.Compare(before, after)})
}

// before renders what the Kymas of a pair have.
func (l *looking) before(ctx context.Context, pair *releasepreview.Pair, manifest *v1beta2.Manifest) (*releasepreview.Side, error) {
	template := l.template(pair.From.Version)
	switch {
	case manifest != nil:
		return SideOfManifest(ctx, l.Loader, l.Release, template, manifest)
	case template == nil:
		return nil, &NoTemplateError{l.Release.Name, pair.From.Version, l.Release.Namespace}
	}
	version, err := l.Loader.Load(ctx, l.Release, template)
	if err != nil {
		return nil, err
	}
	return SideOf(version), nil
}

// manifestWith returns a Manifest with this content.
func (l *looking) manifestWith(digest string) *v1beta2.Manifest {
	if l.byDigest == nil {
		l.byDigest = map[string]*v1beta2.Manifest{}
		for i := range l.hub.Manifests {
			m := &l.hub.Manifests[i]
			l.byDigest[revision.Digest(&m.Spec)] = m
		}
	}
	return l.byDigest[digest]
}

// SideOfManifest returns what a Manifest installs as one side of a comparison; template is that of its version, nil where there is none.
func SideOfManifest(
	ctx context.Context, loader *versioncontent.Loader, release *v1beta2.ModuleReleaseMeta, template *v1beta2.ModuleTemplate,
	manifest *v1beta2.Manifest,
) (*releasepreview.Side, error) {
	version, err := loader.LoadManifest(ctx, manifest)
	if err != nil {
		return nil, err
	}
	side := SideOf(version)
	if side.Template = template; template != nil {
		// A component that is gone leaves the requirements of the template.
		side.Requires, _ = loader.Requires(ctx, release, template)
	}
	return side, nil
}

// CaveatsOf says in one line how two sides are rendered otherwise than by the lifecycle manager; empty where they are not. before may be
// nil.
func CaveatsOf(before, after *releasepreview.Side) string {
	if before == nil {
		before = &releasepreview.Side{}
	}
	return versioncontent.Caveats(before.Caveats, after.Caveats)
}

// SideOf returns a version as one side of a comparison.
func SideOf(version *versioncontent.Version) *releasepreview.Side {
	return &releasepreview.Side{
		Version: version.Version, Digest: version.Digest, Template: version.Template, Objects: version.Objects, Requires: version.Requires,
		Conditional: version.Conditional, Untried: version.Untried, Caveats: version.Caveats, Secrets: version.Secrets,
	}
}
