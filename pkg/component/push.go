package component

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/go-logr/logr/funcr"
	"github.com/open-component-model/ocm/pkg/blobaccess"
	"github.com/open-component-model/ocm/pkg/common"
	"github.com/open-component-model/ocm/pkg/contexts/credentials"
	"github.com/open-component-model/ocm/pkg/contexts/datacontext"
	"github.com/open-component-model/ocm/pkg/contexts/ocm"
	"github.com/open-component-model/ocm/pkg/contexts/ocm/accessmethods/ociartifact"
	"github.com/open-component-model/ocm/pkg/contexts/ocm/compdesc"
	metav1 "github.com/open-component-model/ocm/pkg/contexts/ocm/compdesc/meta/v1"
	"github.com/open-component-model/ocm/pkg/contexts/ocm/repositories/ocireg"
	ocmlog "github.com/open-component-model/ocm/pkg/logging"

	"github.com/kyma-project/lifecycle-manager/pkg/component/descriptor"
)

// Option changes how Push works.
type Option string

// Overwrite replaces a version that the registry already has with other content. It replaces component versions only: an
// image, or a version that is damaged, has to be deleted in the registry.
const Overwrite Option = "Overwrite"

// ConflictError refuses to change a version that others may already run.
type ConflictError struct {
	// Component is the version, as name:version.
	Component string
	// Digest is the digest of the manifest that the registry has.
	Digest string
	// Offered and Existing say what differs first, on both sides, with the digests when it is content.
	Offered, Existing string
}

// Error says what differs and what to do.
func (e *ConflictError) Error() string {
	return fmt.Sprintf("component %s is already published as %s with other content: "+
		"it has %s, this would have %s: choose a new version, or overwrite it",
		e.Component, e.Digest, e.Existing, e.Offered)
}

// Push publishes a component version and returns the digest of its manifest. Pushing the same content again changes nothing.
// Other content under a version that exists is refused with a *ConflictError, unless Overwrite is among the options.
//
// The OCM library knows no contexts, so a cancelled ctx ends a push between two layers, not inside one. What was uploaded
// by then is not a version yet: the tag comes last.
func Push(ctx context.Context, registry Registry, version Version, options ...Option) (string, error) {
	version, err := version.complete()
	if err != nil {
		return "", err
	}
	reader := registry.reader()
	there, err := reader.Get(ctx, version.Name, version.Version)
	switch {
	case err == nil:
		offered, existing := version.difference(there)
		if offered == existing {
			if version.Signer != nil && !version.Signer.signed(there) {
				return Sign(ctx, registry, version.Name, version.Version, version.Signer)
			}
			return there.Digest, nil
		}
		if !slices.Contains(options, Overwrite) {
			return "", &ConflictError{Component: version.id(), Digest: there.Digest, Offered: offered, Existing: existing}
		}
	case descriptor.ReasonOf(err) == descriptor.ReasonNotFound:
	case descriptor.ReasonOf(err) == descriptor.ReasonInvalid:
		return "", fmt.Errorf("push component %s: what has its tag must be deleted in the registry first: %w", version.id(), err)
	default:
		return "", fmt.Errorf("push component %s: %w", version.id(), err)
	}
	if err := upload(ctx, registry, version); err != nil {
		return "", fmt.Errorf("push component %s to %s: %w", version.id(), registry.Host, err)
	}
	return confirm(ctx, reader, version)
}

// confirm reads the version back, so that success means that readers get what was pushed.
func confirm(ctx context.Context, reader *descriptor.Reader, version Version) (string, error) {
	there, err := reader.Get(ctx, version.Name, version.Version)
	if err != nil {
		return "", fmt.Errorf("component %s was pushed and cannot be read back: %w", version.id(), err)
	}
	if offered, existing := version.difference(there); offered != existing {
		return "", fmt.Errorf("component %s was pushed with %s and has %s now: did somebody else push it at the same time?",
			version.id(), offered, existing)
	}
	return there.Digest, nil
}

// silence keeps the library from writing to the standard error of programs that have a log of their own. Nothing is lost:
// what goes wrong comes back as an error. (logr.Discard would do, but the library's logging cannot bear its missing sink.)
var silence = sync.OnceFunc(func() {
	ocmlog.Context().SetBaseLogger(funcr.New(func(string, string) {}, funcr.Options{}))
})

