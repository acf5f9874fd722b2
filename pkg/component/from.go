package component

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"regexp"
	"strings"

	"github.com/open-component-model/ocm/pkg/contexts/ocm/compdesc"
	metav1 "github.com/open-component-model/ocm/pkg/contexts/ocm/compdesc/meta/v1"
	"github.com/open-component-model/ocm/pkg/runtime"

	"github.com/kyma-project/lifecycle-manager/pkg/component/descriptor"
)

// maxResource is the largest resource, in bytes, that is taken over from an existing component.
const maxResource = 256 << 20

// From returns a Version that starts from an existing component or image:
//
//  1. A component (oci://host//name:version, or an archive): it takes over provider, labels, sources and resources, but no signatures.
//  2. An image (oci://host/path:tag, or without the scheme): it becomes an image resource with its current digest.
//
// Name and version of the result are those of the component, or empty; the caller sets them and adds the rest.
func From(ctx context.Context, text string, access Access) (Version, error) {
	if isImage(text) {
		return fromImage(ctx, text, access)
	}
	ref, err := ParseRef(text, access)
	if err != nil {
		return Version{}, err
	}
	opened, err := Open(ctx, ref)
	if err != nil {
		return Version{}, err
	}
	version, err := opened.version(ctx)
	if err := errors.Join(err, opened.Close()); err != nil {
		return Version{}, fmt.Errorf("start from %s: %w", opened.Ref, err)
	}
	version.Access = access
	return version, nil
}

// isImage distinguishes image references from component references, which have two slashes before the name, and from files.
func isImage(text string) bool {
	for _, scheme := range []string{schemeOCI, schemeHTTPS, schemeHTTP} {
		if rest, ok := strings.CutPrefix(text, scheme); ok {
			return !strings.Contains(rest, "//")
		}
	}
	if strings.Contains(text, "//") {
		return false
	}
	_, err := os.Stat(text)
	return err != nil
}

// noName matches what a resource name must not contain.
var noName = regexp.MustCompile(`[^-_+a-z0-9]+`)

func fromImage(ctx context.Context, text string, access Access) (Version, error) {
	text, plainHTTP := strings.CutPrefix(text, schemeHTTP)
	image, err := parseImage(strings.TrimPrefix(strings.TrimPrefix(text, schemeOCI), schemeHTTPS))
	if err != nil {
		return Version{}, fmt.Errorf("start from image: %w", err)
	}
	if plainHTTP {
		access = access.withPlain(image.Registry)
	}
	found, err := access.session().image(ctx, nil, image)
	if err != nil {
		return Version{}, fmt.Errorf("start from image: %w", err)
	}
	name := strings.Trim(noName.ReplaceAllString(path.Base(image.Repository), "-"), "-_+")
	if !resourceNamePattern.MatchString(name) {
		name = "image"
	}
	resource := Resource{Name: name, Type: typeImage, Image: image.String(), ImageDigest: found.Digest.String()}
	if descriptor.CheckIdentity("example.com/any", image.Tag) == nil {
		resource.Version = image.Tag
	}
	return Version{Resources: []Resource{resource}, Access: access}, nil
}

// version returns the component version in a form that can be published again.
func (o *Opened) version(ctx context.Context) (Version, error) {
	more, err := readMore(o.Text)
	if err != nil {
		return Version{}, err
	}
	version := Version{
		Name: o.Component.Name, Version: o.Component.Version, Provider: o.Component.Provider, Schema: o.Component.Schema,
		ProviderLabels: more.provider, MoreLabels: more.labels, Sources: more.sources,
	}
	for i := range o.Component.Resources {
		resource, err := o.resource(ctx, &o.Component.Resources[i], more.accesses[i], more.resources[i])
		if err != nil {
			return Version{}, fmt.Errorf("resource %s: %w", o.Component.Resources[i].Name, err)
		}
		version.Resources = append(version.Resources, resource)
	}
	return version, nil
}

func (o *Opened) resource(ctx context.Context, from *descriptor.Resource, access []byte, labels []descriptor.Label) (Resource, error) {
	made := Resource{Name: from.Name, Type: from.Type, Version: from.Version, Relation: from.Relation, MoreLabels: labels}
	if made.Version == o.Component.Version {
		made.Version = "" // which is that of the component, whatever it becomes
	}
	switch {
	case from.Access.LocalReference != "":
		blob, mediaType, err := o.Blob(ctx, from.Name)
		if err != nil {
			return made, err
		}
		made.MediaType = mediaType
		made.Data, err = io.ReadAll(io.LimitReader(blob, maxResource+1))
		if err == nil && len(made.Data) > maxResource {
			err = fmt.Errorf("it is larger than the accepted %d bytes", maxResource)
		}
		return made, errors.Join(err, blob.Close())
	case from.Access.ImageReference != "":
		made.Image = from.Access.ImageReference
		if digest, ok := from.SignedDigest(); ok && from.Digest.NormalisationAlgorithm == descriptor.DigestArtifact {
			made.ImageDigest = digest
		}
	default:
		made.Access = access
	}
	return made, nil
}

// more is what descriptor.Component does not contain.
type more struct {
	provider map[string]string
	sources  []Source
	accesses [][]byte
	// labels are those of the component, resources those of each resource.
	labels    []descriptor.Label
	resources [][]descriptor.Label
}

// copied converts labels of the OCM library.
func copied(labels metav1.Labels) (made []descriptor.Label) {
	for _, label := range labels {
		made = append(made, descriptor.Label{Name: label.Name, Value: label.Value, Version: label.Version, Signing: label.Signing})
	}
	return made
}

// readMore reads it with the OCM library, and refuses what could not be written again.
func readMore(text []byte) (found more, err error) {
	document, err := compdesc.Decode(text)
	if err != nil {
		return found, fmt.Errorf("read descriptor: %w", err)
	}
	if len(document.References) > 0 {
		return found, fmt.Errorf("it refers to %d other components, which is not taken over: build it again", len(document.References))
	}
	found.labels = copied(document.Labels)
	for _, label := range document.Provider.Labels {
		var value string
		if err := json.Unmarshal(label.Value, &value); err != nil {
			return found, fmt.Errorf("label %s of its provider is no text", label.Name)
		}
		if found.provider == nil {
			found.provider = map[string]string{}
		}
		found.provider[label.Name] = value
	}
	for _, source := range document.Sources {
		access, err := runtime.ToUnstructuredTypedObject(source.Access)
		if err != nil {
			return found, fmt.Errorf("source %s: %w", source.Name, err)
		}
		made := Source{Name: source.Name, Type: source.Type, Version: source.Version}
		made.RepoURL, _ = access.Object["repoUrl"].(string)
		made.Commit, _ = access.Object["commit"].(string)
		if made.RepoURL == "" || made.Commit == "" {
			return found, fmt.Errorf("source %s has access type %s, which is not taken over", source.Name, access.GetType())
		}
		made.MoreLabels = copied(source.Labels)
		found.sources = append(found.sources, made)
	}
	for _, resource := range document.Resources {
		if len(resource.ExtraIdentity) > 0 {
			return found, fmt.Errorf("resource %s has an extra identity, which is not taken over", resource.Name)
		}
		access, err := json.Marshal(resource.Access)
		if err != nil {
			return found, fmt.Errorf("resource %s: %w", resource.Name, err)
		}
		found.accesses, found.resources = append(found.accesses, access), append(found.resources, copied(resource.Labels))
	}
	return found, nil
}
