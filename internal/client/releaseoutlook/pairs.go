package releaseoutlook

import (
	"context"
	"fmt"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/client/releasepreview"
	"github.com/kyma-project/lifecycle-manager/internal/client/versioncontent"
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
		before, err := l.before(ctx, &pair)
		if ctx.Err() != nil {
			return
		}
		if err != nil {
			l.unrendered(err, "what changes from %s is not shown: %v", pair.From.Version, err)
			continue
		}
		made := PairChanges{Kymas: pair.Kymas, Changes: releasepreview.Compare(before, after)}
		made.To.Digest = pair.To.Digest
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

// compareOffered compares with what the channel offers now, where no Kyma has that.
func (l *looking) compareOffered(ctx context.Context, after *releasepreview.Side) {
	var before *releasepreview.Side
	if template := l.template(l.made.Offered); template != nil {
		version, err := l.Loader.Load(ctx, l.Release, template)
		if err != nil {
			l.unrendered(err, "what changes from %s is not shown: %v", l.made.Offered, err)
			return
		}
		before = SideOf(version)
	} else if len(l.made.Changes) > 0 {
		return // nothing to compare with, and other steps tell more
	}
	l.made.Changes = append(l.made.Changes, PairChanges{Changes: releasepreview.Compare(before, after)})
}

// before renders what the Kymas of a pair have; nil for nothing.
func (l *looking) before(ctx context.Context, pair *releasepreview.Pair) (*releasepreview.Side, error) {
	if pair.From == nil {
		return nil, nil //nolint:nilnil // a first installation
	}
	template := l.template(pair.From.Version)
	if manifest := l.manifestWith(pair.From.Digest); manifest != nil {
		version, err := l.Loader.LoadManifest(ctx, manifest)
		if err != nil {
			return nil, err
		}
		side := SideOf(version)
		if side.Template = template; template != nil {
			side.Requires = template.Spec.Requires
		}
		return side, nil
	}
	if template == nil {
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
	for i := range l.fleet.Manifests {
		if m := &l.fleet.Manifests[i]; digest != "" && revision.Digest(&m.Spec) == digest {
			return m
		}
	}
	return nil
}

// SideOf returns a version as one side of a comparison.
func SideOf(version *versioncontent.Version) *releasepreview.Side {
	return &releasepreview.Side{
		Version: version.Version, Digest: version.Digest, Template: version.Template, Objects: version.Objects, Requires: version.Requires,
	}
}