// upload writes the version with the OCM library.
func upload(ctx context.Context, registry Registry, version Version) error {
	return registry.within(func(repository ocm.Repository) (err error) {
		component, err := repository.LookupComponent(version.Name)
		if err != nil {
			return fmt.Errorf("open component: %w", err)
		}
		defer func() { err = errors.Join(err, component.Close()) }()
		return registry.add(ctx, component, version)
	})
}

// within calls do with the registry opened by the OCM library. Its context object is our own: the library's default one may carry the
// machine's configuration, and credentials set there would outlive this call.
func (r Registry) within(do func(ocm.Repository) error) (err error) {
	silence()
	library := ocm.New(datacontext.MODE_DEFAULTED)
	defer func() { err = errors.Join(err, library.Finalize()) }()

	var login []credentials.CredentialsSource
	if c := r.Credentials; c != nil {
		login = append(login, credentials.NewCredentials(c.properties()))
	}
	mapping := ocireg.ComponentNameMapping(r.Mapping)
	if mapping == "" {
		mapping = ocireg.OCIRegistryURLPathMapping
	}
	spec := ocireg.NewRepositorySpec(r.url(), ocireg.NewComponentRepositoryMeta(strings.Trim(r.SubPath, "/"), mapping))
	repository, err := library.RepositoryForSpec(spec, login...)
	if err != nil {
		return fmt.Errorf("open registry: %w", err)
	}
	defer func() { err = errors.Join(err, repository.Close()) }()

	return do(repository)
}

// add puts the resources into a new version of the component and tags it. Whether an older one may be replaced was decided
// before. The library starts from that older one, so its descriptor is emptied first: nothing of it may stay.
func (r Registry) add(ctx context.Context, component ocm.ComponentAccess, version Version) (err error) {
	draft, err := component.NewVersion(version.Version, true)
	if err != nil {
		return fmt.Errorf("draft version: %w", err)
	}
	defer func() { err = errors.Join(err, draft.Close()) }()

	*draft.GetDescriptor() = *compdesc.New(version.Name, version.Version)
	draft.GetDescriptor().Metadata.ConfiguredVersion = version.Schema
	draft.GetDescriptor().Provider.Name = metav1.ProviderName(version.Provider)
	for _, resource := range version.Resources {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := addResource(draft, version.Version, resource); err != nil {
			return fmt.Errorf("upload resource %s: %w", resource.Name, err)
		}
	}
	if version.Signer != nil {
		if err := r.sign(ctx, draft.GetDescriptor(), version.Signer); err != nil {
			return err
		}
	}
	text, err := compdesc.Encode(draft.GetDescriptor())
	if err != nil {
		return fmt.Errorf("write descriptor: %w", err)
	}
	if len(text) > descriptor.DefaultMaxDescriptor {
		return fmt.Errorf("its descriptor has %d bytes, readers accept %d: split the component", len(text), descriptor.DefaultMaxDescriptor)
	}
	if err := component.AddVersion(draft, true); err != nil {
		return fmt.Errorf("tag version: %w", err)
	}
	return nil
}

// addResource uploads content, or notes where an image lies.
func addResource(draft ocm.ComponentVersionAccess, version string, r Resource) error {
	relation := metav1.LocalRelation
	if r.Image != "" {
		relation = metav1.ExternalRelation
	}
	meta := ocm.NewResourceMeta(r.Name, r.Type, relation)
	meta.Version = version
	for _, name := range slices.Sorted(maps.Keys(r.Labels)) {
		if err := meta.Labels.Set(name, r.Labels[name], metav1.WithSigning()); err != nil {
			return fmt.Errorf("label %s: %w", name, err)
		}
	}
	if r.Image != "" {
		// Not by SetResource, which would ask the registry of the image.
		resources := &draft.GetDescriptor().Resources
		*resources = append(*resources, compdesc.Resource{ResourceMeta: *meta, Access: ociartifact.New(r.Image)})
		return nil
	}
	return draft.SetResourceBlob(meta, blobaccess.ForData(r.MediaType, r.Data), "", nil)
}

// properties are the login in the library's own names.
func (c *Credentials) properties() common.Properties {
	properties := common.Properties{}
	properties.SetNonEmptyValue(credentials.ATTR_USERNAME, c.Username)
	properties.SetNonEmptyValue(credentials.ATTR_PASSWORD, c.Password)
	properties.SetNonEmptyValue(credentials.ATTR_IDENTITY_TOKEN, c.IdentityToken)
	return properties
}
