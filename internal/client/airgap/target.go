package airgap

import (
	"context"
	"path"
	"strings"

	"github.com/kyma-project/lifecycle-manager/pkg/component"
)

// Target is where everything goes: a registry, or a layout in a directory that is carried over.
type Target struct {
	Registry *component.Registry
	Layout   *component.Layout
	// How is the same for all copies.
	How component.CopyOptions
}

// Copied is what became of one copy.
type Copied struct {
	// Ref is where it is now, Digest that of its manifest.
	Ref, Digest string
	// Changed is false if everything was there.
	Changed bool
	Images  []component.CopiedImage
}

// Module copies a component version with its images, and their signatures.
func (t Target) Module(ctx context.Context, from component.Ref) (done Copied, err error) {
	var report component.CopyReport
	if t.Layout != nil {
		report, err = t.Layout.Add(ctx, from, t.How)
	} else {
		report, err = component.Copy(ctx, from, component.Ref{Registry: t.Registry, Name: from.Name, Version: from.Version}, t.How)
	}
	if err != nil {
		return done, err
	}
	done = Copied{Ref: report.Ref.String(), Digest: report.Digest, Changed: report.Changed, Images: report.Images}
	for _, image := range report.Images {
		done.Changed = done.Changed || image.Changed
	}
	return done, nil
}

// Image copies an image of a release into the registry.
func (t Target) Image(ctx context.Context, release *Release, image ReleaseImage) (Copied, error) {
	digest, changed, err := release.Put(ctx, image, *t.Registry, t.How)
	return Copied{Ref: t.ImageName(image, digest), Digest: digest, Changed: changed}, err
}

// ImageName returns the name of an image of a release in the registry, by tag and digest.
func (t Target) ImageName(image ReleaseImage, digest string) string {
	return path.Join(t.Registry.Host, strings.Trim(t.Registry.SubPath, "/"), image.Name) + ":" + image.Version + "@" + digest
}
