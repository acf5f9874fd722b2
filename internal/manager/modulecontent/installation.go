package modulecontent

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/kyma-project/lifecycle-manager/pkg/component/descriptor"
	"github.com/kyma-project/lifecycle-manager/pkg/content"
	"github.com/kyma-project/lifecycle-manager/pkg/generated"
	"github.com/kyma-project/lifecycle-manager/pkg/installer/engine"
	"github.com/kyma-project/lifecycle-manager/pkg/render"
)

// ofInstallation reports whether what a chart declares depends on its installation.
func (a *answer) ofInstallation() bool { return engine.DependsOnInstallation(a.rendered, a.blind) }

// forInstallation returns a part as it is for its installation; looked is the part as it is for any. Generated values may be asked for
// again before they are kept, so the render is for this installation and this version of what it keeps.
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
	inputs, err := render.ReleaseInputs(looked.resolved.Digest, input)
	if err != nil {
		return nil, answer{}, err
	}
	var got answer
	rendering := engine.Rendering{
		Installation: strings.Join([]string{string(r.manifest.UID), r.manifest.Namespace, r.manifest.Name, part.name, store.Version}, "/"),
		Source:       part.name, Store: store, Inputs: inputs,
		Before: r.before(part, looked.resolved.Digest), Lookup: r.lookups(),
		Render: func(ctx context.Context, with *render.Generated) (_ render.Rendered, err error) {
			input.Generated = with
			source, got, err = r.get(ctx, part, input)
			return got.rendered, err
		},
	}
	got.rendered, err = rendering.Run(ctx, looked.rendered, looked.blind)
	return source, got, err
}

// lookups returns who answers what templates look up, nil where nothing is found: content that has to be signed cannot depend on what
// others write into the cluster, unless the policy allows values, too. That holds for kept answers as well: they may be from before the
// policy, and a user of the cluster can edit them.
func (r *reading) lookups() func(context.Context, render.Lookup) (json.RawMessage, error) {
	if r.enforces(descriptor.AllowValues) {
		return nil
	}
	return r.known.Installation.Lookup
}

// before returns what the installation had of a part, where it kept no release of it.
func (r *reading) before(part *parsedSource, digest string) generated.Before {
	if !r.known.Installation.Exists {
		return generated.Nothing
	}
	for _, known := range r.manifest.Status.Resolved {
		if known.Name == part.name && known.Digest == digest {
			return generated.SameContent
		}
	}
	return generated.OtherContent
}
