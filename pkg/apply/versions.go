package apply

import (
	"context"
	"errors"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// ResourceInAnyVersion returns the resource of a kind in the requested version, or else in another one that the cluster serves: an
// object is the same in all of them. It returns *UnknownKindError when the cluster serves none.
func (c *Cluster) ResourceInAnyVersion(ctx context.Context, gvk schema.GroupVersionKind) (Resource, error) {
	resource, err := c.Resource(ctx, gvk)
	if Classify(err) != ClassKindUnknown {
		return resource, err
	}
	versions, asked := c.otherVersions(ctx, gvk.GroupKind(), gvk.Version)
	if asked != nil {
		return Resource{}, asked
	}
	for _, version := range versions {
		if resource, err = c.Resource(ctx, gvk.GroupKind().WithVersion(version)); Classify(err) != ClassKindUnknown {
			return resource, err
		}
	}
	return Resource{}, err
}

// otherVersions returns all versions except one in which the cluster serves a kind. An error means that they cannot be determined now.
func (c *Cluster) otherVersions(ctx context.Context, kind schema.GroupKind, but string) ([]string, error) {
	_, err := c.Resource(ctx, kind.WithVersion(but))
	unknown, isUnknown := errors.AsType[*UnknownKindError](err)
	var versions []string
	switch {
	case isUnknown && len(unknown.Served) > 0:
		versions = unknown.Served
	case c.Versions != nil:
		if versions, err = c.Versions(ctx, kind); err != nil {
			return nil, err
		}
	case !isUnknown && err != nil:
		return nil, err
	case !isUnknown: // the kind is known, but its recorded version does not respond
		return nil, &Error{Class: ClassKindUnknown, Message: "the cluster does not serve version " + but + " of its kind"}
	}
	return slices.DeleteFunc(slices.Clone(versions), func(version string) bool { return version == but }), nil
}
